#!/usr/bin/env python3
"""Records tests/library/torchaudio.io.pt: what torchaudio.py's functions give, by loops over samples, frames and labels in PyTorch, whose
autograd gives the gradients.

usage: record_torchaudio.py [SEED TIMES FILE]   with numbers: more cases of the same kinds, into FILE
"""
import itertools
import pathlib
import sys

import torch

seed, times, file = (int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]) if len(sys.argv) > 1 else (5, 1, pathlib.Path(__file__).parent / "torchaudio.io.pt")
torch.manual_seed(seed)
calls = []


def call(method, *args, output):
    calls.append({"method": method, "args": args, "kwargs": {}, "output": output})


def weigh(y):
    return (y * torch.arange(1, y.numel() + 1).reshape(y.shape).to(y.dtype)).sum()


def lfilter(x, a, b):
    """a[0] y[n] = sum of b[k] x[n - k] - sum of a[k] y[n - k] for k > 0"""
    y = []
    for n in range(x.shape[-1]):
        total = sum(b[..., k] * x[..., n - k] for k in range(b.shape[-1]) if k <= n)
        total = total - sum(a[..., k] * y[n - k] for k in range(1, a.shape[-1]) if k <= n)
        y.append(total / a[..., 0])
    return torch.stack(y, -1)


def core_loop(windows, a, out):
    out = out.clone()
    order = a.shape[-1]
    for i in range(windows.shape[-1]):
        out[..., i + order - 1] = windows[..., i] - (out[..., i:i + order] * a).sum(-1)
    return out


def overdrive(x, temp):
    first, last, out = torch.zeros(len(x), dtype=x.dtype), torch.ones(len(x), dtype=x.dtype), torch.zeros_like(x)
    for i in range(x.shape[1]):
        last = temp[:, i] - first + 0.995 * last
        first = temp[:, i]
        out[:, i] = x[:, i] * 0.5 + last * 0.75
    return first.clone(), last, out


def rnnt_cost(logp, target, frames, labels, blank):
    alpha = {(0, 0): logp.new_zeros(())}
    for t in range(frames):
        for u in range(labels + 1):
            ways = []
            if t:
                ways.append(alpha[t - 1, u] + logp[t - 1, u, blank])
            if u:
                ways.append(alpha[t, u - 1] + logp[t, u - 1, target[u - 1]])
            if ways:
                alpha[t, u] = torch.logsumexp(torch.stack(ways), 0)
    return -(alpha[frames - 1, labels] + logp[frames - 1, labels, blank])


def rnnt(logits, targets, frames, labels, blank, softmax):
    logp = logits.log_softmax(-1) if softmax else logits
    return torch.stack([rnnt_cost(logp[i], targets[i].long(), int(frames[i]), int(labels[i]), blank) for i in range(len(logits))])


def align(x, target, blank):
    """The likeliest of all ways of labels to give the target: runs are one label, blanks none."""
    def given(way):
        return [label for i, label in enumerate(way) if label != blank and (i == 0 or way[i - 1] != label)]
    ways = [w for w in itertools.product(range(x.shape[1]), repeat=x.shape[0]) if given(w) == target]
    return max(ways, key=lambda w: sum(float(x[t, label]) for t, label in enumerate(w)))


for _ in range(times):
    for dtype in (torch.float32, torch.float64):
        for shape, order in (((2, 3, 9), 3), ((4, 8), 4), ((1, 1, 2), 1), ((3, 2, 3), 5)):
            coefficients = (shape[1], order) if len(shape) == 3 else (order,)
            x, a, b = torch.randn(shape, dtype=dtype), torch.rand(coefficients, dtype=dtype) / order, torch.randn(coefficients, dtype=dtype)
            a[..., 0] += 1
            inputs = [t.clone().requires_grad_() for t in (x, a, b)]
            y = lfilter(*inputs)
            call("lfilter", x, a, b, output=y.detach())
            if x.dim() == 3:  # torchaudio gives the end of what is padded
                call("lfilter_strides", x, a, b, output=list(torch.empty(*shape[:-1], shape[-1] + order - 1).stride()))
            call("lfilter_gradients", x, a, b, output=list(torch.autograd.grad(weigh(y), inputs)))
            out = torch.zeros(*shape[:-1], shape[-1] + order - 1, dtype=dtype)
            flipped = a.flip(-1).clone()
            result = core_loop(x, flipped, out)
            call("core_loop", x, flipped, out, output=(result, result))
        x, temp = torch.randn(2, 7, dtype=dtype), torch.rand(2, 7, dtype=dtype)
        call("overdrive", x, temp, output=overdrive(x, temp))
        for blank, clamp, softmax in ((0, -1.0, True), (3, 0.05, True), (1, -1.0, False)):
            logits = torch.randn(3, 4, 4, 5, dtype=dtype)
            if not softmax:
                logits = logits.log_softmax(-1)
            targets = torch.randint(5, (3, 3), dtype=torch.int32)
            frames, labels = torch.tensor([4, 2, 1], dtype=torch.int32), torch.tensor([2, 3, 0], dtype=torch.int32)
            x = logits.clone().requires_grad_()
            costs = rnnt(x, targets, frames, labels, blank, softmax)
            grad, = torch.autograd.grad(costs.sum(), x)  # every item has a gradient of its own, clamped before it is weighed
            if clamp > 0:
                grad = grad.clamp(-clamp, clamp)
            weighed = grad * torch.arange(1, 4).reshape(3, 1, 1, 1)
            call("rnnt", logits, targets, frames, labels, blank, clamp, softmax,
                 output=(costs.detach(), weighed, grad, grad, rnnt(logits, targets, frames, labels, blank, True)))
raising = []
for _ in range(times):
    for dtype, ints in ((torch.float32, torch.int64), (torch.float64, torch.int32), (torch.float16, torch.int64)):
        for target, blank in (([1, 2], 0), ([1, 1], 0), ([0, 1, 0], 3), ([2], 1)):
            x = torch.randn(1, 6, 4).log_softmax(-1).to(dtype)
            path = torch.tensor([align(x[0], target, blank)], dtype=ints)
            sizes = torch.tensor([6], dtype=ints), torch.tensor([len(target)], dtype=ints)
            call("align", x, torch.tensor([target], dtype=ints), *sizes, blank, output=(path, x))
for target, count, blank in (([1, 1, 1, 1], 4, 0), ([1, 9], 2, 0), ([1, -1], 2, 0), ([1, 2], 3, 0), ([1, 2], 2, 4)):
    args = (torch.zeros(1, 6, 4), torch.tensor([target]), torch.tensor([6]), torch.tensor([count]), blank)
    raising.append({"method": "align", "args": args, "kwargs": {}, "raises": ""})
torch.save({"wick_io": 1, "entry": "lfilter", "calls": calls, "raising_calls": raising}, file)
