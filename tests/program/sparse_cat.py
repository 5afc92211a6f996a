def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = torch.cat([a, a], 0)
    return b, b.is_coalesced(), torch.cat([a, a], 1), torch.stack([a, a])
