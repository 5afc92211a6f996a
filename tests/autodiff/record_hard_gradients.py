#!/usr/bin/env python3
"""Records tests/data/hard_gradients.pt with PyTorch: functions that differentiate themselves, for
tests/hard/test_hard_gradients.c, beside those of record_check_ad.py and record_pass_gradients.py."""
import sys

import torch
from record_check_ad import record_text, t

torch.manual_seed(31)


def frozen(*sizes):
    return t(*sizes).detach()


CASES = [
    ('sgd_steps', (frozen(4, 3), frozen(4, 1), frozen(3, 1)), '''
def f(x, y, w):
    p = w.clone().requires_grad_()
    buffers: List[Optional[torch.Tensor]] = [None]
    for k in range(3):
        loss = ((x.mm(p) - y).tanh() ** 2).sum()
        g = torch.autograd.grad([loss], [p])[0]
        assert g is not None
        with torch.no_grad():
            torch.optim._functional.sgd([p], [g], buffers, weight_decay=0.01, momentum=0.9, lr=0.1, dampening=0.1,
                                        nesterov=False, maximize=False)
    return p.detach()
'''),
    ('adam_steps', (frozen(4, 3), frozen(4, 2), frozen(3, 2), frozen(2)), '''
def f(x, y, w, b):
    params = [w.clone().requires_grad_(), b.clone().requires_grad_()]
    means, squares = [torch.zeros_like(w), torch.zeros_like(b)], [torch.zeros_like(w), torch.zeros_like(b)]
    largest: List[torch.Tensor] = []
    steps = [torch.tensor(0.), torch.tensor(0.)]
    loss = torch.zeros([])
    for k in range(3):
        loss = (torch.addmm(params[1], x, params[0]).sigmoid() - y).abs().mean()
        loss.backward()
        grads: List[torch.Tensor] = []
        for p in params:
            g = p.grad
            assert g is not None
            grads.append(g.clone())
            g.zero_()
        with torch.no_grad():
            torch.optim._functional.adam(params, grads, means, squares, largest, steps, amsgrad=False, beta1=.9,
                                         beta2=.99, lr=.1, weight_decay=.01, eps=1e-8, maximize=False)
    return params[0].detach(), params[1].detach(), loss.detach()
'''),
    ('penalty', (t(3, 2), t(2, 3)), '''
def f(x, w):
    y = torch.tanh(x.mm(w)) * 2.
    g = torch.autograd.grad([y.sum()], [x], create_graph=True)[0]
    assert g is not None
    return (g * g).sum() + y.mean(), g
'''),
    ('gradients_in_forks', (t(3), t(3)), '''
def part(x, y):
    z = (x * y).sin()
    g = torch.autograd.grad([z.sum()], [x], create_graph=True)[0]
    assert g is not None
    return g * y

def f(x, y):
    a = torch.jit.fork(part, x, y)
    b = torch.jit.fork(part, y, x)
    return torch.jit.wait(a) + torch.jit.wait(b)
'''),
    ('retained', (t(3), t(3)), '''
def f(x, y):
    z = (x * y).exp()
    total = torch.zeros_like(x)
    for k in range(3):
        g = torch.autograd.grad([(z * z).sum()], [x], retain_graph=True)[0]
        assert g is not None
        total = total + g
    return total * y, z
'''),
    ('writes_and_views', (t(4, 3), t(3)), '''
def f(x, y):
    z = x * 2.
    rows = z[1:3]
    rows.mul_(y)
    for i in range(2):
        z[i].add_(y.tanh())
        z = z * x.sigmoid()
    z.t_()
    return z, rows.sum()
'''),
    ('recurrent', (t(4, 2, 3), t(2, 3), t(3, 3), t(3)), '''
def cell(x, h, w, b):
    return torch.tanh(x + h.mm(w) * torch.sigmoid(h) + b)

def f(x, h, w, b):
    outs: List[torch.Tensor] = []
    for i in range(x.size(0)):
        h = cell(x[i], h, w, b)
        outs.append(h)
    return torch.stack(outs), h
'''),
    ('two_branches', (t(3), t(3)), '''
def f(x, y):
    z = x * y
    if bool(x.requires_grad):
        with torch.no_grad():
            scale = (z * z).sum().sqrt()
        z = z / (scale + 1.) * y.exp()
    else:
        z = z - y
    return (z * z.detach()).sum(), z
'''),
]

if __name__ == '__main__':
    torch.save([record_text(name, text, arguments) for name, arguments, text in CASES],
               sys.argv[1] if len(sys.argv) > 1 else 'tests/data/hard_gradients.pt')
