def f(x: Tensor, y: Tensor) -> List[Tensor]:
    return [torch.einsum(x, [0, 1], y, [1, 2], [0, 2]), torch.einsum(x, [1, 0], y, [30, 2], [2, 30, 0, 1]),
            torch.einsum(x, [27, 1], y, [1, 0]), torch.einsum(x, [0, 0])]


def too_large(x: Tensor) -> Tensor:
    return torch.einsum(x, [0, 52])
