def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch._sparse_sum(a, [0]).to_dense() * torch.arange(4.), torch._sparse_sum(a, [1]).to_dense() * torch.arange(3.)
