#!/usr/bin/env python3
"""Records tests/archive/meta_and_sparse.pt, a module whose buffers are sparse or on the meta device, with a call. Its
operators give it a version whose record is called .data/version."""
import pathlib

import torch

HERE = pathlib.Path(__file__).parent


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        dense = torch.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, -1.0]])
        self.register_buffer("coo", dense.to_sparse())
        self.register_buffer("csr", dense.to_sparse_csr())
        self.register_buffer("repeated", torch.sparse_coo_tensor([[0, 1, 0], [2, 1, 2]], [1.0, 2.0, 4.0], (2, 3)))
        self.register_buffer("meta", torch.empty(2, 3, 4, device="meta", dtype=torch.float64).transpose(0, 2))
        self.register_buffer("none", torch.empty(0, 3, device="meta"))
        self.weight = torch.nn.Parameter(torch.empty(3, 5, device="meta"))

    def forward(self, x):
        sums = torch.nn.functional.gelu(x) + self.coo.to_dense() + self.csr.to_dense() + self.repeated.to_dense()
        meta = (self.meta.is_meta, self.meta.size(), self.meta.stride(), self.meta.dtype == torch.float64)
        return sums, meta, self.none.size(), self.weight.requires_grad, (self.weight * 2).size()


def main():
    torch.jit.script(Net()).save(str(HERE / "meta_and_sparse.pt"))
    model = torch.jit.load(str(HERE / "meta_and_sparse.pt"))
    x = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]])
    call = {"method": "forward", "args": (x,), "kwargs": {}, "output": model(x)}
    torch.save({"wick_io": 1, "entry": "forward", "calls": [call]}, HERE / "meta_and_sparse.io.pt")


main()
