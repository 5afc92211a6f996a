#!/usr/bin/env python3
"""Records tests/archive/autocast_off.pt, whose autocast regions change nothing on the CPU (of another device, or
disabled), autocast_cpu.pt, whose regions compute in reduced dtypes or are refused, and tests/data/autocast.txt: what
PyTorch's pass does to the tensors that each operator takes."""
import pathlib
import re
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

torch.manual_seed(5)
FOLDER = pathlib.Path(__file__).parent


class Off(torch.nn.Module):
    def forward(self, x: Tensor, w: Tensor):
        with torch.cuda.amp.autocast():
            y = x @ w
        with torch.cpu.amp.autocast(enabled=False):
            z = y @ w
        with torch.autocast(device_type="cuda", dtype=torch.float16):
            z = torch.softmax(z, -1) + y
        return y, z, torch.is_autocast_enabled(), torch.is_autocast_cpu_enabled()




def product(x: Tensor, w: Tensor):
    return x @ w


class Sub(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = torch.nn.Conv1d(3, 4, 2), torch.nn.Linear(4, 3)

    def forward(self, x: Tensor):
        y = self.conv(x.unsqueeze(0)).squeeze(0).transpose(0, 1)
        return torch.relu(self.linear(y))


class On(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.sub, self.gain = Sub(), torch.nn.Parameter(torch.rand(3, 3))

    def forward(self, x: Tensor, w: Tensor):
        with torch.cpu.amp.autocast():
            a = x @ w
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
                b = x @ w
                c = a @ a
            d = product(x, w) * self.gain
            f = torch.jit.wait(torch.jit.fork(product, x, w))
        return a, b, c, d, f, x @ w

    @torch.jit.export
    def through_modules(self, x: Tensor):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.sub(x)
        return y, self.sub(x)

    @torch.jit.export
    def wider_bias(self, x: Tensor, w: Tensor, b: Optional[Tensor]):
        with torch.cpu.amp.autocast():
            return torch.conv1d(x[None], w[:, :, None], b)

    @torch.jit.export
    def policies(self, x: Tensor):
        with torch.cpu.amp.autocast():
            a = torch.mm(x, self.gain)
            y = [torch.softmax(a, 0), torch.log_softmax(a, 0), a.sum(), torch.sum(a, dtype=torch.bfloat16), a.prod(),
                 a.cumsum(0), a.exp(), torch.pow(a, 2), a + x, a * 2, a - a, torch.cat([a, a]), torch.stack([a, a]),
                 a.mean(), torch.relu(a), torch.einsum("ij,jk->ik", x, x), torch.dot(a[0], x[0]), F.mse_loss(a, x),
                 torch.addcmul(x, a, x), torch.addmm(x, x, x), torch.bmm(x[None], x[None]), F.gelu(a), a.norm(),
                 torch.tensordot(x, x, 2), torch.chain_matmul(x, x)]
        return y

    @torch.jit.export
    def in_place(self, x: Tensor):
        with torch.cpu.amp.autocast():
            a, b = x @ x, torch.zeros(3, 3)
            b.addmm_(x, x)
            b.add_(a)
        return a.exp_(), b

    @torch.jit.export
    def loops(self, x: Tensor, n: int):
        y = x
        with torch.cpu.amp.autocast(), torch.cuda.amp.autocast():
            for i in range(n):
                y = torch.tanh(y @ x)
                if i == 1:
                    y = y @ x + y
        return y

    @torch.jit.export
    def wide(self, x: Tensor):
        with torch.autocast("cpu", dtype=torch.float64):
            return x @ self.gain

    @torch.jit.export
    def twice(self, x: Tensor):
        region = torch.cpu.amp.autocast()
        with region:
            a = x @ x
        b = x @ x
        with region:
            return a, b, x @ x

    @torch.jit.export
    def other_dtypes(self, x: Tensor):
        with torch.cpu.amp.autocast():
            return x @ x, x.exp(), x + x

    @torch.jit.export
    def not_constant(self, x: Tensor, on: bool):
        with torch.cpu.amp.autocast(enabled=on):
            return x @ x

    @torch.jit.export
    def attribute(self, x: Tensor):
        with torch.cpu.amp.autocast(enabled=self.training):
            return x @ x

    @torch.jit.export
    def refused(self, x: Tensor):
        with torch.cpu.amp.autocast():
            return F.binary_cross_entropy(x, x)

    @torch.jit.export
    def chosen(self, x: Tensor, on: bool):
        first, second = torch.cpu.amp.autocast(), torch.cpu.amp.autocast(enabled=False)
        with first if on else second:
            return x @ x


def save(module, calls, raising, name):
    torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": raising}, FOLDER / f"{name}.io.pt")


def copied(value):
    if isinstance(value, Tensor):
        return value.detach().clone()
    return type(value)(copied(v) for v in value) if isinstance(value, (list, tuple)) else value


def tensors(value):
    return [value] if isinstance(value, Tensor) else [t for v in value for t in tensors(v)]


def record(module, method, *args, grads=False):
    given = [a.clone().requires_grad_(grads) if isinstance(a, Tensor) else a for a in args]
    out = getattr(module, method)(*given)
    call = {"method": method, "args": copied(args), "kwargs": {}, "output": copied(out)}
    if grads:
        sum(t.sum() for t in tensors(out)).backward()
        call["grads"] = tuple(a.grad if isinstance(a, Tensor) else None for a in given)
    return call


def raising(module, method, *args):
    try:
        getattr(module, method)(*args)
    except RuntimeError as error:
        return {"method": method, "args": args, "kwargs": {}, "raises": f"RuntimeError: {str(error).strip().splitlines()[-1]}"}


torch.jit.script(Off()).save(FOLDER / "autocast_off.pt")
module = torch.jit.load(FOLDER / "autocast_off.pt")
save(module, [record(module, "forward", torch.randn(2, 3), torch.randn(3, 3)) for _ in range(2)], [], "autocast_off")

torch.jit.script(On()).save(FOLDER / "autocast_cpu.pt")
module, calls = torch.jit.load(FOLDER / "autocast_cpu.pt"), []
for _ in range(2):
    x, w = torch.rand(3, 3), torch.rand(3, 3)
    few, bits, bias = (x * 4).round() / 4, (w * 4).round() / 4, torch.rand(3).round()
    calls += [record(module, "forward", x, w), record(module, "forward", x, w, grads=True),
              record(module, "through_modules", x), record(module, "wider_bias", few, bits, bias, grads=True),
              record(module, "policies", x), record(module, "in_place", x),
              record(module, "loops", x, 3), record(module, "loops", x, 2, grads=True), record(module, "wide", x),
              record(module, "twice", x)]
calls += [record(module, "other_dtypes", x.to(d)) for d in (torch.float64, torch.bfloat16, torch.int64)]
raises = [raising(module, "not_constant", x, True), raising(module, "attribute", x), raising(module, "refused", x),
          raising(module, "chosen", x, True)]
save(module, calls, raises, "autocast_cpu")


def in_graphs(type):
    text = str(type).replace("number", "Scalar")
    for _ in range(3):
        text = re.sub(r"(?:List\[([^\[\]]+(?:\[\])?\??)\])", r"\1[]", text)
        text = re.sub(r"Optional\[([^\[\]]+(?:\[\])*)\]", r"\1?", text)
    return text


def policy(schema, with_dtype):
    """What the pass makes of a call with every argument there, but `dtype` where it is not wanted."""
    types = [in_graphs(argument.type) for argument in schema.arguments]
    given = [not (a.name == "dtype" and not with_dtype) for a in schema.arguments]
    names = [f"%a{i}" if g else "%none" for i, g in enumerate(given)]
    results = ", ".join(f"%r{i} : {in_graphs(r.type)}" for i, r in enumerate(schema.returns))
    kinds = []
    for tensor in ("Tensor", "Double(2)"):
        inputs = ", ".join(f"{n} : {tensor if t == 'Tensor' else t}" for n, t, g in zip(names, types, given) if g)
        text = f"graph({inputs}):\n  %none : NoneType = prim::Constant()\n  "
        text += f"{results + ' = ' if results else ''}{schema.name}({', '.join(names)})\n  return ()"
        try:
            graph = torch._C.parse_ir(text)
        except RuntimeError:
            return None
        with torch.cpu.amp.autocast():
            try:
                torch._C._jit_pass_autocast(graph)
            except RuntimeError as error:
                return "refused" if "Unsafe" in str(error) else None
        text = str(graph)
        kinds.append("reduced" if "to_reduced" in text else "full" if "to_full" in text else "none")
    return "widest" if kinds == ["full", "none"] else kinds[0]


with open(FOLDER.parent / "data/autocast.txt", "w") as out:
    schemas = {(s.name, s.overload_name): s for s in torch._C._jit_get_all_schemas()}  # some are there twice
    for _, schema in sorted(schemas.items()):
        if not schema.name.startswith("aten::") or "autocast" in schema.name:
            continue
        found = policy(schema, True)
        if found == "none" and policy(schema, False) == "full":
            found = "full_unless_dtype"
        if found not in (None, "none"):
            print(f"{schema.name}.{schema.overload_name}".rstrip("."), found, file=out)
