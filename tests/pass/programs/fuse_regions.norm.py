# with: inliner constant_propagation fuse_regions
def stored(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    return torch.relu(torch.batch_norm(x, s, s, s, s * s, False, 0.1, 1e-5, False))
def without_weights(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    return torch.relu(torch.batch_norm(x, None, None, s, s * s, False, 0.1, 1e-5, False))
def over_what_dies(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    return torch.relu(torch.batch_norm(x * 2, s, None, s, s * s, False, 0.1, 1e-5, False))
def over_what_lives(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    y = x * 2
    z = torch.relu(torch.batch_norm(y, s, None, s, s * s, False, 0.1, 1e-5, False))
    return y, z
def over_a_view(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    y = x * 2
    z = torch.relu(torch.batch_norm(y.view(y.size()), s, None, s, s * s, False, 0.1, 1e-5, False))
    return y, z
def of_wrong_sizes(x: Tensor):
    s = torch.tensor([0.5, 2.0])
    return torch.relu(torch.batch_norm(x, s, s, s, s * s, False, 0.1, 1e-5, False))
def with_gelu(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    return torch.gelu(torch.batch_norm(x, s, s, s, s * s, False, 0.1, 1e-5, False))
def with_limits(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    return torch.relu6(torch.batch_norm(x, s, None, s, s * s, False, 0.1, 1e-5, False))
def with_more_limits(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    return torch.hardtanh(torch.batch_norm(x, s, s, s, s * s, False, 0.1, 1e-5, False), -0.5, 0.25)
def of_planes(x: Tensor):
    s = torch.tensor([0.5, 2.0, -1.0])
    y = x.unsqueeze(-1).repeat([1, 1, 7])
    return torch.elu(torch.batch_norm(y, s, s, s, s * s, False, 0.1, 1e-5, False), 0.3)
