def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = a.t()
    return b, b.is_coalesced(), b.coalesce(), a.coalesce().t().is_coalesced(), a.transpose(0, 1), a.coalesce().t()
