def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v)
    return torch.sparse.mm(a, x) * torch.arange(6.).reshape(3, 2)
