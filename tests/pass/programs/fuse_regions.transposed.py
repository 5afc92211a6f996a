# with: inliner constant_propagation fuse_regions
# tolerance: 1e-4
def with_relu(x: Tensor):
    w = torch.ones([3, 2, 2, 2]) * 0.25
    return torch.relu(torch.conv_transpose2d(x, w, None, [2, 2]))
def with_norm(x: Tensor):
    w = torch.ones([3, 2, 2, 2]) * 0.25
    s = torch.tensor([0.5, 2.0])
    return torch.batch_norm(torch.conv_transpose2d(x, w, s), s, s, s, s, False, 0.1, 1e-5, False)
def with_norm_and_silu(x: Tensor):
    w = torch.ones([3, 2, 4, 4]) * 0.25
    s = torch.tensor([0.5, 2.0])
    return torch.nn.functional.silu(torch.batch_norm(torch.conv_transpose2d(x, w, None, [2, 2], [1, 1]), s, s, s, s, False, 0.1, 1e-5, False))
def with_sum(x: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    return torch.tanh(torch.conv_transpose2d(x, w) + x)
def sum_first(x: Tensor, y: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    return torch.sigmoid(y + torch.conv_transpose2d(x, w))
def in_groups(x: Tensor):
    w = torch.ones([3, 2, 3, 3]) * 0.25
    return torch.gelu(torch.conv_transpose2d(x, w, None, [3, 2], [1, 1], [1, 0], 3))
def of_lines(x: Tensor):
    w = torch.ones([3, 2, 4]) * 0.25
    return torch.relu(torch.conv_transpose1d(x.flatten(2), w, None, [2], [1], [0], 1, [2]))
def of_volumes(x: Tensor):
    w = torch.ones([3, 2, 2, 2, 2]) * 0.25
    return torch.hardswish(torch.conv_transpose3d(x.unsqueeze(-1), w, None, [2, 1, 2]))
def convolution(x: Tensor):
    w = torch.ones([3, 3, 3, 3]) * 0.25
    up = torch.relu(torch.convolution(x, w, None, [2, 2], [1, 1], [1, 1], True, [1, 1], 1))
    down = torch.relu(torch.convolution(x, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1))
    return up, down
def traced(x: Tensor):
    w, s = torch.ones([3, 3, 3, 3]) * 0.25, torch.tensor([0.5, 2.0, 1.0])
    up = torch._convolution(x, w, s, [2, 2], [1, 1], [1, 1], True, [1, 1], 1, False, False, True, True)
    down = torch._convolution(up, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1, False, False, True, True)
    return torch.leaky_relu(torch.batch_norm(down, s, s, s, s, False, 0.1, 1e-5, False), 0.1)
def depends(x: Tensor, turned: bool):
    w = torch.ones([3, 3, 3, 3]) * 0.25
    return torch.relu(torch.convolution(x, w, None, [1, 1], [1, 1], [1, 1], turned, [0, 0], 1))
def joined(x: Tensor):
    w = torch.ones([3, 2, 2, 2]) * 0.25
    return torch.cat([torch.relu(torch.conv_transpose2d(x, w)), torch.tanh(torch.conv_transpose2d(x * 2, w))], 1)
def joined_with_another(x: Tensor):
    w = torch.ones([3, 3, 1, 1]) * 0.25
    return torch.cat([torch.relu(torch.conv_transpose2d(x, w)), torch.relu(torch.conv2d(x, w))], 1)
def unbatched(x: Tensor):
    w = torch.ones([3, 2, 2, 2]) * 0.25
    return torch.relu(torch.conv_transpose2d(x[0], w))
def fails_channels(x: Tensor):
    w = torch.ones([5, 3, 2, 2]) * 0.25
    return torch.relu(torch.conv_transpose2d(x, w))
