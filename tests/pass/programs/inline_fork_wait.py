def _g(x: Tensor, y: Tensor):
    return x * y, x
def forks(x: Tensor, y: Tensor):
    a = torch.jit.fork(_g, x, y)
    b = torch.jit.fork(_g, y, x)
    return torch.jit.wait(a), torch.jit.wait(b)
