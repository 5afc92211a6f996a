# with: inliner constant_propagation fuse_regions
def one_after_the_other(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    b = a.select(1, 0)
    return torch.relu(torch.linear(rows, a, b)), torch.gelu(torch.linear(rows, a)), torch.tanh(rows + torch.linear(rows, a))
def few_rows(x: Tensor, w: Tensor):
    a = w.repeat([3, 3])
    row = x.repeat([1, 3])[:1]
    return torch.silu(torch.linear(row, a)), torch.hardtanh(torch.linear(row[0], a), -0.5, 0.25)
def sums_of_other_sizes(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    y = torch.linear(rows, a)
    z = torch.linear(rows, a) + y[0]
    return z, torch.sigmoid(y.unsqueeze(0) + torch.linear(rows, a))
def used_twice(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    y = torch.linear(rows, a)
    z = torch.relu(y)
    y.add_(1)
    return y, z, torch.relu(torch.linear(rows, a) + y)
def written_between(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    y = torch.linear(rows, a)
    t = y * 2
    u = torch.linear(rows, a)
    t.mul_(3)
    return torch.elu(u + t), t
def many_rows(x: Tensor, w: Tensor):
    rows = x.repeat([100, 2]).unsqueeze(0)
    a = w.repeat([20, 2])
    return torch.hardswish(torch.linear(rows, a)), torch.leaky_relu(torch.linear(rows, a), 0.2)
def fails_sizes(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    return torch.relu(torch.linear(rows, a) + torch.ones([2, 3, 1000]))
