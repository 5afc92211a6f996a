#!/usr/bin/env python3
"""Records tests/archive/names_cuda.pt, made on a CPU, whose program only names a device that is not there."""
import pathlib

import torch
from torch import Tensor

FOLDER = pathlib.Path(__file__).parent


class Names(torch.nn.Module):
    def forward(self, x: Tensor):
        device = torch.device("cuda:1")
        return str(device), device.type, str(x.device), device == x.device


torch.jit.script(Names()).save(FOLDER / "names_cuda.pt")
module, x = torch.jit.load(FOLDER / "names_cuda.pt"), torch.ones(2)
calls = [{"method": "forward", "args": (x,), "kwargs": {}, "output": module(x)}]
torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": []}, FOLDER / "names_cuda.io.pt")
