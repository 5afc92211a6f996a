def f(a, b, c):
    d = a + b
    if c:
        e = d + d
    else:
        e = b + d
    return e
