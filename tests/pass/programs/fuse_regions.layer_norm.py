# with: inliner constant_propagation fuse_regions
def first(x: Tensor, w: Tensor):
    a = w.repeat([3, 3])
    return torch.relu(torch.linear(torch.layer_norm(x.repeat([4, 3]), [9]), a))
def scaled(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    g, b = a[0], rows[0]
    y = torch.linear(torch.layer_norm(rows, [9], g, b, 0.5), a, b)
    return y, torch.linear(torch.layer_norm(rows[0], [9], g), a)
def of_two_dimensions(x: Tensor, w: Tensor):
    rows, a = x.repeat([2, 4, 3]), w.repeat([3, 3])
    return torch.linear(torch.layer_norm(rows, rows.size()[1:]), a) + rows
def turned(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 4])
    return torch.linear(torch.layer_norm(rows.t(), [12]), a)
def used_twice(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    n = torch.layer_norm(rows, [9])
    return torch.linear(n, a) + n
def written_between(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    n = torch.layer_norm(rows, [9])
    rows.add_(1)
    y = torch.linear(n, a)
    return y, rows
def after_a_layer(x: Tensor, w: Tensor):
    rows, a = x.repeat([4, 3]), w.repeat([3, 3])
    y = torch.linear(rows, a) + rows
    return torch.linear(torch.layer_norm(y, [9]), a) + y
def fails_sizes(x: Tensor, w: Tensor):
    return torch.linear(torch.layer_norm(x.repeat([4, 3]), [8]), w.repeat([3, 3]))
def fails_weights(x: Tensor, w: Tensor):
    return torch.linear(torch.layer_norm(x.repeat([4, 3]), [9]), w.repeat([3, 2]))
