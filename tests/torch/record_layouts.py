"""Records tests/data/layouts.txt anew with PyTorch: python3 tests/torch/record_layouts.py tests/data/layouts.txt

Lines "@name sizes strides" are inputs, lines "34: expression" are expressions in y and say of which numbers of dimensions y
may be; for "~34: expression" it is the gradient by y whose strides are looked at. Below an expression stand the inputs for which PyTorch has a result, each with the strides of all tensors in it. Add
inputs and expressions and record; what stands indented is written anew. One thread: PyTorch chooses its convolutions by that.
"""
import sys

import torch


def strides_of(value):
    if isinstance(value, torch.Tensor):
        return [",".join(map(str, value.stride())) or "-"]
    return [text for item in value for text in strides_of(item)] if isinstance(value, (list, tuple)) else []


def read(text):
    return [int(number) for number in text.split(",")]


def tensor_of(sizes, strides):
    extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)) if 0 not in sizes else 0
    values = (torch.arange(extent) % 7 - 2.75).to(torch.float32)
    return values.as_strided(sizes, strides)


def source_of(expression, is_gradient):
    if not is_gradient:
        return f"def f(y: Tensor):\n    return {expression}\n"
    return (f"def f(y: Tensor):\n    y = y.detach().requires_grad_()\n    r = {expression}\n"
            "    return torch.autograd.grad([(r * r.detach()).sum()], [y])\n")


def main(path):
    torch.set_num_threads(1)
    lines, inputs = [], {}
    for line in open(path).read().splitlines():
        if line.startswith(" "):
            continue
        lines.append(line)
        if line.startswith("@"):
            name, sizes, strides = line[1:].split()
            inputs[name] = (read(sizes), read(strides))
        elif line[:1].isdigit() or line[:1] == "~":
            dims, expression = line.split(": ", 1)
            function = torch.jit.CompilationUnit(source_of(expression, line[:1] == "~")).f
            for name, (sizes, strides) in inputs.items():
                if str(len(sizes)) not in dims:
                    continue
                try:
                    result = function(tensor_of(sizes, strides))
                except (RuntimeError, torch.jit.Error):
                    continue
                lines.append(f"  {name} {' '.join(strides_of(result))}")
    open(path, "w").write("\n".join(lines) + "\n")


main(sys.argv[1])
