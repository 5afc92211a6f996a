def f(i: int):
    while i < 5:
        if i == 3:
            i += 1
            continue
        i += 2
    return i
