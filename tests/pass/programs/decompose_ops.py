# tolerance: 1e-5
def addmm(x: Tensor, a: Tensor, b: Tensor):
    return torch.addmm(x.mm(a) + b.mm(a), a, b)
def alpha(x: Tensor, a: Tensor, b: Tensor):
    return torch.addmm(x.mm(b), a, b, alpha=1, beta=1)
