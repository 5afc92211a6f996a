# with: inliner constant_propagation fuse_regions
# tolerance: 1e-4
def clamped(x: Tensor):
    image = torch.arange(1200, dtype=x.dtype).reshape([1, 3, 20, 20]) * 0.001 + x.mean()
    w = torch.arange(60, dtype=x.dtype).reshape([20, 3, 1, 1]) * 0.01 - 0.3
    d = torch.arange(180, dtype=x.dtype).reshape([20, 1, 3, 3]) * 0.01 - 0.9
    y = torch.nn.functional.hardtanh(torch.conv2d(image, w), 0.0, 6.0)
    return torch.nn.functional.hardtanh(torch.conv2d(y, d, None, [1, 1], [1, 1], [1, 1], 20), 0.0, 6.0)
def normalized(x: Tensor):
    image = torch.arange(2400, dtype=x.dtype).reshape([2, 3, 20, 20]) * 0.001 + x.mean()
    w = torch.arange(48, dtype=x.dtype).reshape([16, 3, 1, 1]) * 0.01 - 0.3
    d = torch.arange(400, dtype=x.dtype).reshape([16, 1, 5, 5]) * 0.01 - 0.9
    s = torch.arange(16, dtype=x.dtype) * 0.1 + 0.5
    y = torch.nn.functional.hardswish(torch.batch_norm(torch.conv2d(image, w), s, s, s, s, False, 0.1, 1e-5, False))
    z = torch.conv2d(y, d, s, [2, 2], [2, 2], [1, 1], 16)
    return torch.batch_norm(z, None, s, s, s, False, 0.1, 1e-5, False)
def rows_in_strips(x: Tensor):
    image = torch.arange(614400, dtype=x.dtype).reshape([1, 6, 160, 640]) * 1e-6 + x.mean()
    w = torch.arange(54, dtype=x.dtype).reshape([9, 6, 1, 1]) * 0.01 - 0.3
    d = torch.arange(441, dtype=x.dtype).reshape([9, 1, 7, 7]) * 0.001 - 0.2
    y = torch.nn.functional.silu(torch.conv2d(image, w))
    return torch.relu(torch.conv2d(y, d, None, [1, 1], [3, 3], [1, 1], 9))
def with_sum_behind(x: Tensor, y: Tensor):
    image = torch.arange(1200, dtype=x.dtype).reshape([1, 3, 20, 20]) * 0.001 + x.mean()
    w = torch.arange(48, dtype=x.dtype).reshape([16, 3, 1, 1]) * 0.01 - 0.3
    d = torch.arange(144, dtype=x.dtype).reshape([16, 1, 3, 3]) * 0.01 - 0.9
    middle = torch.relu(torch.conv2d(image, w))
    return torch.conv2d(middle, d, None, [1, 1], [1, 1], [1, 1], 16) + y.sum().expand([1, 16, 20, 20])
def groups_of_two(x: Tensor):
    image = torch.arange(1200, dtype=x.dtype).reshape([1, 3, 20, 20]) * 0.001 + x.mean()
    w = torch.arange(48, dtype=x.dtype).reshape([16, 3, 1, 1]) * 0.01 - 0.3
    d = torch.arange(288, dtype=x.dtype).reshape([16, 2, 3, 3]) * 0.01 - 0.9
    y = torch.relu(torch.conv2d(image, w))
    return torch.relu(torch.conv2d(y, d, None, [1, 1], [1, 1], [1, 1], 8))
def more_results_than_planes(x: Tensor):
    image = torch.arange(1200, dtype=x.dtype).reshape([1, 3, 20, 20]) * 0.001 + x.mean()
    w = torch.arange(48, dtype=x.dtype).reshape([16, 3, 1, 1]) * 0.01 - 0.3
    d = torch.arange(288, dtype=x.dtype).reshape([32, 1, 3, 3]) * 0.01 - 0.9
    y = torch.relu(torch.conv2d(image, w))
    return torch.relu(torch.conv2d(y, d, None, [1, 1], [1, 1], [1, 1], 16))
def lines(x: Tensor):
    line = torch.arange(1200, dtype=x.dtype).reshape([1, 3, 400]) * 0.001 + x.mean()
    w = torch.arange(48, dtype=x.dtype).reshape([16, 3, 1]) * 0.01 - 0.3
    d = torch.arange(48, dtype=x.dtype).reshape([16, 1, 3]) * 0.01 - 0.2
    y = torch.relu(torch.conv1d(line, w))
    return torch.relu(torch.conv1d(y, d, None, [1], [1], [1], 16))
def channels_last(x: Tensor):
    image = torch.arange(1200, dtype=x.dtype).reshape([1, 20, 20, 3]).permute([0, 3, 1, 2]) * 0.001 + x.mean()
    w = torch.arange(48, dtype=x.dtype).reshape([16, 3, 1, 1]) * 0.01 - 0.3
    d = torch.arange(144, dtype=x.dtype).reshape([16, 1, 3, 3]) * 0.01 - 0.9
    y = torch.relu(torch.conv2d(image, w))
    return torch.relu(torch.conv2d(y, d, None, [1, 1], [1, 1], [1, 1], 16))
def fails_without_that_many_channels(x: Tensor):
    image = torch.ones([1, 3, 20, 20], dtype=x.dtype)
    d = torch.ones([12, 1, 3, 3], dtype=x.dtype)
    y = torch.relu(torch.conv2d(image, torch.ones([16, 3, 1, 1], dtype=x.dtype)))
    return torch.relu(torch.conv2d(y, d, None, [1, 1], [1, 1], [1, 1], 12))
def fails_in_the_first(x: Tensor):
    image = torch.ones([1, 4, 20, 20], dtype=x.dtype)
    d = torch.ones([16, 1, 3, 3], dtype=x.dtype)
    y = torch.relu(torch.conv2d(image, torch.ones([16, 3, 1, 1], dtype=x.dtype)))
    return torch.relu(torch.conv2d(y, d, None, [1, 1], [1, 1], [1, 1], 16))
