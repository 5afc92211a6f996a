#!/usr/bin/env python3
"""Records tests/library/torch_scatter.io.pt: what torch_scatter.py's functions give, by loops over single numbers, and their gradients, by
PyTorch's formulas for stacks of these numbers.

usage: record_torch_scatter.py
"""
import itertools, os, torch

calls = []


def call(method, *args, output):
    calls.append({"method": method, "args": args, "kwargs": {}, "output": output})


def weigh(y):
    return (y * torch.arange(1, y.numel() + 1).reshape(y.shape).to(y.dtype)).sum()


def groups(x, index, dim, n):
    """For each place of the result the positions of src along dim that come to it."""
    shape = list(x.shape)
    shape[dim] = n
    places = {p: [] for p in itertools.product(*map(range, shape))}
    for p in itertools.product(*map(range, x.shape)):
        places[p[:dim] + (int(index[p]),) + p[dim + 1:]].append(p)
    return shape, places


def combine(x, index, dim, n, start=None, floor="floor"):
    """sum, mean, mul, min and its place, max and its place"""
    shape, places = groups(x, index, dim, n)
    zero = torch.zeros((), dtype=x.dtype)
    parts = [[] for _ in range(7)]
    for p, sources in places.items():
        numbers = [x[s] for s in sources]
        total = sum(numbers, zero)
        product = torch.ones((), dtype=x.dtype)
        for v in numbers:
            product = product * v
        count = max(len(numbers), 1)
        mean = total / count if x.is_floating_point() else torch.div(total, count, rounding_mode=floor)
        low = min(range(len(numbers)), key=lambda i: float(numbers[i]), default=None)
        high = max(range(len(numbers)), key=lambda i: float(numbers[i]), default=None)
        none = torch.tensor(x.shape[dim])
        at = lambda i: none if i is None else torch.tensor(sources[i][dim])
        parts[0].append(total if start is None else start[p] + total)
        parts[1].append(mean)
        parts[2].append(product)
        parts[3].append(zero if low is None else numbers[low])
        parts[4].append(at(low))
        parts[5].append(zero if high is None else numbers[high])
        parts[6].append(at(high))
    return tuple(torch.stack(part).reshape(shape).to(torch.int64 if i in (4, 6) else x.dtype) if part else
                 torch.zeros(shape, dtype=torch.int64 if i in (4, 6) else x.dtype) for i, part in enumerate(parts))


def spread(index, x, dim):
    if index.dim() == 1:
        index = index.reshape([1] * dim + [-1])
    return index.reshape(list(index.shape) + [1] * (x.dim() - index.dim())).expand(x.shape)


def gradients(x, outputs):
    return [torch.autograd.grad(weigh(y), x, retain_graph=True)[0] for y in outputs]


def detached(values):
    return tuple(v.detach() for v in values)


def numbers(shape, dtype):
    return torch.randint(-9, 10, shape).to(dtype) if dtype != torch.uint8 else torch.randint(0, 10, shape).to(dtype)


def different(*shape):
    return (torch.randperm(int(torch.tensor(shape).prod())).reshape(shape).float() - 7.3) / 4


torch.manual_seed(3)
for shape, index_shape, dim, n in [((6,), (6,), 0, 4), ((3, 5), (5,), 1, 3), ((5, 3), (5,), 0, 4), ((2, 4, 3), (2, 4), 1, 3),
                                   ((2, 4, 3), (2, 4, 3), 2, 5), ((2, 4, 3), (4,), -2, 6)]:
    index = torch.randint(0, n, index_shape)
    d = dim % len(shape)
    for size in (None, n + 1):
        x = different(*shape).requires_grad_()
        wide = spread(index, x, d)
        results = combine(x, wide, d, int(index.max()) + 1 if size is None else size)
        call("scatter", x.detach(), index, dim, size, None, output=detached(results))
        call("scatter_gradients", x.detach(), index, dim, size, output=gradients(x, [results[i] for i in (0, 1, 2, 3, 5)]))
for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64, torch.float64, torch.float16):
    x, index = numbers((4, 3), dtype), torch.tensor([2, 0, 2, 2])
    call("scatter", x, index, 0, 4, None, output=combine(x, spread(index, x, 0), 0, 4))
x, index, out = different(4, 3), torch.tensor([1, 0, 1, 1]), torch.ones(3, 3)
results = combine(x, spread(index, x, 0), 0, 2, None)
call("scatter", x, index, 0, None, out[:2].clone(), output=combine(x, spread(index, x, 0), 0, 2, out))
results = list(combine(torch.zeros(0, 2), torch.zeros(0, 2), 0, 3))
results[2] = torch.zeros(3, 2)  # products of nothing at all are 0, not 1
call("scatter", torch.zeros(0, 2), torch.zeros(0, dtype=torch.int64), 0, 3, None, output=tuple(results))

for shape, index in [((6,), [0, 0, 1, 3, 3, 3]), ((5, 2), [0, 2, 2, 3, 3]), ((2, 4, 3), [[0, 0, 1, 1], [0, 1, 2, 2]])]:
    index = torch.tensor(index)
    for size in (None, 5):
        x = different(*shape).requires_grad_()
        wide, d = spread(index, x, index.dim() - 1), index.dim() - 1
        results = combine(x, wide, d, int(index.max()) + 1 if size is None else size)
        results = [results[i] for i in (0, 1, 3, 4, 5, 6)]
        results.append(results[0].gather(d, wide))
        call("coo", x.detach(), index, size, output=detached(results))
        call("coo_gradients", x.detach(), index, size, output=gradients(x, [results[i] for i in (0, 1, 2, 4, 6)]))

for shape, indptr in [((6,), [0, 2, 2, 6]), ((5, 2), [0, 1, 3, 5]), ((2, 4, 3), [[0, 1, 1, 4], [0, 0, 2, 4]]), ((2, 4), [[0, 3, 4]])]:
    x = different(*shape).requires_grad_()
    indptr = torch.tensor(indptr)
    d = indptr.dim() - 1
    full = indptr.expand(list(x.shape[:d]) + [indptr.shape[-1]])
    steps = (full[..., 1:] - full[..., :-1]).reshape(-1, indptr.shape[-1] - 1)
    index = torch.stack([torch.repeat_interleave(torch.arange(len(s)), s) for s in steps]).reshape(x.shape[:d + 1])
    wide = spread(index, x, d)
    results = combine(x, wide, d, indptr.shape[-1] - 1)
    results = [results[i] for i in (0, 1, 3, 4, 5, 6)]
    results.append(results[0].gather(d, wide))
    call("csr", x.detach(), indptr, output=detached(results))
    call("csr_gradients", x.detach(), indptr, output=gradients(x, [results[i] for i in (0, 1, 2, 4, 6)]))
call("version", output=-1)

torch.save({"wick_io": 1, "entry": "scatter", "calls": calls}, os.path.join(os.path.dirname(__file__), "torch_scatter.io.pt"))
print(len(calls), "calls")
