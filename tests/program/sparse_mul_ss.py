def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4]).coalesce()
    c = torch.ones(3, 4).to_sparse()
    b = a * c
    return b.is_coalesced(), b._nnz(), b
