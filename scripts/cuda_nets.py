#!/usr/bin/env python3
"""Nets for `device_check cuda net`: with a folder that is empty it makes them, NAME.pt and NAME.inputs; with --time it
prints what PyTorch takes for those in the folder on the first CUDA card.

usage: cuda_nets.py [--time] FOLDER
"""
import glob, os, sys, time, warnings

import torch

warnings.filterwarnings("ignore")


class Encoder(torch.nn.Module):
    """Two layers as BERT has them."""

    def __init__(self, width=128, heads=2):
        super().__init__()
        self.words = torch.nn.Embedding(1000, width)
        self.layers = torch.nn.ModuleList([torch.nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu")
                                           for _ in range(2)])
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            h = layer.norm1(x + self.attend(layer, x))
            x = layer.norm2(h + layer.linear2(torch.nn.functional.gelu(layer.linear1(h))))
        return self.norm(x)

    def attend(self, layer, x):
        a = layer.self_attn
        batch, length, width = x.size()
        qkv = torch.nn.functional.linear(x, a.in_proj_weight, a.in_proj_bias).view(batch, length, 3, 2, width // 2)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * 0.125, -1)
        return a.out_proj(torch.matmul(weights, v).transpose(1, 2).reshape(batch, length, width))


def randomize(net):
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return net


def make(folder):
    torch.manual_seed(0)
    nets = {"encoder": (torch.jit.trace(Encoder().eval(), torch.arange(64).view(2, 32)),
                        (torch.arange(256).view(8, 32) % 1000,))}
    try:
        import torchvision
        for name in ("resnet18", "mobilenet_v2"):
            net = torch.jit.script(randomize(getattr(torchvision.models, name)(weights=None)).eval())
            nets[name] = (net, (torch.randn(1, 3, 224, 224),))
            nets[name + "_32"] = (net, (torch.randn(32, 3, 224, 224),))
    except ImportError:
        print("no torchvision: no nets of it")
    for name, (net, inputs) in nets.items():
        torch.jit.save(net, os.path.join(folder, name + ".pt"))
        torch.save(inputs, os.path.join(folder, name + ".inputs"))


def seconds(run, inputs, calls=50):
    best = float("inf")
    for n in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            run(*inputs)
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / calls)
    return best


def measure(folder):
    print("PyTorch", torch.__version__, "on", torch.cuda.get_device_name(0))
    for path in sorted(glob.glob(os.path.join(folder, "*.inputs"))):
        name = path[:-len(".inputs")]
        try:
            net = torch.jit.load(name + ".pt").cuda().eval()
            inputs = [x.cuda() for x in torch.load(path)]
            with torch.no_grad():
                begin = time.perf_counter()
                net(*inputs)
                torch.cuda.synchronize()
                first = time.perf_counter() - begin
                for _ in range(5):
                    net(*inputs)
                print("script %s: %.3f ms a call, first %.0f ms" % (name + ".pt", seconds(net, inputs) * 1e3,
                                                                   first * 1e3), flush=True)
        except Exception as error:
            print("script %s: %s" % (name, str(error)[:300]))


if sys.argv[1] == "--time":
    measure(sys.argv[2])
else:
    make(sys.argv[1])
