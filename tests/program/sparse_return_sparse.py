def f(i: Tensor, v: Tensor, x: Tensor):
    return torch.sparse_coo_tensor(i, v, [3, 4])
