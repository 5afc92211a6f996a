def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, torch.stack([v, v * 2], 1), [3, 4, 2])
    return a, a.coalesce().values(), a.to_dense(), a.sparse_dim(), a.dense_dim(), a.transpose(0, 1), a * 2, a + a, torch._sparse_sum(a, [2]), torch._sparse_sum(a, [0])
