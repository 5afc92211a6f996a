def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch.sparse.softmax(a, 0).to_dense() * torch.arange(12.).reshape(3, 4), torch.sparse.log_softmax(a, 1).to_dense() * torch.arange(12.).reshape(3, 4)
