# with: create_autodiff_subgraphs differentiate
# tolerance: 1e-6
def three(x: Tensor, y: Tensor):
    return torch.tanh(x * y) + x
def several(x: Tensor, y: Tensor, z: Tensor):
    a = torch.sigmoid(x + y)
    b = a * z
    return b, torch.relu(b - x)
def views(x: Tensor, y: Tensor):
    a = (x * y).t()
    return a + 1, a
def product(x: Tensor, y: Tensor, z: Tensor):
    return torch.addmm(z, x, y).relu()
def sums(x: Tensor, y: Tensor):
    return (x * y).sum(), (x + y).mean() * 2
def written(x: Tensor, y: Tensor):
    a = x * y
    b = a.tanh() * 2
    b.add_(1)
    return a, b
def branch(x: Tensor, y: Tensor, flag: bool):
    a = (x * y).exp()
    if flag:
        a = (a * y).neg()
    return a
def detached(x: Tensor, y: Tensor):
    a = (x * y).detach()
    return a * x + y
def softmax(x: Tensor):
    return torch.softmax(x * 2, -1) * x
def lends_sizes(x: Tensor, y: Tensor):
    a = x.expand_as(y).tanh() * 2
    return a, (y * 2).tanh() + a
