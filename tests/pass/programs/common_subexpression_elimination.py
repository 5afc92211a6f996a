def products(x: Tensor, y: Tensor):
    return x * y + x * y
def both_are_given(x: Tensor, y: Tensor):
    a = (x + y).tanh()
    b = (x + y).tanh()
    return a, b
def one_is_written_to(x: Tensor, y: Tensor):
    a = x * y
    b = x * y
    c = (x * 2).sum() + (x * 2).sum()
    a.add_(1)
    return a, b, c
def views(x: Tensor, n: int):
    a = x.unsqueeze(0)
    b = x.unsqueeze(0)
    c = n * 3 + n * 3
    return a, b, c
def in_branches(x: Tensor, y: Tensor, flag: bool):
    a = x.exp()
    if flag:
        a = a + x.exp() * y
    else:
        a = x.exp() - y
    return a
def random(x: Tensor):
    a = torch.rand_like(x) + x.abs() + x.abs()
    return a + torch.rand_like(x)
def self_is_written_to(x: Tensor, n: int):
    a = x + 1
    x.add_(1)
    b = x + 1
    return a, b, n * 3 + n * 3
def no_grad(x: Tensor, n: int):
    a = x * 2
    with torch.no_grad():
        b = x * 2
    return a, b, n * 3 + n * 3
def lists(x: Tensor, y: Tensor, n: int):
    a = [x, y]
    b = [x, y]
    a.append(x)
    b.append(y)
    return a, b, n * 3 + n * 3
