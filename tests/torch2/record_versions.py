#!/usr/bin/env python3
"""Records operators that differ between PyTorch 1.13 and 2.x, as the PyTorch that runs this has them.

usage: record_versions.py NAME    under either; writes NAME.pt, a module with a method for each, and NAME.io.pt

The archive says which version it is of, so `wick check` of both shows that each gets its own behaviour.
"""
import sys, warnings

import torch

warnings.filterwarnings("ignore")
torch.manual_seed(3)


def numbers(*sizes, dtype=torch.float32):
    return (torch.arange(float(torch.Size(sizes).numel())).mul(0.7).sin() * 3).reshape(sizes).to(dtype)


x, b, z = numbers(4, 6), numbers(5, 40, dtype=torch.bfloat16), numbers(2, 3, dtype=torch.complex64) * (1 + 2j)
i, weights = (numbers(2, 1, 4, 4) * 10).to(torch.int64), numbers(40, 7, dtype=torch.bfloat16)
few, channels = b[:2, :30].reshape(2, 6, 5), torch.tensor([1.5, -0.5, 2, 1, 0.25, -1])
images, volumes = b[:, :32].reshape(2, 5, 4, 4), b[:, :36].reshape(1, 5, 3, 3, 4)
reflected, tau = torch.geqrf(numbers(4, 3) + torch.eye(4, 3))

# name: (declaration, expression, arguments, whether gradients are recorded)
TENSORS = "x: Tensor, y: Tensor"
CASES = {
    "mm": (TENSORS, "torch.mm(x, y)", (b, weights), False),
    "bmm": (TENSORS, "torch.bmm(x, y)", (few, few.transpose(1, 2).contiguous()), False),
    "addmm": (TENSORS, "torch.addmm(y[0], x, y, beta=0.5, alpha=1.7)", (b, weights), False),
    "baddbmm": (TENSORS, "torch.baddbmm(x[:, :, :1], x, y, alpha=0.3)", (few, few.transpose(1, 2).contiguous()), False),
    "mv": (TENSORS, "torch.mv(x, y)", (b, weights[:, 0].contiguous()), False),
    "dot": (TENSORS, "torch.dot(x, y)", (b[0], b[1]), False),
    "matmul_in_loop": (TENSORS, "torch.stack([torch.matmul(x, y) for k in range(2)])", (b, weights), False),
    "bilinear": ("x: Tensor", "torch.nn.functional.interpolate(x, size=[7, 9], mode='bilinear', align_corners=False)",
                 (images,), False),
    "linear": ("x: Tensor", "torch.nn.functional.interpolate(x, size=[19], mode='linear', align_corners=False)",
               (few,), False),
    "bicubic": ("x: Tensor", "torch.nn.functional.interpolate(x, size=[7, 9], mode='bicubic', align_corners=False)",
                (images,), False),
    "trilinear": ("x: Tensor", "torch.nn.functional.interpolate(x, size=[4, 5, 7], mode='trilinear', align_corners=False)",
                  (volumes,), False),
    "average_of_volumes": ("x: Tensor", "torch.nn.functional.adaptive_avg_pool3d(x, [2, 2, 3])", (volumes,), False),
    "histc": ("x: Tensor", "torch.histc(x, 37)", (numbers(60, 50),), False),
    "histc_bfloat16": ("x: Tensor", "torch.histc(x, 11)", (b,), False),
    "gather_into": (TENSORS, "torch.gather(x, 0, torch.tensor([[0]]), out=y)", (x, x.double()), False),
    "complex_into": (TENSORS, "torch.complex(x, x, out=y)", (x, z), False),
    "log_softmax": ("x: Tensor", "torch.log_softmax(x, -1)", (b,), False),
    "layer_norm": ("x: Tensor", "torch.layer_norm(x, [40])", (b,), False),
    "group_norm": (TENSORS, "torch.group_norm(x, 3, y, y)", (few, channels.to(torch.bfloat16)), False),
    "softmax_backward": (TENSORS, "torch._softmax_backward_data(x, y, 1, torch.bfloat16)",
                         (b, torch.softmax(b.float(), 1).to(torch.bfloat16)), False),
    "logits": (TENSORS, "torch.binary_cross_entropy_with_logits(x, y, None, None, 0)", (b, b.sigmoid()), False),
    "logsumexp": ("z: Tensor", "torch.logsumexp(z, [1])", (z,), False),
    "logaddexp": ("z: Tensor", "torch.logaddexp(z, z.flip([0]))", (z,), False),
    "logcumsumexp": ("z: Tensor", "torch.logcumsumexp(z, 1)", (z,), False),
    "max_pool2d": ("i: Tensor", "torch.max_pool2d(i, [2, 2], [1, 1], [1, 1])", (i,), False),
    "max_pool3d": ("i: Tensor", "torch.max_pool3d(i, [1, 2, 2])", (i.to(torch.int8),), False),
    "max_pool2d_big": ("i: Tensor", "torch.max_pool2d(i, [2, 2])", (i + (1 << 60),), False),
    "max_pool1d": ("i: Tensor", "torch.max_pool1d(i, [2])", (i[0],), False),
    "max_pool2d_bool": ("i: Tensor", "torch.max_pool2d(i, [2, 2])", (i > 0,), False),
    "unfold": ("i: Tensor", "torch.nn.functional.unfold(i, [2, 2])", (i > 0,), False),
    "fold": ("i: Tensor", "torch.nn.functional.fold(i, [3, 3], [2, 2])", (i[0] > 0,), False),
    "nextafter": (TENSORS, "torch.nextafter(x, y)", (x, torch.where(x > 1, x, -x)), True),
    "as_strided_scatter": (TENSORS, "torch.as_strided_scatter(x, y, [3, 3], [6, 2], 1) * x.sin()", (x, x[:3, :3]), True),
    "group_norm_parts": (TENSORS, "torch.native_group_norm(x, y, y, 2, 6, 5, 2, 0.001)",
                         (few.float(), channels), True),
    "ormqr": ("x: Tensor, y: Tensor, a: Tensor", "torch.ormqr(x, y, a)", (reflected, tau, numbers(4, 2)), True),
    "ormqr_right": ("x: Tensor, y: Tensor, a: Tensor", "torch.ormqr(x, y, a, left=False, transpose=True)",
                    (reflected, tau, numbers(2, 4)), True),
    "ormqr_left": ("x: Tensor, y: Tensor, a: Tensor", "torch.ormqr(x, y, a, transpose=True)",
                   (reflected, tau, numbers(4, 2)), True),
    "index_add": (TENSORS, "torch.index_add(x, 0, torch.tensor([0, 2]), y)", (x, x[:2, :1]), False),
    "diff": ("x: Tensor", "torch.diff(x, -1)", (x,), False),
    "no_channels": ("x: Tensor", "torch.group_norm(x, 1)", (x[:, :0],), False),
    "no_pixels": ("x: Tensor", "torch.group_norm(x, 1)", (few[:, :, :0].float(),), False),
    "masked_scatter": (TENSORS, "torch.masked_scatter(x, y, x)", (x, (x > 0).to(torch.uint8)), False),
    "masked_fill": (TENSORS, "torch.masked_fill(x, y, 1.)", (x, (x > 0).to(torch.uint8)), False),
    "masked_select": (TENSORS, "torch.masked_select(x, y)", (x, (x > 0).to(torch.uint8)), False),
    "diag": ("x: Tensor", "torch.diag(x)", (x[0, 0],), False),
    "diag_far": ("x: Tensor", "torch.diag(x, 9)", (x,), False),
    "multi_margin_loss": (TENSORS, "torch.nn.functional.multi_margin_loss(x, y)", (x, torch.tensor([0, 1, 2])), False),
    "prelu": (TENSORS, "torch.prelu(x, y)", (x, numbers(6, 1)), False),
}


def say(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].split("Error: ", 1)[-1]


def record(module, name, given, calls, raising):
    call = {"method": name, "args": tuple(t.clone() for t in given), "kwargs": {}}
    try:
        call["output"] = getattr(module, name)(*[t.clone() for t in given])
        calls.append(call)
    except Exception as error:
        call["raises"] = say(error)
        raising.append(call)
    return call.get("output")


def slope_text(name, count, output):
    """A method that gives the gradients of `name`'s arguments, from weights for the first result."""
    inputs = ["p%d" % k for k in range(count)]
    lines = ["def %s_slope(self, %s, g: Tensor):" % (name, ", ".join(p + ": Tensor" for p in inputs))]
    lines += ["%s = %s.detach().requires_grad_(True)" % (p, p) for p in inputs]
    lines += ["r = self.%s(%s)" % (name, ", ".join(inputs))]
    if torch.is_tensor(output):
        lines += ["(r * g).sum().backward()"]
    else:
        lines += ["((r[0] * g).sum() + r[1].sin().sum() + r[2].cos().sum()).backward()"]
    lines += ["return [%s]" % ", ".join("%s.grad" % p for p in inputs)]
    return "\n    ".join(lines) + "\n"


def main():
    module = type("Versions", (torch.jit.ScriptModule,), {})()
    for name, (declaration, expression, _, _) in CASES.items():
        module.define("def %s(self, %s):\n    return %s\n" % (name, declaration, expression))
    calls, raising, is_first = [], [], torch.__version__ < "2"
    for name, (_, _, given, differentiates) in CASES.items():
        if name == "average_of_volumes" and is_first:
            continue  # wick computes half precision where 1.13 has no loop for it
        output = record(module, name, given, calls, raising)
        # 1.13's gradient of as_strided_scatter is memory that nobody wrote.
        if differentiates and not (name == "as_strided_scatter" and is_first):
            module.define(slope_text(name, len(given), output))
            first = output if torch.is_tensor(output) else output[0]
            record(module, name + "_slope", given + (numbers(*first.shape),), calls, raising)
    torch.jit.save(module, sys.argv[1] + ".pt")
    torch.save({"wick_io": 1, "entry": "mm", "calls": calls, "raising_calls": raising}, sys.argv[1] + ".io.pt")
    print("%d results and %d refusals of PyTorch %s" % (len(calls), len(raising), torch.__version__))


main()
