#!/usr/bin/env python3
"""Records tests/library/scatter_layer.pt, an archive as a layer over a graph's edges is saved, and calls of it. The operators of torch_scatter
are stand-ins of Python with the schemas that its C++ functions have.

usage: record_scatter_layer.py
"""
import os, torch
from typing import Optional

library = torch.library.Library("torch_scatter", "DEF")
library.define("scatter_sum(Tensor _0, Tensor _1, int _2, Tensor? _3, int? _4) -> Tensor")
library.define("scatter_mean(Tensor _0, Tensor _1, int _2, Tensor? _3, int? _4) -> Tensor")
library.define("scatter_max(Tensor _0, Tensor _1, int _2, Tensor? _3, int? _4) -> (Tensor, Tensor)")


def lines(x, index, dim, size):
    return [x[index == i] for i in range(size)]


library.impl("scatter_sum", lambda x, i, d, o, n: torch.stack([r.sum(0) for r in lines(x, i, d, n)]), "CPU")
library.impl("scatter_mean", lambda x, i, d, o, n: torch.stack([r.sum(0) / max(len(r), 1) for r in lines(x, i, d, n)]), "CPU")


def largest(x, index, dim, out, size):
    values = torch.zeros(size, x.shape[1])
    places = torch.full((size, x.shape[1]), len(x))
    for row in range(len(x)):
        at = index[row]
        better = (places[at] == len(x)) | (x[row] > values[at])
        values[at] = torch.where(better, x[row], values[at])
        places[at] = torch.where(better, torch.tensor(row), places[at])
    return values, places


library.impl("scatter_max", largest, "CPU")


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(12, 3)

    def forward(self, x: torch.Tensor, edges: torch.Tensor, size: Optional[int]):
        message = x[edges[0]]
        count = x.size(0) if size is None else size
        high, place = torch.ops.torch_scatter.scatter_max(message, edges[1], 0, None, count)
        parts = [torch.ops.torch_scatter.scatter_sum(message, edges[1], 0, None, count),
                 torch.ops.torch_scatter.scatter_mean(message, edges[1], -2, None, count), high]
        return torch.relu(self.linear(torch.cat(parts, 1))), place


torch.manual_seed(1)
module = torch.jit.script(Layer().eval())
here = os.path.dirname(os.path.abspath(__file__))
module.save(os.path.join(here, "scatter_layer.pt"))
calls = []
for nodes, edges, size in [(5, 9, None), (5, 9, 7), (3, 0, None)]:
    args = (torch.randn(nodes, 4), torch.randint(0, nodes, (2, edges)), size)
    with torch.no_grad():
        calls.append({"method": "forward", "args": args, "kwargs": {}, "output": module(*args)})
torch.save({"wick_io": 1, "entry": "forward", "calls": calls}, os.path.join(here, "scatter_layer.io.pt"))
