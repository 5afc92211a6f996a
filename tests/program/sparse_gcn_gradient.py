def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, torch.sigmoid(v), [3, 4]).coalesce()
    deg = torch._sparse_sum(a, [1]).to_dense()
    h = torch.sparse.mm(a, x) / deg.clamp(min=1).unsqueeze(1)
    return torch.relu(h)
