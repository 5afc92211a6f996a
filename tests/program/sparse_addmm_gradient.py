def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch.sparse.addmm(torch.ones(3, 2), a, x, beta=0.5, alpha=2.0) * torch.arange(6.).reshape(3, 2)
