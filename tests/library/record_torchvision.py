#!/usr/bin/env python3
"""Records tests/library/torchvision.io.pt: what torchvision.py's functions give with torchvision 0.14.

usage: record_torchvision.py [SEED TIMES FILE]   with numbers: more cases of the same kinds, into FILE
"""
import pathlib
import sys
from typing import List

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != FOLDER]  # torchvision.py is there, too
import torch
import torchvision

seed, times, file = (int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]) if len(sys.argv) > 1 else (5, 1, FOLDER / "torchvision.io.pt")
calls, functions = [], {"torch": torch, "Tensor": torch.Tensor, "List": List}
exec((FOLDER / "torchvision.py").read_text(), functions)
torch.manual_seed(seed)


def call(method, *args):
    out = functions[method](*args)
    calls.append({"method": method, "args": args, "kwargs": {}, "output": list(out) if method == "convolution_gradients" else out})


def rois(count, images, size, dtype):
    corners = torch.rand(count, 2, 2) * (size + 4) - 2
    low, high = corners.min(1).values, corners.max(1).values
    high[:2] = (high[:2] * 4).round() / 4  # halves, for rounding
    return torch.cat([torch.randint(images, (count, 1)), low, high], 1).to(dtype)


for _ in range(times):
    for dtype in (torch.float32, torch.float64):
        low = torch.randint(20, (12, 2)) + torch.rand(12, 2).round() / 2
        call("boxes", torch.cat([low, low + torch.rand(12, 2) * 12], 1).to(dtype), (torch.rand(12) * 6).round().to(dtype))
        for scale, rows, columns, sampling in ((0.5, 2, 3, 2), (1.0, 3, 2, 0), (0.3, 1, 2, -1), (0.7, 2, 2, 3)):
            x = torch.randperm(2 * rows * columns * 2 * 6 * 5).reshape(2, rows * columns * 2, 6, 5).to(dtype) / 100
            args = x, rois(4, 2, 6 / scale, dtype), scale, rows, columns, sampling
            call("regions", *args)
            call("region_gradients", *args)
        for n, kernel, size in (([1, 1, 0, 0, 1, 1, 1, 1], (2, 2), (4, 3)), ([2, 1, 1, 2, 1, 2, 2, 2], (3, 2), (5, 4)),
                                ([1, 2, 2, 1, 2, 1, 1, 2], (1, 3), (3, 4))):
            out = [(size[d] + 2 * n[2 + d] - n[4 + d] * (kernel[d] - 1) - 1) // n[d] + 1 for d in range(2)]
            x, taps = torch.randn(2, 4, *size, dtype=dtype), n[7] * kernel[0] * kernel[1]
            weight, bias = torch.randn(2, 4 // n[6], *kernel, dtype=dtype), torch.randn(2, dtype=dtype)
            offset, mask = torch.randn(2, 2 * taps, *out, dtype=dtype), torch.rand(2, taps, *out, dtype=dtype)
            for use_mask in (True, False):
                call("convolution", x, weight, offset, mask if use_mask else mask[:, :0, :1, :1], bias, n, use_mask)
            call("convolution_gradients", x, weight, offset, mask, bias, n, True)
torch.save({"wick_io": 1, "entry": "boxes", "calls": calls}, file)
