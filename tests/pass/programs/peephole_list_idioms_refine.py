def tested(x: Tensor, l: List[Tensor]):
    if len(l) == 3:
        return x + len(l)
    return x * len(l)
def raised(x: Tensor, l: List[int]):
    if len(l) != 3:
        raise ValueError("three")
    a, b, c = l
    return x + len(l) + a + b + c
def other(x: Tensor, l: List[int]):
    assert len(l) == 3
    return x + len(l)
