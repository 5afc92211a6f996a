#!/usr/bin/env python3
"""Records operators of PyTorch 2.x over lists of tensors, products with packed integers, attention of groups of heads
and numbers quantized as exported programs do it.

usage: record_lists.py NAME    under PyTorch 2.x; writes NAME.pt, a module with a method for each, and NAME.io.pt
"""
import sys, warnings

import torch
import torch.ao.quantization.fx._decomposed  # registers operators

warnings.filterwarnings("ignore")
torch.manual_seed(4)
lists = [torch.randn(2, 3), torch.arange(4.0), torch.tensor(2.5)]
others = [torch.randn(2, 3), torch.ones(4), torch.tensor(-1.0)]
squares, halves = [torch.randn(3, 3), torch.randn(2, 4)], [torch.randn(3, 2), torch.randn(4, 1)]
# How they are packed depends on the processor: the results of products do not.
integers = torch.randint(0, 16, (80, 64), dtype=torch.int32)
x = torch.randn(5, 64)
scales = torch.randn(2, 80, 2)
bytes_ = torch.randint(-128, 127, (7, 64), dtype=torch.int8)

LISTS, BOTH, PRODUCT = "a: List[Tensor]", "a: List[Tensor], b: List[Tensor]", "x: Tensor, w: Tensor, s: Tensor"
CASES = {
    "add_tensor": (LISTS + ", t: Tensor", "torch._foreach_add(a, t, alpha=3)", (lists, torch.tensor(2.0))),
    "add_vector": (LISTS + ", t: Tensor", "torch._foreach_add(a, t)", (lists, torch.ones(2))),
    "addcmul_tensor": (BOTH + ", t: Tensor", "torch._foreach_addcmul(a, b, a, t)", (lists, others, torch.tensor([1.0, 2, 3]))),
    "addcdiv_tensor": (BOTH + ", t: Tensor", "torch._foreach_addcdiv(a, b, b, t)", (lists, others, torch.tensor([1.0, 2, 3]))),
    "addcmul_number": (BOTH + ", t: Tensor", "torch._foreach_addcmul(a, b, a, t)", (lists, others, torch.tensor(1.0))),
    "addcmul_few": (BOTH + ", t: Tensor", "torch._foreach_addcmul(a, b, a, t)", (lists, others, torch.tensor([1.0]))),
    "clone": (LISTS, "torch._foreach_clone(a)", (lists,)),
    "copy": (BOTH, "torch._foreach_copy_(a, b)", (lists, others)),
    "copy_few": (BOTH, "torch._foreach_copy_(a, b)", (lists, others[:2])),
    "max": (LISTS, "torch._foreach_max(a)", (lists,)),
    "max_empty": (LISTS, "torch._foreach_max(a)", ([torch.zeros(0)],)),
    "maximum": (LISTS, "torch._foreach_maximum(a, 1)", (lists,)),
    "minimum": (LISTS, "torch._foreach_minimum(a, 1.5)", (lists,)),
    "mm": (BOTH, "torch._foreach_mm(a, b)", (squares, halves)),
    "pow_of_number": (LISTS, "torch._foreach_pow(2.5, a)", (lists,)),
    "pow_named": (LISTS, "torch._foreach_pow(a, exponent=2)", (lists,)),
    "powsum": (LISTS, "torch._foreach_powsum(a, 3)", (lists,)),
    "pack4": ("w: Tensor", "torch._convert_weight_to_int4pack_for_cpu(w, 2).size()", (integers,)),
    "pack4_rows": ("w: Tensor", "torch._convert_weight_to_int4pack_for_cpu(w, 2)", (integers[:20],)),
    "pack4_float": ("w: Tensor", "torch._convert_weight_to_int4pack_for_cpu(w, 2)", (integers.float(),)),
}
for name, dtype in ("float32", torch.float32), ("bfloat16", torch.bfloat16), ("float16", torch.float16):
    packing = "torch._weight_int4pack_mm_for_cpu(x, torch._convert_weight_to_int4pack_for_cpu(w, 2), 32, s)"
    CASES["int4_" + name] = (PRODUCT, packing, (x.to(dtype), integers, scales.to(dtype)))
    CASES["int8_" + name] = (PRODUCT, "torch._weight_int8pack_mm(x, w, s)", (x.to(dtype), bytes_, scales[0, :7, 0].to(dtype)))
for name, given in {
    "double": (x.double(), integers, scales), "group": (x[:, :48].contiguous(), integers, scales),
    "scales": (x, integers, scales[:, :7]), "dtypes": (x, integers, scales.to(torch.bfloat16)), "transposed": (x.t(), integers, scales),
}.items():
    CASES["int4_" + name] = (PRODUCT, packing, given)
q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 7, 8), torch.randn(2, 1, 7, 6)
many, mask, numbers = torch.randn(2, 4, 7, 8), torch.randn(5, 7), torch.randn(3, 5) * 3
ATTENTION = "torch.nn.functional.scaled_dot_product_attention(q, k, v, %s)"
for name, rest, given in (
    ("groups", "enable_gqa=True", (q, k, v)), ("groups_causal", "is_causal=True, enable_gqa=True", (q, k, k)),
    ("groups_wrong", "enable_gqa=True", (q, torch.randn(2, 3, 7, 8), v)), ("wide", "is_causal=True", (q, many, many)),
    ("tall", "is_causal=True, scale=0.3", (many, q, q)), ("scale_below_zero", "scale=-0.7", (q, many, many)),
):
    CASES["attention_" + name] = ("q: Tensor, k: Tensor, v: Tensor", ATTENTION % rest, given)
for name, dtype in ("float32", torch.float32), ("bfloat16", torch.bfloat16):
    for of, other in ("bool", torch.bool), ("int32", torch.int32), ("float16", torch.float16), ("float32", torch.float32):
        CASES["attention_%s_%s" % (name, of)] = (
            "q: Tensor, k: Tensor, v: Tensor, m: Tensor", ATTENTION % "m",
            (q.to(dtype), many.to(dtype), many.to(dtype), (mask > 0 if other == torch.bool else mask.to(other))))
for dtype, low, high in (("float8_e4m3fn", -448, 448), ("float8_e4m3fn", -449, 448), ("float8_e5m2", -57344, 57344),
                         ("uint16", 0, 65535)):
    CASES["quantize_%s_%d" % (dtype, -low)] = (
        "x: Tensor", "torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.05, 2, %d, %d, torch.%s)" % (low, high, dtype),
        (numbers,))
for name, scale in (("", 1), ("_beyond", 3e4)):
    CASES["fp16_unpacked" + name] = ("x: Tensor, w: Tensor, b: Tensor",
                                     "torch.ops.quantized.linear_dynamic_fp16_unpacked_weight(x, w, b)",
                                     (x, torch.randn(3, 64) * scale, torch.randn(3)))


def copied(value):
    return [v.clone() for v in value] if isinstance(value, list) else value.clone()


def main():
    module = type("Lists", (torch.jit.ScriptModule,), {})()
    calls, raising = [], []
    for name, (declaration, expression, given) in CASES.items():
        tail = "%s\n    return a" % expression if name.startswith("copy") else "return " + expression
        module.define("def %s(self, %s):\n    %s\n" % (name, declaration, tail))
        call = {"method": name, "args": tuple(copied(v) for v in given), "kwargs": {}}
        try:
            call["output"] = getattr(module, name)(*[copied(v) for v in given])
            if name == "copy":
                call["args_after"] = (others, others)
            calls.append(call)
        except Exception as error:
            said = [line for line in str(error).splitlines() if line.strip()][-1].split("Error: ", 1)[-1]
            of_its_own = name.startswith(("attention", "quantize"))  # wick says it in other words
            call["raises"] = "" if of_its_own else said
            raising.append(call)
    torch.jit.save(module, sys.argv[1] + ".pt")
    torch.save({"wick_io": 1, "entry": "clone", "calls": calls, "raising_calls": raising}, sys.argv[1] + ".io.pt")
    print("%d results and %d refusals of PyTorch %s" % (len(calls), len(raising), torch.__version__))


main()
