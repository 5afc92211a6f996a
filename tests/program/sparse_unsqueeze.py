def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return a.unsqueeze(0), a.unsqueeze(-1), a.coalesce().unsqueeze(0).is_coalesced()
