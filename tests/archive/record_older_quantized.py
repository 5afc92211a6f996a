#!/usr/bin/env python3
"""Records tests/archive/older_quantized_*.pt: quantized layers in archives as PyTorch 1.3 to 1.5 wrote them, with packed
weights that are declared Tensor in classes of torch.nn. They are made of today's archives, whose state and methods are
the same, and PyTorch loads them."""
import pathlib
import re
import zipfile

import torch
import torch.nn.intrinsic.quantized as nniq
import torch.nn.quantized as nnq
import torch.nn.quantized.dynamic as nnqd

HERE = pathlib.Path(__file__).parent
VERSION = b"2\n"


def weight(*sizes):
    return torch.quantize_per_tensor(torch.randn(*sizes), 0.02, 0, torch.qint8)


def per_channel(*sizes):
    scales = torch.rand(sizes[0], dtype=torch.float64) * 0.02 + 0.01
    return torch.quantize_per_channel(torch.randn(*sizes), scales, torch.zeros(sizes[0], dtype=torch.int64), 0, torch.qint8)


def packed(layer, *weight_and_bias):
    layer.set_weight_bias(*weight_and_bias)
    layer.scale, layer.zero_point = 0.1, 40
    return layer


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = packed(nnq.Conv2d(2, 4, 3, stride=2, groups=2), per_channel(4, 1, 3, 3), torch.randn(4))
        self.no_bias = packed(nnq.Conv2d(2, 3, (1, 2)), weight(3, 2, 1, 2), None)
        self.conv_relu = packed(nniq.ConvReLU2d(2, 3, 3, padding=2, dilation=2), weight(3, 2, 3, 3), torch.randn(3))
        self.conv3d = packed(nnq.Conv3d(2, 3, 2), weight(3, 2, 2, 2, 2), torch.randn(3))
        self.conv_relu3d = packed(nniq.ConvReLU3d(2, 3, 1), weight(3, 2, 1, 1, 1), torch.randn(3))
        self.linear = packed(nnq.Linear(5, 3), per_channel(3, 5), torch.randn(3))
        self.linear_relu = packed(nniq.LinearReLU(5, 4), weight(4, 5), torch.randn(4))
        self.dynamic = nnqd.Linear(5, 3)
        self.dynamic.set_weight_bias(weight(3, 5), torch.randn(3))

    def forward(self, x):
        q = torch.quantize_per_tensor(x, 0.05, 60, torch.quint8)
        return (
            self.conv(q).dequantize(),
            self.no_bias(q).dequantize(),
            self.conv_relu(q).dequantize(),
            self.conv3d(q.unsqueeze(2).repeat(1, 1, 2, 1, 1)).dequantize(),
            self.conv_relu3d(q.unsqueeze(2)).dequantize(),
            self.linear(q).dequantize(),
            self.linear_relu(q).dequantize(),
            self.dynamic(x),
        )


def as_older(program, path):
    """Rewrites an archive in the place of the classes, of their names and of the version."""
    program.save(path)
    with zipfile.ZipFile(path) as file:
        records = [(name, file.read(name)) for name in file.namelist() if not name.endswith(".debug_pkl")]
    with zipfile.ZipFile(path, "w") as file:
        for name, data in records:
            name = name.replace("torch/ao/nn", "torch/nn")
            if name.endswith((".py", ".pkl")):
                data = data.replace(b"torch.ao.nn", b"torch.nn")
            if name.endswith(".py"):
                data, count = re.subn(rb"_packed_params : __torch__\.torch\.classes\.\S+", b"_packed_params : Tensor", data)
            file.writestr(name, VERSION if name.endswith("/version") else data)


def main():
    torch.manual_seed(3)
    net = Net()
    x = torch.randn(2, 2, 5, 5)
    for name, program in (("scripted", torch.jit.script(net)), ("traced", torch.jit.trace(net, x))):
        path = str(HERE / f"older_quantized_{name}.pt")
        as_older(program, path)
        older = torch.jit.load(path)
        calls = [{"method": "forward", "args": (x,), "kwargs": {}, "output": older(x)} for x in (x, torch.randn(2, 2, 5, 5))]
        torch.save({"wick_io": 1, "entry": "forward", "engine": "onednn", "calls": calls}, path.replace(".pt", ".io.pt"))


main()
