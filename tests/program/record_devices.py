#!/usr/bin/env python3
"""Records tests/program/devices.io.pt: what a program gives of devices, dtypes and layouts."""
import pathlib

import torch

HERE = pathlib.Path(__file__).parent
module = torch.jit.CompilationUnit((HERE / "devices.py").read_text())
x = torch.ones(2)
call = {"method": "forward", "args": (x,), "kwargs": {}, "output": module.forward(x)}
torch.save({"wick_io": 1, "entry": "forward", "calls": [call]}, HERE / "devices.io.pt")
