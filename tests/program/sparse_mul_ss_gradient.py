def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = a.coalesce() * torch.ones(3, 4).to_sparse()
    return b.to_dense() * torch.arange(12.).reshape(3, 4)
