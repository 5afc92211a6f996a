# with: inliner constant_propagation fuse_regions
def two(x: Tensor, w: Tensor, v: Tensor):
    return torch.linear(x, w), torch.linear(x, v)
def with_biases(x: Tensor, w: Tensor, b: Tensor):
    return [torch.linear(x, w, b), torch.linear(x, w), torch.linear(x, w, x)]
def rows_enough(x: Tensor, w: Tensor, v: Tensor):
    rows = x.repeat([4, 3])
    a, b = w.repeat([3, 3]), v.repeat([2, 3])
    return torch.linear(rows, a, a.select(1, 0)), torch.linear(rows, b), torch.linear(rows, a)
def many_rows(x: Tensor, w: Tensor):
    rows = x.repeat([100, 2]).unsqueeze(0)
    a = w.repeat([20, 2])
    b = a + 1
    q, k, v = torch.linear(rows, a), torch.linear(rows, b, a[:, 0]), torch.linear(rows, a[:7])
    return q.transpose(1, 2), k, v
def rows_with_gaps(x: Tensor, w: Tensor):
    rows = x.repeat([5, 2])
    a = w.repeat([2, 2])
    b = a * 2
    first, second = rows.t().contiguous().t(), rows.unsqueeze(0).expand([2, -1, -1])
    return [torch.linear(first, a), torch.linear(first, b), torch.linear(second, a), torch.linear(second, b)]
def turned_weight(x: Tensor, w: Tensor):
    rows = x.repeat([4, 2])
    a = w.repeat([2, 2])
    return torch.linear(rows, a), torch.linear(rows, a.t())
def fails_second_weight(x: Tensor, w: Tensor):
    rows = x.repeat([4, 2])
    a = w.repeat([2, 2])
    wide = torch.ones([6, a.size(-1) + 1], dtype=a.dtype)
    return torch.linear(rows, a), torch.linear(rows, wide)
def fails_second_bias(x: Tensor, w: Tensor):
    rows = x.repeat([4, 2])
    a = w.repeat([2, 2])
    return torch.linear(rows, a), torch.linear(rows, a, torch.ones([7]))
def written_after(x: Tensor, w: Tensor, v: Tensor):
    rows = x.repeat([4, 2])
    a, b = w.repeat([2, 2]), v.repeat([3, 2])
    p, q = torch.linear(rows, a), torch.linear(rows, b)
    p.add_(1)
    rows.mul_(2)
    return p, q, torch.linear(rows, a), torch.linear(rows, b)
def heads(x: Tensor, w: Tensor, v: Tensor):
    rows = x.repeat([4, 2])
    a, b = w.repeat([2, 2]), v.repeat([2, 2])
    q = torch.linear(rows, a).view([-1, 2, a.size(0) // 2])
    k = torch.linear(rows, b).view([-1, 2, b.size(0) // 2])
    return q, k
def in_a_branch(x: Tensor, w: Tensor, flag: bool):
    rows = x.repeat([4, 2])
    a = w.repeat([2, 2])
    b = a + 1
    if flag:
        p, q = torch.linear(rows, a), torch.linear(rows, b)
    else:
        p, q = torch.linear(rows, b), torch.linear(rows, a)
    return p * 2, q
def gated(x: Tensor, w: Tensor, v: Tensor):
    rows, a, b = x.repeat([4, 3]), w.repeat([3, 3]), v.repeat([3, 3])
    return torch.silu(torch.linear(rows, a)) * torch.linear(rows, b)
def functions(x: Tensor, w: Tensor, v: Tensor):
    rows, a, b = x.repeat([4, 3]), w.repeat([3, 3]), v.repeat([3, 3])
    first, second = torch.linear(rows, a), torch.linear(rows, b)
    return torch.relu(first), torch.tanh(second * 0.5), torch.linear(rows, a + 1)
def functions_of_a_row(x: Tensor, w: Tensor, v: Tensor):
    row, a, b = x.repeat([1, 3])[:1], w.repeat([3, 3]), v.repeat([3, 3])
    return torch.gelu(torch.linear(row, a)), torch.sigmoid(torch.linear(row, b, a[0]))
def functions_of_many_rows(x: Tensor, w: Tensor):
    rows = x.repeat([100, 2]).unsqueeze(0)
    a = w.repeat([20, 2])
    return torch.relu(torch.linear(rows, a)), torch.gelu(torch.linear(rows, a + 1)) + 1.0
def sums_of_joined(x: Tensor, w: Tensor, v: Tensor):
    rows, a, b = x.repeat([4, 3]), w.repeat([3, 3]), v.repeat([3, 3])
    return torch.relu(torch.linear(rows, a) + torch.linear(rows, b))
def function_of_one_used_twice(x: Tensor, w: Tensor, v: Tensor):
    rows, a, b = x.repeat([4, 3]), w.repeat([3, 3]), v.repeat([3, 3])
    first, second = torch.linear(rows, a), torch.linear(rows, b)
    return torch.relu(first), first, torch.relu(second)
