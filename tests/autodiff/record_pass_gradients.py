#!/usr/bin/env python3
"""Records tests/data/pass_gradients.pt with PyTorch: functions that passes have something to do with, beside those of
record_check_ad.py, with results and gradients, for tests/unit/pass/test_pass_gradients.c."""
import sys

import torch
from record_check_ad import i, p, record_text, t

torch.manual_seed(23)


def frozen(tensor):
    return tensor.detach()


CASES = [
    ('counted_loop', (t(3), t(3)), '''
def f(x, y):
    for i in range(4):
        y = torch.tanh(x * y) + x.exp() * i
    return y
'''),
    ('long_loop', (t(3), t(3)), '''
def f(x, y):
    for i in range(70):
        y = torch.tanh(x * y) * 0.99
    return y
'''),
    ('loop_over_sizes', (t(5, 2), t(2)), '''
def f(x, y):
    for i in range(x.size(0)):
        y = (y * x[i]).sin() + x.sum()
    return y
'''),
    ('loop_with_break', (t(6, 2), t(2)), '''
def f(x, y):
    for i in range(x.size(0)):
        if i == 3:
            break
        y = y * x[i] + i
    return y
'''),
    ('while_loop', (t(3), t(3)), '''
def f(x, y):
    n = 0
    while n < 5:
        y = y * x + y
        n += 2
    return y * n
'''),
    ('loop_in_loop', (t(3), t(3)), '''
def f(x, y):
    for i in range(2):
        for k in range(3):
            y = y * x + x.cos()
        y = y / (i + 2)
    return y
'''),
    ('branches', (t(3), t(3)), '''
def f(x, y):
    if bool((x.sum() < 100.).item()):
        z = x * y
        w = z + 1
    else:
        w = x - y
        z = w
    return z * w, w
'''),
    ('early_return', (t(3), t(3)), '''
def f(x, y):
    if x.dim() == 1:
        return x * y.exp()
    return x + y
'''),
    ('in_place_on_fresh', (t(3), t(3)), '''
def f(x, y):
    z = x * y
    z.mul_(y)
    z.add_(x, alpha=2)
    z += 1.
    return z.relu_()
'''),
    ('in_place_on_view', (t(3, 2), t(2)), '''
def f(x, y):
    z = x * 1.5
    z[1].mul_(y)
    z[0] = y * y
    z[:, 1].add_(x[:, 0])
    return z * x
'''),
    ('in_place_in_loop', (t(3), t(3)), '''
def f(x, y):
    z = torch.zeros_like(x)
    for i in range(3):
        z.add_(x * y)
        z.mul_(y)
    return z
'''),
    ('in_place_between', (t(3), t(3)), '''
def f(x, y):
    z = x * y
    a = z * 1
    z.add_(x)
    b = z * 1
    return a * b + z
'''),
    ('same_before_and_after_write', (t(3), t(3)), '''
def f(x, y):
    z = x * 2.
    a = z + y
    z.mul_(y)
    b = z + y
    return a * b
'''),
    ('list_of_tensors', (t(2, 3), t(2, 3)), '''
def f(x, y):
    parts = [x, y * 2.]
    parts.append(x * y)
    parts += [y]
    first = parts[0]
    z = torch.cat(parts, 1)
    w = torch.stack([first, parts[2], parts[-1]])
    return z.sum(1), w.tanh() * len(parts)
'''),
    ('list_in_loop', (t(4, 3),), '''
def f(x):
    outs: List[torch.Tensor] = []
    h = x[0]
    for i in range(4):
        h = torch.tanh(h * x[i])
        outs.append(h)
    return torch.stack(outs, 1)
'''),
    ('list_and_writes', (t(3), t(3)), '''
def f(x, y):
    z = x * y
    parts = [z, y]
    z.mul_(2.)
    return torch.cat(parts, 0)
'''),
    ('cat_of_cats', (t(2, 3), t(2, 1), t(2, 2)), '''
def f(x, y, z):
    a = torch.cat([x, y], 1)
    b = torch.cat([a, z, y], 1)
    c = torch.cat([a, z], -1)
    return b.sin() * 2., c
'''),
    ('cat_in_cat', (t(2, 3), t(2, 1)), '''
def f(x, y):
    return torch.cat([y, torch.cat([x, x * y], 1), y], 1).sin()
'''),
    ('dicts', (t(3), t(3)), '''
def f(x, y):
    d = {'a': x, 'b': x * y}
    z = d['a'] * d['b']
    e = {1: z, 2: y}
    return e[1] + e[2] * len(d)
'''),
    ('tuples', (t(3), t(3)), '''
def pair(x, y):
    return x * y, (x + y, y)

def f(x, y):
    a, b = pair(x, y)
    c = (a, b)
    for i in range(2):
        a, b = pair(b[0], a)
    return a * c[0] + b[1] * c[1][0]
'''),
    ('optionals', (t(3), t(3)), '''
def add(x, y: Optional[torch.Tensor]):
    if y is None:
        return x
    else:
        return x + y

def f(x, y):
    return add(x * y, None) * add(x, y)
'''),
    ('common_work', (t(3), t(3)), '''
def f(x, y):
    a = (x * y).tanh() + (x * y)
    b = (x * y).tanh()
    return a * b, b * (y * x)
'''),
    ('without_gradients', (t(3), t(3)), '''
def f(x, y):
    a = x * y
    with torch.no_grad():
        b = x * y
        c = (x * y).tanh()
    d = (x * y).tanh()
    return a * b + c * d
'''),
    ('without_gradients_in_loop', (t(3), t(3)), '''
def f(x, y):
    for i in range(3):
        with torch.no_grad():
            w = x.exp()
        y = y * w * x.exp()
    return y
'''),
    ('detached', (t(3), t(3)), '''
def f(x, y):
    z = (x * y).detach()
    return z * x + x.detach() * y
'''),
    ('neutral', (t(2, 3), t(2, 3)), '''
def f(x, y):
    a = x * 1 + 0
    b = (y / 1.) - 0.
    c = x.t().t()
    return a * b + c * 1., x.to(torch.float64) * y
'''),
    ('sizes_and_types', (t(2, 3), t(3)), '''
def f(x, y):
    if x.dtype == torch.float64 and x.dim() == 2:
        z = x * y.expand_as(x)
    else:
        z = x
    n = x.size(0) + x.size(1) + 2 + 3
    return z.view(x.size(1), x.size(0)) * n, y.expand([2, 3]) * x
'''),
    ('implicit_expand', (t(1, 3), t(2, 1)), '''
def f(x, y):
    a, b = torch.broadcast_tensors(x, y)
    return a * b + x.expand(2, 3) * y.expand(2, 3)
'''),
    ('conversions', (t(3), t(3)), '''
def f(x, y):
    n = int(torch.tensor(3)) + int(2)
    return x * float(n) + y.to(torch.float32).to(torch.float64) * (n + 1 + 2)
'''),
    ('synonyms', (p(2, 3), t(2, 3)), '''
def f(x, y):
    a = torch.multiply(torch.absolute(x), y)
    b = torch.clip(torch.negative(a), -0.5, 0.5)
    return torch.divide(b, x), torch.subtract(a, y), torch.true_divide(y, x)
'''),
    ('sum_of_products', (t(2, 3), t(3, 2), t(2, 2)), '''
def f(x, w, b):
    s = torch.mm(x, w) + torch.mm(b, b)
    u = torch.mm(b, torch.mm(x, w)) + torch.mm(torch.mm(x, w), b)
    return torch.addmm(s + u, x, w) * b
'''),
    ('sum_of_many_products', (t(2, 3), t(3, 2), t(2, 2)), '''
def f(x, w, b):
    s = torch.mm(x, w) + torch.mm(b, b) + torch.mm(x * 2., w) + torch.mm(b + 1., b) + torch.mm(x, w * 3.)
    return s.tanh()
'''),
    ('products_with_one_operand', (t(8, 2, 2), t(2, 2)), '''
def f(x, w):
    a = torch.mm(x[0], w) + torch.mm(x[1], w).sin() + torch.mm(x[2], w).cos() + torch.mm(x[3], w).tanh()
    b = torch.mm(x[4], w).exp() + torch.mm(x[5], w).neg() + torch.mm(x[6], w).abs() + torch.mm(x[7], w).sigmoid()
    return a * b
'''),
    ('products_and_bias', (t(2, 3), t(3, 2), t(2), t(2, 2)), '''
def f(x, w, b, h):
    s = torch.addmm(b, x, w)
    u = torch.addmm(torch.mm(h, h), x, w)
    return torch.addmm(u, h, h) * s, torch.addmm(u, h, h, beta=2, alpha=3)
'''),
    ('normalisation', (t(2, 3, 4), t(3), t(3), frozen(t(3)), frozen(p(3)), t(4), t(4)), '''
def f(x, w, b, mean, var, g, h):
    y = torch.batch_norm(x, w, b, mean, var, False, 0.1, 1e-5, False)
    return torch.layer_norm(y, [4], g, h, 1e-5, False)
'''),
    ('convolution_and_norm', (t(1, 2, 4, 4), t(2, 2, 3, 3), t(2), t(2), frozen(t(2)), frozen(p(2))), '''
def f(x, w, g, b, mean, var):
    y = torch.conv2d(x, w, None, [1, 1], [1, 1], [1, 1], 1)
    y = torch.batch_norm(y, g, b, mean, var, False, 0.1, 1e-5, False)
    return torch.relu(y)
'''),
    ('dropout_in_evaluation', (t(3, 3), t(3)), '''
def f(x, y):
    z = torch.dropout(x * y, 0.5, False)
    return torch.nn.functional.dropout(z, 0.3, False) * y
'''),
    ('chunks', (t(2, 6), t(2, 2)), '''
def f(x, y):
    a, b, c = (x * 2.).chunk(3, 1)
    u, v = torch.split(y, 1, 1)
    w = torch.unbind(y, 0)
    return a.sigmoid() * b + c * y, u * v, w[0] * w[1]
'''),
    ('calls', (t(3), t(3)), '''
def inner(x, n: int):
    if n > 1:
        return x * n
    return x.tanh()

def outer(x, y):
    return inner(x, 3) * inner(y, 1)

def f(x, y):
    return outer(x, y) + outer(y, x)
'''),
    ('forks', (t(3), t(3)), '''
def work(x, y):
    return torch.tanh(x * y)

def f(x, y):
    a = torch.jit.fork(work, x, y)
    b = torch.jit.fork(work, y, y)
    return torch.jit.wait(a) * x + torch.jit.wait(b)
'''),
    ('constants', (t(3), t(3)), '''
def f(x, y):
    c = torch.ones([3]) * 2. + torch.tensor([1., 2., 3.])
    d = [1, 2] + [3]
    e = (2 + 3) * len(d)
    return x * c * e + y * d[1]
'''),
    ('unused', (t(3), t(3)), '''
def f(x, y):
    z = x * y
    w = z.exp()
    for i in range(3):
        w = w * 2.
    v = z.sin()
    return z + 1
'''),
    ('sums_of_numbers', (t(3), i(1, 2)), '''
def f(x, n):
    k = n.size(0)
    a = 2 + k + 3 + k + 4
    for i in range(k):
        a = a + i + 1
    return x * a
'''),
    ('saved_and_written', (t(3), t(3)), '''
def f(x, y):
    z = x.sin()
    w = z * y
    v = w.clone()
    v.mul_(z)
    return v + w
'''),
    ('scaled_in_place_leafs', (t(3), frozen(t(3))), '''
def f(x, buffer):
    buffer.mul_(0.5)
    buffer.add_(1.)
    z = x * buffer
    return z + buffer * x.detach()
'''),
    ('layers_of_one_input', (t(6, 5), t(7, 5), t(8, 5), t(8)), '''
def f(x, v, w, b):
    first = torch.nn.functional.linear(x, v)
    return torch.nn.functional.linear(x, w, b).tanh() * first.sum()
'''),
]

if __name__ == '__main__':
    torch.save([record_text(name, text.lstrip(), arguments) for name, arguments, text in CASES],
               sys.argv[1] if len(sys.argv) > 1 else 'tests/data/pass_gradients.pt')
