def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.relu(x.detach().reshape(2, 2, 2)).to_sparse()
    return torch.bmm(a, x.reshape(2, 2, 2)) * torch.arange(8.).reshape(2, 2, 2)
