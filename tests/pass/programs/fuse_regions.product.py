# with: inliner constant_propagation fuse_regions
def with_relu(x: Tensor, y: Tensor):
    a, b = x.repeat([4, 3]), y.repeat([3, 2])
    return torch.relu(torch.matmul(a, a.t())), torch.gelu(torch.mm(a, a.t())), torch.sigmoid(torch.matmul(a.t(), a))
def with_bias(x: Tensor, b: Tensor):
    a = x.repeat([4, 3])
    return torch.tanh(torch.matmul(a, a.t()) + b.repeat([4, 4])[0]), b[0] + torch.mm(a.t(), a)
def scaled(x: Tensor, y: Tensor):
    a = x.repeat([4, 3])
    return torch.matmul(a, a.t()) / 8.0 + y.repeat([4, 4]), torch.matmul(a, a.t()) * 0.5
def residual(x: Tensor, y: Tensor, b: Tensor):
    a = x.repeat([4, 4])
    row = torch.matmul(a, b.repeat([4, 4]))[0]
    return torch.relu(y.repeat([4, 4]) + (torch.matmul(a, a) + row))
def function_before_the_sum(x: Tensor, y: Tensor):
    a = x.repeat([4, 4])
    return torch.gelu(torch.matmul(a, a)) + y.repeat([4, 4])
def two_products(x: Tensor, y: Tensor, b: Tensor):
    return torch.tanh(torch.matmul(x, y) + torch.matmul(y, x) + b)
def by_bmm(x: Tensor, y: Tensor):
    a, b = x.repeat([2, 4, 3]), y.repeat([2, 4, 3])
    return torch.relu(torch.bmm(a, b.transpose(1, 2)) * 2.0), torch.bmm(a, b.transpose(1, 2)) + a[:, :, :1]
def by_addmm(x: Tensor, y: Tensor, b: Tensor):
    a, c = x.repeat([4, 4]), y.repeat([4, 4])
    return torch.relu(torch.addmm(b[0].repeat([4]), a, c)), torch.silu(torch.addmm(c, a, c, beta=0.5, alpha=2))
def by_baddbmm(x: Tensor, y: Tensor, b: Tensor):
    a = x.repeat([2, 4, 4])
    return torch.sigmoid(torch.baddbmm(y.repeat([2, 4, 4]), a, a)), torch.relu(torch.baddbmm(b, a, a, beta=2))
def ranks(x: Tensor, y: Tensor):
    a, b = x.repeat([2, 4, 3]), y.repeat([3, 2, 3, 4])
    return torch.relu(torch.matmul(a, b)), torch.relu(torch.matmul(a, b[0, 0])), torch.relu(torch.matmul(a[0], b))
def vectors(x: Tensor, y: Tensor):
    v = y.flatten()[:1].repeat([x.size(-1)])
    return torch.relu(torch.matmul(x, v)), torch.relu(torch.matmul(v, v)), torch.relu(torch.matmul(v, x.t()))
def masked(x: Tensor, y: Tensor):
    a = x.repeat([2, 3, 4, 4])
    return torch.relu(torch.matmul(a, a.transpose(2, 3)) / 4.0 + y.repeat([4, 4])[:, :a.size(2)])
def softmax_that_is_used_twice(x: Tensor, y: Tensor):
    a = x.repeat([2, 4, 3])
    weights = torch.softmax(torch.matmul(a, a.transpose(1, 2)) / 2.0, -1)
    return torch.matmul(weights, a) + 1.0, weights
def written_between(x: Tensor, y: Tensor):
    a, t = x.repeat([4, 4]), y.repeat([4, 4])
    t = torch.matmul(a, t)
    u = torch.matmul(a, a)
    t.mul_(3)
    return torch.elu(u + t), t
def with_norm(x: Tensor, y: Tensor):
    a = x.repeat([4, 4]).float()
    s = a[0].abs() + 0.5
    product = torch.batch_norm(torch.matmul(a, a), s, s, s, s, False, 0.1, 1e-5, False)
    layer = torch.relu(torch.batch_norm(torch.linear(a, a), None, None, s, s, False, 0.1, 1e-5, False))
    return product, layer
def with_norm_of_batches(x: Tensor, w: Tensor):
    a = x.repeat([2, 4, 4]).float()
    s = a[0, 0].abs() + 0.5
    return torch.batch_norm(torch.linear(a, a[0]), s, s, s, s, False, 0.1, 1e-5, False)
def fails_sizes(x: Tensor, y: Tensor):
    return torch.relu(torch.matmul(x, torch.ones([1000, 2])))
def fails_sum(x: Tensor, y: Tensor):
    return torch.relu(torch.matmul(x.repeat([2, 2]), x.repeat([2, 2])) + torch.ones([1000, 2]))
