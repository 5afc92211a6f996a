def casts(n: int, f: float, x: Tensor):
    return float(int(f)) * 1, n * 1 + 0, int(n), bool(bool(n)), x + n
def nones(x: Tensor):
    y: Optional[Tensor] = x
    assert y is not None
    return y * 2
def lists(x: Tensor, y: Tensor):
    l = [x, y]
    return l[0] * l[1], len(l)
