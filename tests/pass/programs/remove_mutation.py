def added(x: Tensor, y: Tensor):
    z = x * 2
    z.add_(y)
    return z
def several(x: Tensor, y: Tensor):
    z = x + y
    z.mul_(2)
    z.relu_()
    w = z - 1
    return w, z
def zeroed(x: Tensor):
    z = x.clone()
    z.zero_()
    return z
def filled(x: Tensor):
    z = x.neg()
    z.fill_(1.5)
    return z
def casts(x: Tensor, y: Tensor):
    z = x * 2
    z.sub_(y.float())
    return z
def compared(x: Tensor, y: Tensor):
    z = x * 2
    z.gt_(y)
    return z
def sorted(x: Tensor):
    z = torch.zeros([3, 3])
    z.add_(x)
    return z
def copied(x: Tensor, y: Tensor):
    z = torch.zeros([3, 3], dtype=torch.float64)
    z.copy_(x)
    w = torch.ones([3]) 
    w.mul_(2)
    return z, w
def lists(x: Tensor, y: Tensor):
    z = x * 2
    z.add_(1)
    l = [z]
    l.append(y)
    return l
