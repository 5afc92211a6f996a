def live(x: Tensor, y: Tensor, n: int):
    z = x * y
    for i in range(n):
        z = z + y
    return z
