#!/usr/bin/env python3
"""Writes tests/files: what users give in the place of a TorchScript archive, as PyTorch writes it."""
import collections
import pathlib
import zipfile

import torch
from torch.package import PackageExporter

torch.manual_seed(3)
FOLDER = pathlib.Path(__file__).parent


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))

    def forward(self, x):
        return self.layers(x)


class Missing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + 1


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
net(torch.ones(4, 3)).sum().backward()
optimizer.step()
torch.save(net.state_dict(), FOLDER / "state_dict.pt")
torch.save(net, FOLDER / "module.pt")
torch.save({"epoch": 3, "model": net.state_dict(), "optimizer": optimizer.state_dict()}, FOLDER / "checkpoint.pt")
torch.save(net.state_dict(), FOLDER / "legacy.pth", _use_new_zipfile_serialization=False)
torch.save(net, FOLDER / "legacy_module.pth", _use_new_zipfile_serialization=False)
with PackageExporter(str(FOLDER / "package.pt")) as package:
    package.save_pickle("model", "weights.pkl", collections.OrderedDict(w=torch.ones(2)))
many = torch.zeros(1).expand(2**62)  # more elements together than an int counts
torch.save({"a": many, "b": many}, FOLDER / "expanded.pt")
archive = FOLDER / "missing_operator.pt"
torch.jit.script(Missing()).save(archive)
with zipfile.ZipFile(archive) as file:
    records = [(name, file.read(name)) for name in file.namelist() if not name.endswith(".debug_pkl")]
with zipfile.ZipFile(archive, "w") as file:
    for name, data in records:
        file.writestr(name, data.replace(b"torch.add(", b"ops.strange.plus("))
# bytecode whose method gives something else than its schema says
with zipfile.ZipFile(FOLDER.parent / "mobile" / "bytecode_loop.pt") as file:
    records = [(name, file.read(name)) for name in file.namelist()]
with zipfile.ZipFile(FOLDER / "wrong_return.ptl", "w") as file:
    for name, data in records:
        file.writestr(name, data.replace(b"Dict[str, Tensor]", b"Dict[str, number]"))
