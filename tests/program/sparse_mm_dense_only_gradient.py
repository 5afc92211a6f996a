def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch.mm(a.detach(), x) * torch.arange(6.).reshape(3, 2), a.detach() @ x, torch.matmul(a.detach(), x[:, 0]), torch.nn.functional.linear(a.detach(), x.t())
