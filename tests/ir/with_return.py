class Guard:
    def __init__(self, by: int):
        self.by = by

    def __enter__(self) -> int:
        return self.by

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        pass


def f(x: int, guard: Guard) -> int:
    with guard as by:
        if x > 0:
            return by
        print(by)
    return x
