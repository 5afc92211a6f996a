def f(i: int):
    if i < 0:
        raise Exception("Negative input")
    else:
        return math.sqrt(i)
    print(i)  # unreachable code
