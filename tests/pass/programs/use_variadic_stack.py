def new(x: Tensor, y: Tensor):
    return torch.stack([x, y], 0), torch.stack([x, y, x], -1)
def one(x: Tensor):
    return torch.stack([x])
def too_far(x: Tensor):
    return torch.stack([x, x], 4)
def dtypes(x: Tensor):
    return torch.stack([x, x.double()]), torch.stack([x > 0, x > 1])
