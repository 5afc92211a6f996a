def appended(x: Tensor, y: Tensor):
    l = [x]
    l.append(y)
    l.append(x * y)
    return torch.stack(l), l
def numbers(x: Tensor, n: int):
    l = [1]
    l.append(n)
    return l, x
def given_twice(x: Tensor, y: Tensor):
    l = [x]
    l.append(y)
    m = l
    return l, m
def shown_before(x: Tensor, y: Tensor):
    l = [x, y]
    k = len(l)
    l.append(x)
    m = [y]
    m.append(x)
    return l, k, m
