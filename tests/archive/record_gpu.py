#!/usr/bin/env python3
"""Records tests/archive/gpu.pt: an archive as a machine with a GPU writes it. PyTorch saves it on the CPU; then every
device that code and pickles name becomes cuda:0."""
import pathlib
import zipfile

import torch
from torch import Tensor

torch.manual_seed(11)
FOLDER = pathlib.Path(__file__).parent


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("table", torch.arange(6.).reshape(2, 3))
        self.device = torch.device("cpu")

    def forward(self, x: Tensor, kind: str):
        x = x.to("cpu")
        mask = torch.zeros([2, 3], device="cpu") + torch.ones_like(x, device=torch.device("cpu"))
        steps = torch.arange(3, device=self.device) + torch.tensor([1, 2, 3], device="cpu")
        at = x.to(torch.device(kind)).device
        y = self.linear(x) * mask + self.table + steps + torch.eye(3, device=at)[:2]
        if y.is_cuda:
            y = y * 0
        return y, y.device == self.device, y.device.type, str(self.device)


torch.jit.script(Net()).save(FOLDER / "gpu.pt")
module = torch.jit.load(FOLDER / "gpu.pt")
calls = []
for _ in range(2):
    x = torch.randn(2, 3)
    y, same, kind, text = module(x.clone(), "cpu")
    calls.append({"method": "forward", "args": (x, "cuda:0"), "kwargs": {}, "output": (y.detach(), same, kind, text)})
torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": []}, FOLDER / "gpu.io.pt")

with zipfile.ZipFile(FOLDER / "gpu.pt") as archive:
    records = [(name, archive.read(name)) for name in archive.namelist() if not name.endswith(".debug_pkl")]
with zipfile.ZipFile(FOLDER / "gpu.pt", "w") as archive:
    for name, data in records:
        data = data.replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0").replace(b'"cpu"', b'"cuda:0"')
        archive.writestr(name, data)
