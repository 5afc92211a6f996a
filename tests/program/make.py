"""Records the small programs of this folder with real PyTorch: /usr/bin/python3 make.py"""
import collections
import enum
import typing

import torch


class Mode(enum.Enum):
    ADD = 1
    MUL = 2


class Pair(typing.NamedTuple):
    left: torch.Tensor
    count: int


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        self.register_buffer("shift", torch.tensor([0.5, -0.5]))

    def forward(self, x, times: int):
        for i in range(times):
            x = x * self.weight + self.shift
        return x


class Rich(torch.nn.Module):
    """Attributes of every kind, a tied parameter, an enum, a named tuple."""

    table: typing.Dict[str, typing.List[int]]
    maybe: typing.Optional[float]

    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.tied = self.inner.weight
        self.mode = Mode.MUL
        self.table = {"a": [1, 2], "b": []}
        self.maybe = None
        self.names = ["x", "y"]
        self.flags = [True, False]
        self.scale = 2 + 1j
        self.pair = (3, "three")

    def forward(self, x, times: int = 2):
        y = self.inner(x, times)
        if self.mode == Mode.MUL:
            y = y * self.tied
        self.table["b"].append(times)
        return Pair(y, len(self.table["b"])), self.names, self.pair[0]


class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.linear(x)) + torch.tensor([1.0, 2.0])


def plain(value):
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return value


def record(name, module, *calls):
    module = torch.jit.script(module)
    module.save(name + ".pt")
    torch.save(
        {
            "wick_io": 1,
            "entry": "forward",
            "calls": [{"method": "forward", "args": a, "kwargs": {}, "output": plain(module(*a))} for a in calls],
        },
        name + ".io.pt",
    )


torch.manual_seed(0)
with torch.no_grad():
    record("linear", Linear(), (torch.randn(4, 3),), (torch.ones(2, 3),))
    record("rich", Rich(), (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 2.0]), 3))
