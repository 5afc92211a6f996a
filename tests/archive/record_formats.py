#!/usr/bin/env python3
"""Records archives of other writers: quantized.pt (packed weights of quantized layers), format_2x.pt (the records and
the version file of PyTorch 2.x, which PyTorch 1.13 reads, too) and lite.pt (nothing but bytecode)."""
import io
import pathlib
import zipfile

import torch
from torch import Tensor

torch.manual_seed(2)
FOLDER = pathlib.Path(__file__).parent


def record(name, inputs, model):
    calls = []
    for x in inputs:
        calls.append({"method": "forward", "args": (x,), "kwargs": {}, "output": model(x.clone()).detach()})
    torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": []}, FOLDER / f"{name}.io.pt")


class Quantized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.conv = torch.nn.Conv2d(2, 4, 3)
        self.relu = torch.nn.ReLU()
        self.linear = torch.nn.Linear(4, 3)
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.conv(self.quant(x)))
        return self.dequant(self.linear(x.mean([2, 3])))


torch.backends.quantized.engine = "qnnpack"
model = Quantized().eval()
model.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
prepared = torch.ao.quantization.prepare(torch.ao.quantization.fuse_modules(model, [["conv", "relu"]]))
inputs = [torch.randn(1, 2, 6, 6) for _ in range(8)]
for x in inputs:
    prepared(x)
converted = torch.ao.quantization.convert(prepared)
torch.jit.script(converted).save(FOLDER / "quantized.pt")
record("quantized", inputs[:3], converted)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 4)
        self.register_buffer("scale", torch.tensor(3.0))

    def forward(self, x: Tensor) -> Tensor:
        return torch.nn.functional.gelu(self.linear(x), approximate="tanh") / self.scale


net = Net().eval()
buffer = io.BytesIO()
torch.jit.save(torch.jit.script(net), buffer)
record("format_2x", [torch.randn(2, 5) for _ in range(2)], net)
# The order, the 64-byte alignment and the new records of 2.x.
with zipfile.ZipFile(buffer) as archive:
    records = {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}
version = records.pop("version" if "version" in records else ".data/version")
records.update({".format_version": b"1", ".storage_alignment": b"64", "byteorder": b"little", "version": version,
                ".data/version": version, ".data/serialization_id": b"1234567890" * 4})
with zipfile.ZipFile(FOLDER / "format_2x.pt", "w") as archive:
    for name, data in records.items():
        info = zipfile.ZipInfo("format_2x/" + name)
        at = archive.fp.tell() + 30 + len(info.filename)
        padding = -(at + 4) % 64
        info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
        archive.writestr(info, data)


class Lite(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        for i in range(3):
            if bool(x.sum() > i):
                x = torch.relu(self.linear(x)) + i
        return x


lite = Lite().eval()
buffer = io.BytesIO(torch.jit.script(lite)._save_to_buffer_for_lite_interpreter())
record("lite", [torch.randn(2, 3) for _ in range(3)], lite)
with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(FOLDER / "lite.pt", "w") as kept:
    for name in archive.namelist():
        if "/code/" not in name:
            kept.writestr(name, archive.read(name))
