def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch.norm(a.detach()), a.detach().norm(), torch.dropout(a, 0.5, False).to_dense()
