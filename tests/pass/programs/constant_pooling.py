def numbers(x: Tensor, flag: bool):
    y = x + 1
    if flag:
        y = y * 1.5 + 1
    else:
        y = y * 1.5 - 2
    return y, 1.5
def in_a_loop(x: Tensor, n: int):
    for i in range(n):
        x = x + 7
    return x * 7.0
