#!/usr/bin/env python3
"""Records tests/library/rotated_boxes.io.pt: what box_iou_rotated gives with torchvision 0.29.

Boxes are at least 0.5 wide: of very thin ones the original gives more than their areas allow.
"""
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != FOLDER]  # torchvision.py is there, too
import torch
import torchvision

calls, raising = [], []
torch.manual_seed(0)


def boxes(count, dtype, away=0.0):
    parts = torch.rand(count, 2) * 6 + away, torch.rand(count, 2) * 5 + 0.5, torch.rand(count, 1) * 720 - 360
    return torch.cat(parts, 1).to(dtype)


def call(a, b):
    calls.append({"method": "forward", "args": (a, b), "kwargs": {}, "output": torch.ops.torchvision.box_iou_rotated(a, b)})


for dtype in (torch.float32, torch.float64):
    call(boxes(12, dtype), boxes(15, dtype))
    call(boxes(12, dtype, 1000.0), boxes(15, dtype, 1000.0))
    straight = boxes(10, dtype).round()
    straight[:, 4] = (straight[:, 4] / 90).round() * 90
    call(straight, straight)
    call(straight, straight + torch.tensor([0, 0, 0, 0, 45], dtype=dtype))
    call(straight[:0], straight)
    call(straight * torch.tensor([1, 1, 0, 1, 1], dtype=dtype), straight)
for a, b in ((torch.zeros(2, 4), torch.zeros(3, 5)), (torch.zeros(2, 5), torch.zeros(5)), (torch.zeros(2, 5), torch.zeros(2, 5).double())):
    try:
        torch.ops.torchvision.box_iou_rotated(a, b)
    except RuntimeError as error:
        said = str(error).splitlines()[0].split(", ")[-1] if "5 elements" not in str(error) else "should have 5 elements in dimension 1"
        raising.append({"method": "forward", "args": (a, b), "kwargs": {}, "raises": said})
torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": raising}, FOLDER / "rotated_boxes.io.pt")
