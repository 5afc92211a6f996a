#!/usr/bin/env python3
"""Records tests/archive/state.pt, a module whose calls change it (a normalization in training, a moving range, a count), with calls of it.

usage: record_state.py
"""
import os, torch


class State(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.calls = 0
        self.register_buffer("low", torch.tensor(0.0))
        self.register_buffer("high", torch.tensor(0.0))

    def forward(self, x):
        y = self.norm(x)
        if self.calls == 0:
            self.low.copy_(y.min())
            self.high.copy_(y.max())
        else:
            self.low = self.low + 0.1 * (y.min() - self.low)
            self.high = self.high + 0.1 * (y.max() - self.high)
        self.calls += 1
        return y.clamp(float(self.low), float(self.high)), self.calls, self.norm.running_mean


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    torch.manual_seed(0)
    torch.jit.script(State()).save(os.path.join(here, "state.pt"))
    model = torch.jit.load(os.path.join(here, "state.pt"))
    calls = []
    for i in range(3):
        x = torch.randn(4, 3) * (i + 1) + i
        y, count, mean = model(x)
        output = (y.detach(), count, mean.clone())
        calls.append({"method": "forward", "args": (x,), "kwargs": {}, "output": output})
    torch.save({"wick_io": 1, "entry": "forward", "calls": calls}, os.path.join(here, "state.io.pt"))


main()
