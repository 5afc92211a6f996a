def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return a.t().to_dense() * torch.arange(12.).reshape(4, 3), a.transpose(0, 1).coalesce().values() * torch.arange(4.)
