def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = a.coalesce()
    return a.is_coalesced(), b.is_coalesced(), b.indices(), b.values(), b._nnz(), b.sparse_dim(), b.dense_dim(), a._indices(), a._values(), a._nnz()
