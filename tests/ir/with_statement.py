class Increment:
    def __init__(self, by: int):
        self.by = by

    def __enter__(self) -> int:
        return self.by

    def __exit__(self, type: Any, value: Any, traceback: Any) -> Tensor:
        return torch.zeros(1)


def f(x: Tensor, c: Increment):
    with c as increment:
        y = x + increment
    return y
