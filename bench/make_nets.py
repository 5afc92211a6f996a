#!/usr/bin/env python3
"""Makes the nets that `make bench` measures, with random weights, where torchvision is installed.

usage: make_nets.py FOLDER   Writes NAME.pt (scripted), NAME.onnx and NAME.inputs (what `wick bench` is given).
"""
import os, sys, warnings

import torch
import torchvision

warnings.filterwarnings("ignore")
NETS = ("resnet18 resnet50 mobilenet_v2 mobilenet_v3_small efficientnet_b0 squeezenet1_1 shufflenet_v2_x1_0 densenet121 "
        "googlenet convnext_tiny vit_b_16").split()
folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for name in NETS:
    path = os.path.join(folder, name)
    if os.path.exists(path + ".inputs"):
        continue
    torch.manual_seed(0)
    options = {"init_weights": True} if name == "googlenet" else {}
    net = getattr(torchvision.models, name)(weights=None, **options).eval()
    torch.jit.save(torch.jit.script(net), path + ".pt")
    torch.onnx.export(net, torch.randn(1, 3, 224, 224), path + ".onnx", opset_version=14)
    with open(path + ".inputs", "w") as file:
        file.write("randn(1,3,224,224)\n")
print("%d nets in %s" % (len(NETS), folder))
