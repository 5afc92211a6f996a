#!/usr/bin/env python3
"""Records quantized convolutions whose inputs have to be laid out first: padded, cut, in groups, with pixels between
pixels, of any memory format. Usage, with PyTorch 1.13: record_quantized_conv.py"""
import torch
import torch.nn as nn

CASES = {  # name: (layer, engine, spatial sizes)
    "transposed_cut": (nn.ConvTranspose2d(4, 18, (1, 3), stride=(1, 2), padding=(0, 4), groups=2), "onednn", (5, 7)),
    "transposed_apart": (nn.ConvTranspose2d(3, 5, 3, stride=(3, 2), padding=1, dilation=(1, 2)), "qnnpack", (4, 5)),
    "groups_of_five": (nn.Conv1d(10, 6, 4, stride=2, padding=4, groups=2), "qnnpack", (9,)),
    "depthwise": (nn.Conv2d(19, 19, (4, 3), stride=(3, 1), padding=(0, 1), dilation=2, groups=19), "onednn", (9, 8)),
    "volume": (nn.Conv3d(3, 4, (2, 3, 2), stride=(2, 1, 1), padding=(2, 3, 0), dilation=(2, 1, 1)), "onednn", (5, 4, 6)),
}

torch.manual_seed(0)
for name, (layer, engine, sizes) in CASES.items():
    torch.backends.quantized.engine = engine
    observers = torch.quantization.get_default_qconfig(engine)
    net = nn.Sequential(torch.quantization.QuantStub(), layer, torch.quantization.DeQuantStub()).eval()
    net.qconfig = torch.quantization.QConfig(observers.activation, torch.quantization.default_weight_observer)
    torch.quantization.prepare(net, inplace=True)
    channels = layer.in_channels
    net(torch.randn(2, channels, *sizes))
    torch.quantization.convert(net, inplace=True)
    net = torch.jit.script(net)
    inputs = [torch.randn(1, channels, *sizes), torch.randn(2, channels, *sizes[:-1], 2 * sizes[-1])[..., ::2]]
    if len(sizes) == 2:
        inputs.append(torch.randn(2, channels, *sizes).contiguous(memory_format=torch.channels_last))
    calls = [{"method": "forward", "args": (x,), "kwargs": {}, "output": net(x)} for x in inputs]
    torch.jit.save(net, "quantized_%s.pt" % name)
    torch.save({"wick_io": 1, "entry": "model", "engine": engine, "calls": calls}, "quantized_%s.io.pt" % name)
