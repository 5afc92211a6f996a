def _g(x: Tensor, n: int):
    if n > 2:
        return x * n
    return x
def _h(x: Tensor, y: Tensor):
    x.add_(1)
    return _g(x, 3) + y
def calls(x: Tensor, n: int):
    return _g(x, n), x
def calls_that_write(x: Tensor, y: Tensor):
    z = _h(x, y)
    return z, x
def in_a_loop(x: Tensor, y: Tensor, n: int):
    for i in range(n):
        x = _h(x.clone(), y)
    return x
