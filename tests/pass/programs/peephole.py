def neutral(x: Tensor, y: Tensor):
    return x * 1 + 0, (x * y) - 0, x / 1
def neutral_is_given(x: Tensor):
    y = x * 1
    y.add_(1)
    return y, x, x.dim()
def expanded(x: Tensor, y: Tensor):
    return x.expand(x.size()) * y, x.expand_as(x)
def twice_turned(x: Tensor):
    return x.t().t() + 1, x.dim()
def casts(x: Tensor, y: Tensor):
    return x.type_as(x) * y, x.type_as(y)
def facts(x: Tensor, y: Tensor):
    return x.dim(), x.size(), x.is_floating_point(), y.dtype, x.is_cuda, y.is_complex(), x.device
def numbers(x: Tensor, n: int, f: float):
    k = n * 1 + 0 + 3 - 1
    return x + k, float(int(f)) * 1, bool(k), n // 1
def lists(x: Tensor, y: Tensor):
    l = [x, y, x * y]
    a, b, c = l
    return l[1] + a, len(l), l[0:2], c
def dicts(x: Tensor, y: Tensor):
    d = {"a": x, "b": y}
    return d["a"] * d["b"], len(d)
def branches(x: Tensor, flag: bool):
    if not (not flag):
        y = x + 1
    else:
        y = x + 1
    return y
def nones(x: Tensor):
    y: Optional[Tensor] = x
    if y is None:
        return x + 1
    return y * 2
def turned_twice_and_given_on(x: Tensor, y: Tensor):
    return x.t().t().type_as(x), (y * 2).t().t() + 1
