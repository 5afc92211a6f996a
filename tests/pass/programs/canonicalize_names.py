def names(x: Tensor, y: Tensor, flag: bool):
    z = x * y
    if flag:
        z = z + x
    return z, x
