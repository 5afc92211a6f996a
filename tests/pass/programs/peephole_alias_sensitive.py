def neutral(x: Tensor, y: Tensor):
    return x * 1 + 0, (x * y) - 0, x / 1
def of_new(x: Tensor, y: Tensor):
    z = (x + y) * 1
    w = (x * y) + 0
    return z + w
def floats(x: Tensor, y: Tensor):
    a = (x.float() * y.float()) * 1.0
    b = (x.float() - y.float()) + 0
    return a / 1, b * 1
def zeros(x: Tensor):
    return (x * 0.5) + 0.0, (x * 0.5) - 0.0, (x - 0) * 1
def dimension(x: Tensor):
    w = torch.ones([2, 3, 1, 1])
    y = torch.conv2d(x, w)
    return y.dim(), y + 1, (y - 1) * 1
def integers(x: Tensor):
    a = (x > 0) * 1
    b = (x > 0) + 0
    c = (x.to(torch.int64) * 2) * 1
    return a, b, c / 1, c + 0
