def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch.sparse.mm(a.t(), torch.ones(3, 2)) * torch.arange(8.).reshape(4, 2)
