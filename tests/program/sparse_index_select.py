def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = a.index_select(0, torch.tensor([2, 0, 2]))
    return b, b.is_coalesced(), a.index_select(1, torch.tensor([1, 3]))
