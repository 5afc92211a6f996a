def counted(x: Tensor, y: Tensor, n: int):
    for i in range(n * 5):
        x = x * 0.5 + y
    return x
def writes(x: Tensor, n: int):
    k = 0
    for i in range(n + 8):
        x.add_(i)
        k += i
    return x, k
def nested(x: Tensor, n: int):
    l = [x]
    for i in range(n):
        for j in range(i):
            l.append(x + j)
    return l
def views(x: Tensor, n: int):
    y = x
    for i in range(n):
        y = y.unsqueeze(0)
    return y
