def sums(x: Tensor, n: int):
    return x + (n + 1 + 2 - 4), n * 1, (n - 1) - 2, (n * 2) * 1, 3 + n + 4
def conversions(n: int, f: float, flag: bool):
    return int(int(f)), float(float(n)), bool(bool(n)), not (not flag), n // 1
def overflow(n: int):
    k = n + 9223372036854775807 - 5
    m = n - 9223372036854775807 - 5
    return k, m
def branch(x: Tensor, flag: bool):
    if flag:
        y = True
    else:
        y = False
    return x * int(y), y
