def f(n: int, cond: bool):
    x: Optional[int] = None
    for i in range(n):
        if cond:
            if i < 3:
                x = torch.jit.annotate(Optional[int], None)
                continue
            x = 1
        else:
            x = 2
        print(x + 1)
    return x
