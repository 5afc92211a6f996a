# with: inliner constant_propagation fuse_regions use_variadic_cat concat_in_place
# tolerance: 1e-4
# another error: what the last ones read is made before the first
def two(x: Tensor):
    w = torch.ones([2, 3, 1, 1]) * 0.25
    v = torch.ones([3, 3, 3, 3]) * -0.25
    return torch.cat([torch.relu(torch.conv2d(x, w)), torch.relu(torch.conv2d(x, v, None, [1, 1], [1, 1]))], 1)
def four_of_two_inputs(x: Tensor, y: Tensor):
    w = torch.ones([1, 3, 1, 1]) * 0.25
    v = torch.ones([5, 3, 1, 1]) * -0.5
    a = torch.nn.functional.silu(torch.conv2d(x, w))
    b = torch.relu(torch.conv2d(y, v))
    c = torch.relu(torch.conv2d(torch.neg(x), w))
    d = torch.sigmoid(torch.conv2d(torch.neg(y), v))
    return torch.cat([a, b, c, d], 1), x + 1
def fails_of_other_sizes(x: Tensor, y: Tensor):
    w = torch.ones([2, 3, 1, 1]) * 0.25
    v = torch.ones([2, 3, 2, 2]) * 0.25
    return torch.cat([torch.relu(torch.conv2d(x, w)), torch.relu(torch.conv2d(y, v, None, [1, 1], [1, 1]))], 1)
def written_after(x: Tensor):
    w = torch.ones([2, 3, 1, 1]) * 0.25
    v = torch.ones([3, 3, 1, 1]) * -0.25
    joined = torch.cat([torch.relu(torch.conv2d(x, w)), torch.relu(torch.conv2d(x, v))], 1)
    joined.mul_(2)
    return joined, joined[:, 1:4]
