def two(x: Tensor):
    a, b = torch.chunk(x, 2, 0)
    return a, b
def last_dimension(x: Tensor, y: Tensor):
    a, b, c = torch.chunk(x * y, 3, -1)
    return a + b, c
def written_to(x: Tensor):
    y = x * 2
    a, b, c = y.chunk(3, 1)
    a.add_(b)
    return y, a, c
