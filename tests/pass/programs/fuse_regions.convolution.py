# with: inliner constant_propagation fuse_regions
# tolerance: 1e-4
def with_relu(x: Tensor):
    w = torch.ones([2, 3, 2, 2]) * 0.25
    return torch.relu(torch.conv2d(x, w))
def with_norm(x: Tensor):
    w = torch.ones([2, 3, 2, 2]) * 0.25
    s = torch.tensor([0.5, 2.0])
    return torch.batch_norm(torch.conv2d(x, w, s), s, s, s, s, False, 0.1, 1e-5, False)
def with_sum(x: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    return torch.relu(torch.conv2d(x, w) + x)
def with_hardtanh(x: Tensor):
    w = torch.ones([2, 3, 3, 3]) * 0.25
    return torch.nn.functional.hardtanh(torch.conv2d(x, w, None, [2, 2], [1, 1]), 0.0, 6.0)
def sum_with_gaps(x: Tensor, y: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    wide = torch.cat([y, y], 3)[:, :, :, 1:y.size(3) + 1]
    return torch.relu(torch.conv2d(x, w) + wide)
def sum_by_columns(x: Tensor, y: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    columns = y.transpose(2, 3).contiguous().transpose(2, 3)
    return torch.relu(torch.conv2d(x, w) + columns)
def sum_on_columns(x: Tensor, y: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    columns = y.transpose(2, 3).contiguous().transpose(2, 3)
    return torch.sigmoid(columns + torch.conv2d(x, w))
def sum_of_another(x: Tensor, y: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    return torch.relu(torch.conv2d(x, w) + y)
def written(x: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    y = torch.conv2d(x, w)
    return y.relu_()
def with_silu(x: Tensor):
    w = torch.ones([3, 1, 3, 3]) * 0.25
    return torch.nn.functional.silu(torch.conv2d(x, w, groups=3))
def with_gate(x: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    gate = torch.sigmoid(torch.conv2d(torch.nn.functional.adaptive_avg_pool2d(x, [1, 1]), w))
    return torch.conv2d(gate * x, w)
def with_second_gate(x: Tensor, y: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    gate = torch.nn.functional.hardsigmoid(torch.conv2d(y, w))
    return torch.relu(torch.conv2d(x * gate, w) + x)
def of_the_same_size(x: Tensor):
    w = torch.ones([2, 3, 2, 3]) * 0.25
    return torch.relu(torch.conv2d(x, w, None, [1, 1], 'same'))
