def new(x: Tensor, y: Tensor):
    return torch.cat([x, y], 0), torch.cat([x, y, x], -1)
def one(x: Tensor):
    return torch.cat([x])
def appended(x: Tensor, y: Tensor):
    l = [x]
    l.append(y)
    a = torch.cat(l)
    return a, torch.cat([x, y.double()])
def too_far(x: Tensor):
    return torch.cat([x, x], 3)
