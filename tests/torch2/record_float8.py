#!/usr/bin/env python3
"""Records what PyTorch 2.x computes with float8.

usage: record_float8.py NAME    writes NAME.pt, a module with a method for each, and NAME.io.pt
"""
import sys, warnings

import torch

warnings.filterwarnings("ignore")
torch.manual_seed(6)
a, b, c = torch.randn(16, 32), torch.randn(32, 16), torch.randn(16, 16)
row, column, one, two = torch.rand(16, 1), torch.rand(1, 16), torch.tensor(0.3), torch.tensor(1.7)
odd = torch.tensor([1.0, float("inf"), float("-inf"), float("nan"), 0.0])
SCALED = "x: Tensor, y: Tensor, s: Tensor, t: Tensor"
CASES = {}
for kind in "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e8m0fnu":
    dtype = getattr(torch, kind)
    x, y, z = a.to(dtype), b.to(dtype), c.to(dtype)
    CASES.update({
        kind + "_mm": ("x: Tensor, y: Tensor", "x @ y", (x, y)),
        kind + "_mm_transposed": ("x: Tensor, y: Tensor", "torch.mm(x, y.t())", (x, y.t().contiguous())),
        kind + "_addmm": ("x: Tensor, y: Tensor, z: Tensor", "torch.addmm(z, x, y, beta=0.5, alpha=2)", (x, y, z)),
        kind + "_linear": ("x: Tensor, y: Tensor", "torch.nn.functional.linear(x, y)", (x, x[:5])),
        kind + "_bmm": ("x: Tensor, y: Tensor", "torch.bmm(x, y)", (x[None], y[None])),
        kind + "_isinf": ("x: Tensor", "torch.isinf(x)", (odd.to(dtype),)),
    })
    if kind != "float8_e8m0fnu":
        CASES[kind + "_isfinite"] = ("x: Tensor", "torch.isfinite(x)", (odd.to(dtype),))
    if not kind.endswith("nuz") and kind != "float8_e8m0fnu":
        for out in "bfloat16", "float16", "float32":
            CASES[kind + "_scaled_" + out] = (
                SCALED, "torch._scaled_mm(x, y, s, t, out_dtype=torch.%s)" % out, (x, y, one, two))
        CASES[kind + "_scaled_rows"] = (SCALED, "torch._scaled_mm(x, y, s, t, out_dtype=torch.float32)", (x, y, row, column))
        CASES[kind + "_scaled_bias"] = (
            SCALED + ", u: Tensor", "torch._scaled_mm(x, y, s, t, u, out_dtype=torch.float32)", (x, y, one, two, c[0].clone()))
        CASES[kind + "_scaled_sizes"] = (SCALED, "torch._scaled_mm(x, y, s, t, out_dtype=torch.float32)", (x, y[:30], one, two))


def main():
    module = type("Float8", (torch.jit.ScriptModule,), {})()
    calls, raising = [], []
    for name, (declaration, expression, given) in CASES.items():
        module.define("def %s(self, %s):\n    return %s\n" % (name, declaration, expression))
        call = {"method": name, "args": tuple(t.clone() for t in given), "kwargs": {}}
        try:
            call["output"] = getattr(module, name)(*[t.clone() for t in given])
            calls.append(call)
        except Exception as error:
            call["raises"] = [line for line in str(error).splitlines() if line.strip()][-1].split("Error: ", 1)[-1]
            raising.append(call)
    torch.jit.save(module, sys.argv[1] + ".pt")
    torch.save({"wick_io": 1, "entry": calls[0]["method"], "calls": calls, "raising_calls": raising}, sys.argv[1] + ".io.pt")
    print("%d results and %d refusals of PyTorch %s" % (len(calls), len(raising), torch.__version__))


main()
