def counted(x: Tensor, n: int):
    for i in range(n):
        x = x * (i + 1)
    return x
def conditional(x: Tensor, n: int):
    k = 0
    while k < n:
        x = x + k
        k += 1
    return x, k
def broken(x: Tensor, y: Tensor, n: int):
    for i in range(n):
        x.add_(y)
        if i == 1:
            break
    return x
