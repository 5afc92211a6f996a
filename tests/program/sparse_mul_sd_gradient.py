def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return (a * torch.full([3, 4], 2.0)).to_dense() * torch.arange(12.).reshape(3, 4)
