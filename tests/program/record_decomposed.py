#!/usr/bin/env python3
"""Records decomposed.io.pt and backward.io.pt of this folder under PyTorch 2.x: operators of exported programs."""

import pathlib

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401, registers quantized_decomposed

HERE = pathlib.Path(__file__).parent
draw = torch.Generator().manual_seed(1)


def begin(name):
    global module, calls, raising
    module, calls, raising = torch.jit.CompilationUnit((HERE / (name + ".py")).read_text()), [], []


def save(name):
    torch.save({"wick_io": 1, "entry": name, "calls": calls, "raising_calls": raising}, HERE / (name + ".io.pt"))


def rand(*sizes):
    return torch.rand(*sizes, generator=draw) * 2 - 1


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return type(value)(copied(v) for v in value) if isinstance(value, (list, tuple)) else value


def call(method, *args):
    given = copied(args)
    output = copied(getattr(module, method)(*given))
    recorded = {"method": method, "args": copied(args), "kwargs": {}, "output": output}
    if any(not torch.equal(a, b) for a, b in zip(given, args) if isinstance(a, torch.Tensor)):
        recorded["args_after"] = given
    calls.append(recorded)


def refused(method, *args, by=None):
    try:
        (by or getattr(module, method))(*copied(args))
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        said = next((line for line in lines if "AssertionError" in line), lines[-1]).split("RuntimeError: ")[-1]
        raising.append({"method": method, "args": copied(args), "kwargs": {}, "raises": said})
    else:
        raise SystemExit(method + " took what it should refuse")


begin("decomposed")
x = rand(3, 4, 5) * 6
for dtype, least, most in (
    (torch.int8, -128, 127),
    (torch.uint8, 0, 200),
    (torch.int16, -30, 30),
    (torch.int32, -(2**31), 2**31 - 1),
):
    call("per_tensor", x, dtype, least, most)
call("per_tensor", x.half(), torch.int8, -127, 127)
call("per_tensor", x.bfloat16(), torch.int8, -127, 127)
call("per_tensor", torch.tensor([0.0155, 0.0465, -0.0155, 0.0775]), torch.int8, -128, 127)  # halves
refused("per_tensor", x.double(), torch.int8, -128, 127)
refused("per_tensor", x, torch.int8, -129, 127)
refused("per_tensor", x, torch.uint8, 0, 256)
for axis in (0, 1, 2):
    n = x.size(axis)
    call("per_channel", x, rand(n).abs() * 0.1 + 0.01, torch.arange(n) - 1, axis)
    call("fake", x, rand(n).abs() * 0.1 + 0.01, (torch.arange(n) - 1).int(), axis)
call("per_channel", x, rand(5).double().abs() + 0.01, torch.zeros(5, dtype=torch.int32), -1)
call("per_channel", x.transpose(0, 2), rand(4).abs() + 0.01, torch.zeros(4), 1)
refused("per_channel", x, rand(3).abs(), torch.zeros(3), 3)
for one in (x, x.abs() + 1, -x.abs(), x * 0, x.half(), x.bfloat16()):
    call("chosen", one, torch.int8)
call("chosen", x, torch.uint8)
refused("chosen", x.double(), torch.int8)
for one in (x, x[0].abs() + 1, x[0, 0] * 0, x.bfloat16()):
    call("per_token", one)
for size in (2, 3, 6):
    call(
        "per_group",
        rand(4, 6),
        rand(4, 6 // size).abs() * 0.2 + 0.01,
        torch.arange(24 // size).view(4, -1) % 3,
        size,
    )
call("per_group", rand(4, 6), rand(4, 1).abs() + 0.01, torch.zeros(4, 1), 32)
refused("per_group", rand(4, 6), rand(4, 1), torch.zeros(4, 1), 4)
refused("per_group", rand(4, 6), rand(4, 1), torch.zeros(4, 1), 1)
call("batch_norms", rand(3, 4, 5), rand(4), rand(4), rand(4), rand(4).abs())
call("batch_norms", rand(3, 4), None, None, rand(4), rand(4).abs())
for mode in (0, 1, 2):
    call("bag", rand(6, 3), torch.tensor([0, 5, 2, 2, 1]), torch.tensor([0, 2]), mode)
i, j = torch.tensor([[0], [3], [-1]]), torch.tensor([[9, 1, -2, 0]])
call("masked_index", rand(4, 3), i.expand(3, 4), j.expand(3, 4), (i < 4) & (j < 3))
call("others", rand(3, 5), rand(3, 5), rand(3, 5, 5), rand(3, 3))
call("int8_product", rand(3, 8), torch.randint(-9, 9, (4, 8), dtype=torch.int8, generator=draw), rand(4))
call("spaces", torch.tensor(1), torch.tensor(2.5), 4)
call("spaces", torch.tensor(1.0, dtype=torch.float64), torch.tensor(-2), 1)
refused("spaces", torch.tensor([1]), torch.tensor(2), 3)
refused("spaces", torch.tensor(1), torch.tensor([2]), 3)
call("holds", torch.tensor(2.0))
refused("holds", torch.tensor(0), by=torch.ops.aten._assert_async)  # scripted, PyTorch leaves it out
save("decomposed")

begin("backward")
call("layer_norm", rand(2, 3, 4), rand(2, 3, 4), [4], rand(4), rand(4))
call("layer_norm", rand(2, 3, 4), rand(2, 3, 4), [3, 4], None, None)
call("layer_norm", rand(3, 4), rand(3, 4), [3, 4], rand(3, 4), rand(3, 4))
call("group_norm", rand(2, 4, 3, 2), rand(2, 4, 3, 2), rand(4), 2)
call("group_norm", rand(2, 4, 3), rand(2, 4, 3), None, 4)
call("max_pool", rand(2, 3, 3, 4), rand(2, 3, 6, 7))
call("max_pool", rand(3, 3, 4), rand(3, 6, 7))
call("adaptive_max_pool", rand(2, 3, 2, 3), rand(2, 3, 6, 7))
for reduction in (0, 1, 2):
    share = rand(4) if reduction == 0 else rand(1)[0]
    call("nll", share, rand(4, 5), torch.tensor([0, 2, 4, 1]), None, reduction)
    call("nll", share, rand(4, 5), torch.tensor([0, 2, 4, 1]), rand(5).abs(), reduction)
    call("losses", rand(3, 4) if reduction == 0 else rand(1)[0], rand(3, 4) * 2, rand(3, 4), reduction)
call("gates", rand(3, 2), rand(3, 4), rand(1, 4), 1)
call("gates", rand(2, 3), rand(4, 3), rand(1, 3), -2)
call("others", rand(4, 3), rand(3, 4), torch.tensor([0, 1, 4, 4]), rand(3, 4) > 0)
call("weight_norm", rand(3, 4, 2), rand(3, 4, 2), rand(3, 1, 1), 0)
call("weight_norm", rand(3, 4, 2), rand(3, 4, 2), rand(1, 1, 2), 2)
for causal, mask, scale in (
    (False, None, None),
    (True, None, 0.3),
    (False, rand(5, 6), None),
    (False, rand(2, 1, 5, 6), None),
):
    keys = 5 if causal else 6
    call(
        "attention",
        rand(2, 3, 5, 8),
        rand(2, 3, 5, 8),
        rand(2, 3, keys, 8),
        rand(2, 3, keys, 8),
        causal,
        mask,
        scale,
    )
save("backward")
