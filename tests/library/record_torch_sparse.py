#!/usr/bin/env python3
"""Records tests/library/torch_sparse.io.pt: what torch_sparse.py's functions give, by loops over the matrix's entries, and their gradients.

usage: record_torch_sparse.py
"""
import os, torch

calls = []


def call(method, *args, output):
    calls.append({"method": method, "args": args, "kwargs": {}, "output": output})


def weigh(y):
    return (y * torch.arange(1, y.numel() + 1).reshape(y.shape).to(y.dtype)).sum()


def combine(rowptr, col, value, mat):
    columns, parts = mat.shape[-1], [[] for _ in range(6)]
    for batch in mat.reshape(-1, *mat.shape[-2:]):
        for row in range(len(rowptr) - 1):
            entries = range(int(rowptr[row]), int(rowptr[row + 1]))
            for k in range(columns):
                numbers = [batch[col[e], k] * (1 if value is None else value[e]) for e in entries]
                total = sum(numbers, torch.zeros(()))
                low = min(range(len(numbers)), key=lambda i: float(numbers[i]), default=None)
                high = max(range(len(numbers)), key=lambda i: float(numbers[i]), default=None)
                parts[0].append(total)
                parts[1].append(total / max(len(numbers), 1))
                for at, where in ((2, low), (4, high)):
                    parts[at].append(torch.zeros(()) if where is None else numbers[where])
                    parts[at + 1].append(torch.tensor(len(col) if where is None else entries[where]))
    shape = list(mat.shape[:-2]) + [len(rowptr) - 1, columns]
    return [torch.stack(p).reshape(shape) for p in parts]


def different(*shape):
    return (torch.randperm(int(torch.tensor(shape).prod())).reshape(shape).float() - 7.3) / 4


torch.manual_seed(5)
rowptr, col = torch.tensor([0, 2, 2, 5, 6]), torch.tensor([3, 0, 1, 1, 4, 2])
for shape in [(5, 3), (2, 5, 2)]:
    mat, value = different(*shape).requires_grad_(), (torch.rand(6) + 0.5).requires_grad_()
    results = combine(rowptr, col, value, mat)
    grads = [torch.autograd.grad(weigh(results[i]), [value, mat], retain_graph=True) for i in (0, 1, 2, 4)]
    call("products", rowptr, col, value.detach(), mat.detach(), output=tuple(r.detach() for r in results))
    call("products", rowptr, col, None, mat.detach(), output=tuple(r.detach() for r in combine(rowptr, col, None, mat)))
    call("gradients", rowptr, col, value.detach(), mat.detach(), output=[list(g) for g in grads])
row = torch.tensor([0, 0, 2, 2, 2, 3])
call("pointers", row, 4, output=(rowptr, row, -1))
call("pointers", row, 6, output=(torch.tensor([0, 2, 2, 5, 6, 6, 6]), row, -1))
torch.save({"wick_io": 1, "entry": "products", "calls": calls}, os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_sparse.io.pt"))
