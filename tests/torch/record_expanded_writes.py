#!/usr/bin/env python3
"""Records which operators PyTorch 1.13 lets write to a tensor that shows an element several times, and what they leave:

    python3 record_expanded_writes.py > ../data/expanded_writes.txt

A line is a dtype, an expression over x, three elements 1, 0, 1 expanded to [3, 3], and y, of sizes [3, 3]; then
"refused", or the elements of x afterwards. The expressions are made from the schemas of all operators in place that
take the arguments as far as a plain x is concerned."""
import itertools
import os
import sys
import warnings

import torch

DTYPES = {"float32": torch.float32, "int64": torch.int64, "bool": torch.bool}
HEADER = "# Writes to expanded tensors, recorded by tests/torch/record_expanded_writes.py, which says what the lines are."
# what is no write to elements, or none for some dtypes, draws numbers, or is PyTorch's own
LEFT_OUT = ("set_", "requires_grad_", "detach_", "conj_physical_", "nan_to_num_", "_sobol", "random_", "_impl_")
SIMPLE = {"number": ["1"], "Scalar": ["1"], "float": ["0.5"], "bool": ["False"], "List[int]": ["[3, 3]"],
          "str": ['"add"', '"trunc"'], "List[Optional[Tensor]]": ["[torch.tensor([0, 2])]", "[y > 0]"],
          "List[Tensor]": ["[torch.tensor([0, 2])]", "[y > 0]"]}
TENSORS = {"index": ["torch.tensor([0, 2])", "torch.zeros([3, 3], dtype=torch.int64)"], "mask": ["y > 0"],
           "indices": ["torch.tensor([0, 2])"], "value": ["torch.ones([])"], "vec": ["y[0]"], "vec1": ["y[0]"],
           "vec2": ["y[0]"], "source": ["y", "y[:2]"], "src": ["y"], "values": ["torch.ones_like(y[0, 0])"]}


def texts(argument):
    kind = str(argument.type)
    if kind in ("Tensor", "Optional[Tensor]"):
        return TENSORS.get(argument.name, ["y"])
    if kind == "int":
        return ["0" if argument.name.startswith("dim") else "1"]
    return SIMPLE.get(kind)


def run(dtype, expression, expanded):
    x = torch.tensor([1, 0, 1]).to(DTYPES[dtype]).expand(3, 3)
    x = x if expanded else x.clone()
    y = torch.tensor([[1, 1, 1], [0, 1, 1], [1, 1, 0]]).to(DTYPES[dtype])
    eval(expression, {"torch": torch, "x": x, "y": y})
    return x


def outcome(dtype, expression):
    try:
        run(dtype, expression, False)
    except Exception:
        return ""
    try:
        x = run(dtype, expression, True)
    except Exception as error:
        return "refused" if "more than one element" in str(error) else ""
    return " ".join("%g" % v for v in x.flatten().tolist())


def in_a_child(*arguments):
    """Some operators crash with these arguments."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.write(writable, outcome(*arguments).encode())
        os._exit(0)
    os.close(writable)
    text = os.read(readable, 1 << 16).decode()
    os.close(readable)
    return "" if os.waitpid(child, 0)[1] else text


def expressions():
    for schema in sorted(torch._C._jit_get_all_schemas(), key=lambda s: (s.name, s.overload_name)):
        name = schema.name[6:]
        first = schema.arguments[0] if schema.arguments else None
        if not schema.name.startswith("aten::") or not name.endswith("_") or name.endswith("__"):
            continue
        if str(first.type) != "Tensor" or not first.alias_info or any(part in name for part in LEFT_OUT):
            continue
        needed = [a for a in schema.arguments[1:] if not a.has_default_value()]
        choices = [texts(a) for a in needed]
        if None in choices:
            continue
        for choice in itertools.product(*choices):
            words = [(a.name + "=" if a.kwarg_only else "") + text for a, text in zip(needed, choice)]
            if hasattr(torch.Tensor, name):
                yield "x.%s(%s)" % (name, ", ".join(words))
            elif hasattr(torch, name):
                yield "torch.%s(%s)" % (name, ", ".join(["x"] + words))


def main():
    warnings.filterwarnings("ignore")
    print(HEADER)
    done = set()
    for expression in expressions():
        for dtype in DTYPES:
            text = "" if (dtype, expression) in done else in_a_child(dtype, expression)
            done.add((dtype, expression))
            if text:
                print("%s\t%s\t%s" % (dtype, expression, text))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
