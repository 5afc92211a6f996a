class Guard:
    def __init__(self, by: int):
        self.by = by

    def __enter__(self) -> int:
        return self.by

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        pass


# Values made in a with block behind an early exit and read after it; PyTorch 1.13 fails an assertion at these, so the
# results recorded are Python's.
def returned(x: int) -> int:
    with Guard(3) as by:
        if x > 0:
            return by
        x = x + by
    return x


def left_loop(x: int) -> int:
    y = 0
    for i in range(x):
        with Guard(3) as by, Guard(4) as more:
            if i == 2:
                break
            y += by + more
        y += 100
    return y


def returned_from_loop(x: int) -> int:
    y = 0
    for i in range(x):
        with Guard(3) as by:
            if i == 2:
                return y
            y += by
        y += 100
    return y + 1
