"""Writes the programs of this folder with torch.export: NAME.pt2, and NAME.io.pt for `wick check NAME.pt2 NAME.io.pt`.
Run under a PyTorch 2.8 or later; one of 2.1 to 2.7 writes the older form of files. What nodes tell of the model's
source is left out, so that files are small and the same wherever they are made.

    python record.py [NAME...]
"""
import io
import json
import sys
import typing
import zipfile

import torch
from torch import nn

Dim = torch.export.Dim


class Dynamic(nn.Module):
    """Parameters, buffers of all kinds, a constant, results within each other, a size among them."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
        self.register_buffer("passing", torch.ones(3), persistent=False)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        y = self.layers(x) + self.passing * torch.tensor([1.0, 2, 3])
        return {"y": y, "calls": self.calls + 0}, [x, x.reshape(-1)[:-1]], x.shape[0] * 2, None


class Nested(nn.Module):
    """Arguments within each other, by name, and of several types in one dict."""

    def forward(self, x, d, flag, mask=None, *, k, pair):
        y = x + d["a"] + d["b"][0] * k
        return [pair[0] - pair[1], y if flag else x], x.shape[1]


class Related(nn.Module):
    """Sizes that are equal, and that are formulas of each other."""

    def forward(self, x, y, z):
        return x[:-1] + y, x.new_zeros(x.shape[0] + 3), torch.arange(y.shape[0] // 2), z * y.shape[0]


class Written(nn.Module):
    """Writes to its arguments."""

    def forward(self, x, y):
        x.add_(y)
        x[0] = 1.0
        return x * 2


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: self.linear(x) + 1, lambda x: x - 1, (x,))
        with torch.no_grad():
            return y + self.linear(x)


class Loops(nn.Module):
    def forward(self, x):
        from torch._higher_order_ops.scan import scan
        from torch._higher_order_ops.while_loop import while_loop

        i, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), x))
        last, sums = scan(lambda c, x: (c + x, c * x), torch.zeros(2), y)
        return i, last, sums


class Scanned(nn.Module):
    def forward(self, x, pair):
        from torch._higher_order_ops.scan import scan

        last, sums = scan(lambda c, x: (c + x, c * x), pair.first, x, dim=0)
        return Pair(last, sums), pair.second


class Effects(nn.Module):
    """Decomposed, it checks what it computed."""

    def forward(self, x):
        return torch.linalg.inv(x)


class Reduced(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.linear(x).softmax(-1) + x.to(torch.float64)


class Items(nn.Module):
    """Sizes that data say."""

    def forward(self, x, count):
        n = count.item()
        torch._check(n >= 0)
        torch._check(n <= 5)
        return x[:n].sum(), torch.zeros(n), x[x > 0].sum()


class Regions(nn.Module):
    """Graphs that are called for a hint or a mode, a loop that keeps every round, a product with a result of another
    dtype, text that is printed."""

    def forward(self, x, y):
        import torch._higher_order_ops as higher
        from torch._higher_order_ops.hints_wrap import hints_wrapper
        from torch._higher_order_ops.out_dtype import out_dtype
        from torch._higher_order_ops.strict_mode import strict_mode
        from torch._higher_order_ops.while_loop import while_loop_stack_output_op

        higher.print("of {} and {}", 2, 3)
        i, rounds = while_loop_stack_output_op(lambda i, z: i < 3, lambda i, z: (i + 1, z * 2), (torch.tensor(0), x), ())
        z = hints_wrapper(lambda x: torch.relu(x) + 1, (x,), {}, hints={"fast": True})
        return i, rounds, z, strict_mode(lambda x: x * 3, (x,)), out_dtype(torch.ops.aten.mm.default, torch.int32, y, y)


class Attention(nn.Module):
    """Decomposed, it is products of batches between softmaxes; rows that are masked as a whole give 0."""

    def __init__(self):
        super().__init__()
        self.heads, self.out, self.norm = nn.Linear(8, 24), nn.Linear(8, 8), nn.GroupNorm(2, 4)

    def forward(self, x, mask):
        q, k, v = self.heads(x).view(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
        attend = nn.functional.scaled_dot_product_attention
        y = attend(q, k, v) + attend(q, k, v, attn_mask=mask) + attend(q, k, v, is_causal=True, scale=0.3)
        return self.out(y.transpose(1, 2).reshape(2, 5, 8)), self.norm(x[:, :4])


class Viewed(nn.Module):
    """Numbers as the bits of others."""

    def forward(self, x):
        return x.view(torch.int32) + 1, x.view(torch.int16), x.view(torch.float64)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


class Decoder(nn.Module):
    """With tensors that go by the names of another program's."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(2)
        return self.layers(x), self.calls + 0


class Pair(typing.NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="record.Pair")
torch.manual_seed(3)
R = torch.randn
batch, n = Dim("batch", max=64), Dim("n", min=4, max=20)
nested = {"k": R(3), "pair": [R(2), R(2)]}
PROGRAMS = {
    "dynamic": (Dynamic(), [((R(3, 4),), {}), ((R(7, 4),), {}), ((R(1, 4),), {})], {"x": {0: batch}}, False),
    "dynamic_core": (Dynamic(), [((R(3, 4),), {}), ((R(7, 4),), {})], {"x": {0: batch}}, True),
    "nested": (Nested(), [((R(2, 3), {"a": R(2, 3), "b": (R(3),)}, True, None), nested)], None, False),
    "related": (Related(), [((R(5), R(4), R(4)), {}), ((R(9), R(8), R(8)), {})], ({0: n + 1}, {0: n}, {0: n}), False),
    "written": (Written(), [((R(3), R(3)), {})], None, False),
    "written_core": (Written(), [((R(3), R(3)), {})], None, True),
    "branches": (Branches(), [((torch.ones(2, 3),), {}), ((-torch.ones(2, 3),), {})], None, False),
    "loops": (Loops(), [((R(3, 2),), {})], None, False),
    "scanned": (Scanned(), [((R(3, 2), Pair(R(2), R(1))), {})], None, False),
    "effects_core": (Effects(), [((torch.eye(3) + R(3, 3) / 9,), {})], None, True),
    "reduced": (Reduced(), [((R(2, 3),), {})], None, False),
    "items": (Items(), [((R(5), torch.tensor(3)), {}), ((R(5), torch.tensor(2)), {})], None, False),
    "regions": (Regions(), [((R(2, 3), torch.randint(-9, 9, (3, 3), dtype=torch.int8)), {})], None, False),
    "regions_core": (Regions(), [((R(2, 3), torch.randint(-9, 9, (3, 3), dtype=torch.int8)), {})], None, True),
    "attention_core": (Attention(), [((R(2, 5, 8), torch.tensor([[0.0] * 5, [-torch.inf] * 5] + [[0.1] * 5] * 3)), {})], None, True),
    "viewed": (Viewed(), [((R(2, 4),), {})], None, False),
    "tied": (Tied(), [((R(2, 3),), {})], None, False),
}


def copy(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, Pair):
        return Pair(*map(copy, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(copy, value))
    return {k: copy(v) for k, v in value.items()} if isinstance(value, dict) else value


def plain(value):
    """Files of calls hold no named tuples."""
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(map(plain, value))
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def without_source(value):
    if isinstance(value, dict):
        return {k: {} if k == "metadata" else without_source(v) for k, v in value.items()}
    return [without_source(v) for v in value] if isinstance(value, list) else value


def thin(path, keeps_samples=False):
    with zipfile.ZipFile(path) as old:
        records = [(name, old.read(name)) for name in old.namelist()]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as new:
        for name, content in records:
            if ("sample_inputs" in name or "example_inputs" in name) and not keeps_samples:
                continue
            if "/models/" in name or name == "serialized_exported_program.json":
                content = json.dumps(without_source(json.loads(content))).encode()
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED if len(content) > 300 else zipfile.ZIP_STORED)
    with open(path, "wb") as file:
        file.write(packed.getvalue())


def record(name):
    module, inputs, sizes, core = PROGRAMS[name]
    args, kwargs = copy(inputs[0])
    program = torch.export.export(module.eval(), args, kwargs, dynamic_shapes=sizes, strict=False)
    if core:
        program = program.run_decompositions()
    torch.export.save(program, name + ".pt2")
    thin(name + ".pt2")
    run = program.module()
    recorded = []
    for args, kwargs in inputs:
        given = copy(args)
        with torch.no_grad():
            output = copy(run(*given, **kwargs))
        call = {"method": "forward", "args": plain(args), "kwargs": plain(kwargs), "output": plain(output)}
        if name.startswith("written"):
            call["args_after"] = plain(given)
        recorded.append(call)
    torch.save({"wick_io": 1, "entry": "forward", "calls": recorded}, name + ".io.pt")


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(2, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))

    def forward(self, x, y):
        return (nn.functional.cross_entropy(self.layers(x), y),)


def record_trained():
    """A loss with the gradients of parameters."""
    from torch.export.experimental import _export_forward_backward

    module, x, y = Trained(), R(2, 2, 4, 4), torch.tensor([0, 2])
    program = _export_forward_backward(torch.export.export(module, (x, y)))
    torch.export.save(program, "trained.pt2")
    thin("trained.pt2")
    (loss,) = module(x, y)
    named = dict(module.named_parameters())
    found = dict(zip(named, torch.autograd.grad(loss, list(named.values()))))
    call = {"method": "forward", "args": (x, y), "kwargs": {}, "output": ((loss.detach(),), found)}
    torch.save({"wick_io": 1, "entry": "forward", "calls": [call]}, "trained.io.pt")


def record_several():
    """Programs in one file: the one called model is forward, the others are methods."""
    from torch.export.pt2_archive._package import package_pt2

    inputs = {"model": R(3, 4), "decode": R(2, 3), "scale-2": R(2)}
    modules = {"model": Dynamic().eval(), "decode": Decoder(), "scale-2": Written()}
    calls = {name: (x, x + 1) if name == "scale-2" else (x,) for name, x in inputs.items()}
    programs = {name: torch.export.export(module, copy(calls[name])) for name, module in modules.items()}
    package_pt2("several.pt2", exported_programs=programs)
    thin("several.pt2", True)
    methods = {"model": "forward", "decode": "decode", "scale-2": "scale_2"}
    recorded = []
    for name, program in programs.items():
        with torch.no_grad():
            output = plain(copy(program.module()(*copy(calls[name]))))
        recorded.append({"method": methods[name], "args": calls[name], "kwargs": {}, "output": output})
    torch.save({"wick_io": 1, "entry": "forward", "calls": recorded}, "several.io.pt")


OTHERS = {"several": record_several, "trained": record_trained}
for name in sys.argv[1:] or [*PROGRAMS, *OTHERS]:
    OTHERS[name]() if name in OTHERS else record(name)
