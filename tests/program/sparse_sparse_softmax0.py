def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch.sparse.softmax(a, 0), torch.sparse.log_softmax(a, 1)
