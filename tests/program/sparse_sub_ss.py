def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = a - a.coalesce()
    return b.is_coalesced(), b._nnz(), b, b.to_dense()
