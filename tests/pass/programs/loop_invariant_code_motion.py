def product(x: Tensor, y: Tensor, n: int):
    z = x
    for i in range(n):
        z = z + (x * y) * (n + 1)
    return z
def maybe_never(x: Tensor, y: Tensor, n: int):
    z = x
    for i in range(n - 3):
        z = z + (x.relu() - y.neg()) * (n + 1)
    return z
def writes(x: Tensor, y: Tensor, n: int):
    z = x.clone()
    for i in range(n):
        z.add_(x.neg() * (n * 2))
        x.mul_(2)
    return z
def modes(x: Tensor, n: int):
    z = x
    for i in range(n):
        with torch.no_grad():
            w = x.tanh()
        z = z + w + x.tanh() * (n + 1)
    return z
def given(x: Tensor, n: int):
    l = [x]
    for i in range(n):
        l.append(x.neg())
    m = n * 2
    for i in range(n):
        m = m + (n + 4)
    return l, m
