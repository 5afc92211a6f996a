# with: inliner constant_propagation fuse_regions
# tolerance: 1e-5
# another error: what masks and values are made of is done before the first product
def plain(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y), -1), z)
def scaled(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y.transpose(-2, -1)) * 0.5, -1), z)
def divided(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y) / 2.0, -1), z)
def masked(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y) * 0.5 + x, -1), z)
def mask_first(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(z + torch.matmul(x, y), -1), y)
def hidden(x: Tensor, y: Tensor, z: Tensor):
    scores = (torch.matmul(x, y) * 0.5).masked_fill(x > 0.5, float('-inf'))
    return torch.matmul(torch.softmax(scores, -1), z)
def nothing_left(x: Tensor, y: Tensor):
    scores = torch.matmul(x, y).masked_fill(x == x, float('-inf'))
    return torch.matmul(torch.softmax(scores, -1), y)
def hidden_by_an_int(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y).masked_fill(x > 0, 3), -1), z)
def too_great_a_number(x: Tensor, y: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y).masked_fill(x > 0, -1e300), -1), y)
def all_of_it(x: Tensor, y: Tensor, z: Tensor):
    scores = torch.matmul(x, y) * 3 + z
    return torch.matmul(torch.softmax(scores.masked_fill(z > x, -1e9), -1), z)
def first_dimension(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y), 0), z)
def last_of_two(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y), 1), z)
def idle_dropout(x: Tensor, y: Tensor, z: Tensor):
    weights = torch.dropout(torch.softmax(torch.matmul(x, y), -1), 0.5, False)
    return torch.matmul(weights, z)
def heads(x: Tensor, y: Tensor, z: Tensor):
    q = x.expand([2, 2, 3, 3])
    scores = torch.matmul(q, y.t()) * 0.5
    return torch.matmul(torch.softmax(scores + z, -1), z.expand([1, 2, 3, 3]))
def heads_of_batches(x: Tensor, y: Tensor, z: Tensor):
    q = torch.stack([x, x + 1, x * 2])
    k = torch.stack([y, y, y - 1]).transpose(1, 2)
    v = torch.stack([z, z * 3, z])
    return torch.bmm(torch.softmax(torch.bmm(q, k), -1), v)
def mask_in_the_product(x: Tensor, y: Tensor, z: Tensor):
    q = torch.stack([x, x + 1, x * 2])
    return torch.bmm(torch.softmax(torch.baddbmm(z, q, q.transpose(1, 2)), -1), q)
def fails_batches_that_do_not_fit(x: Tensor, y: Tensor):
    return torch.bmm(torch.softmax(torch.bmm(x.unsqueeze(0), torch.stack([y, y])), -1), y.unsqueeze(0))
def mask_of_more_dimensions(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x, y) + z.unsqueeze(0), -1), z)
def not_a_number(x: Tensor, y: Tensor, z: Tensor):
    return torch.matmul(torch.softmax(torch.matmul(x / 0.0, y), -1), z)
def twice(x: Tensor, y: Tensor, z: Tensor):
    a = torch.matmul(torch.softmax(torch.matmul(x, y), -1), z)
    return torch.matmul(torch.softmax(torch.matmul(a, a), -1), a)
def written_before(x: Tensor, y: Tensor, z: Tensor):
    x.add_(1)
    return torch.matmul(torch.softmax(torch.matmul(x, y), -1), z)
def mask_by_factors_of_one(x: Tensor, y: Tensor, z: Tensor):
    return torch.bmm(torch.softmax(torch.baddbmm(x, y, z, beta=1.0, alpha=1.0), -1), z)
