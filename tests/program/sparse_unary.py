def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    return torch.sin(a), torch.sqrt(a.abs()), torch.tanh(a), a.sign(), torch.expm1(a), torch.log1p(a), a.floor(), a.round(), a.ceil(), a.trunc()
