def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = torch._sparse_sum(a, [0])
    return b, b.is_coalesced(), torch._sparse_sum(a, [1]), torch._sparse_sum(a, [0, 1])
