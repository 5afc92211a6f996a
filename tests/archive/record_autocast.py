#!/usr/bin/env python3
"""Records tests/archive/autocast_off.pt, whose autocast regions change nothing on the CPU (of another device, or
disabled), and tests/files/autocast_on.pt, whose region computes in bfloat16."""
import pathlib

import torch
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


class On(torch.nn.Module):
    def forward(self, x: Tensor):
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            return x @ x


torch.jit.script(On()).save(FOLDER.parent / "files/autocast_on.pt")
torch.jit.script(Off()).save(FOLDER / "autocast_off.pt")
module, calls = torch.jit.load(FOLDER / "autocast_off.pt"), []
for _ in range(2):
    x, w = torch.randn(2, 3), torch.randn(3, 3)
    out = module(x.clone(), w.clone())
    calls.append({"method": "forward", "args": (x, w), "kwargs": {}, "output": out})
torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": []}, FOLDER / "autocast_off.io.pt")
