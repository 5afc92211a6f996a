def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, torch.stack([v, v * 2], 1), [3, 4, 2])
    return a.to_dense() * torch.arange(24.).reshape(3, 4, 2), torch._sparse_sum(a, [0]).to_dense() * torch.arange(8.).reshape(4, 2), torch._sparse_sum(a, [2]).to_dense() * torch.arange(12.).reshape(3, 4)
