#!/usr/bin/env python3
"""Records tests/archive/hooks.pt with PyTorch: hooks before and after forward of a module and of its submodules."""
import pathlib
from typing import List, Optional, Tuple

import torch
from torch import Tensor

torch.manual_seed(7)
FOLDER = pathlib.Path(__file__).parent


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: Tensor, scales: List[float]) -> Tuple[Tensor, int]:
        for s in scales:
            x = torch.tanh(self.linear(x)) * s
        return x, len(scales)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x: Tensor, scales: List[float]) -> Tuple[Tensor, int]:
        y, n = self.encoder(x, scales)
        return y + x, n * 10


def count(self, input: Tuple[Tensor, List[float]]) -> None:
    self.calls[0] += 1


def longer(self, input: Tuple[Tensor, List[float]]) -> Tuple[Tensor, List[float]]:
    return input[0] * 2, input[1] + [0.5]


def centered(self, input: Tuple[Tensor, List[float]], output: Tuple[Tensor, int]) -> Tuple[Tensor, int]:
    return output[0] - output[0].mean(), output[1] + len(input[1])


def watch(self, input: Tuple[Tensor, List[float]], output: Tuple[Tensor, int]) -> None:
    self.calls[1] += output[1]


def inner_pre(self, input: Tuple[Tensor, List[float]]) -> Tuple[Tensor, List[float]]:
    return input[0] - 1, input[1]


def inner_post(self, input: Tuple[Tensor, List[float]], output: Tuple[Tensor, int]) -> Tuple[Tensor, int]:
    return output[0] * input[0], output[1]


net = Net()
for hook in (count, longer, count):
    net.register_forward_pre_hook(hook)
for hook in (centered, watch):
    net.register_forward_hook(hook)
net.encoder.register_forward_pre_hook(inner_pre)
net.encoder.register_forward_hook(inner_post)
torch.jit.script(net).save(FOLDER / "hooks.pt")

module, calls = torch.jit.load(FOLDER / "hooks.pt"), []
for method in ("__call__", "forward", "__call__"):
    for scales in ([], [1.5, -0.25]):
        x = torch.randn(2, 3)
        out = getattr(module, method)(x.clone(), list(scales))
        calls.append({"method": method, "args": (x, scales), "kwargs": {}, "output": (out[0].detach().clone(), out[1])})
torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": []}, FOLDER / "hooks.io.pt")
