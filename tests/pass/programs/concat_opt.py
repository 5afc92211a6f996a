# another error: the list that is wrong is another
def rows(x: Tensor, y: Tensor, z: Tensor):
    return torch.cat([x, torch.cat([y, z], 0)], 0)
def columns(x: Tensor, y: Tensor, z: Tensor):
    return torch.cat([torch.cat([x, y], 1), z, torch.cat([z, x], 1)], 1)
def last(x: Tensor, y: Tensor):
    return torch.cat([torch.cat([x, y], -1), x], -1)
def alone(x: Tensor):
    return torch.cat([torch.cat([x], 0)], 0)
def of_new(x: Tensor, y: Tensor):
    return torch.cat([torch.cat([x * 2, y], 0), x + y], 0)
def promoted(x: Tensor, y: Tensor):
    return torch.cat([torch.cat([x.view(-1) > 0, (x.view(-1) * 100).to(torch.int64)]), torch.cat([y.view(-1), (y.view(-1) * 1000).half()])])
