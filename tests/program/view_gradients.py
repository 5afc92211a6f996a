# Views of tensors that come to record only when they, or other views of them, are written to.
def whole(x, w):
    y = x.view(-1)
    x.add_(w)
    z = (y * y).tanh() * 2
    return z * y


def of_temporary(x, w):
    x = x.clone()
    y = x.view(-1)
    x.add_(w)
    return y * y


def written_through_another(x, w):
    x = x.clone()
    y = x[0]
    z = x[0]
    y.add_(w[0])
    return z * z


def read_twice(x, w):
    y = x.view(-1)
    x.add_(w)
    return (y * y) * y


def history_made_anew(x, w):
    x = x * w
    y = x.view(-1)
    x.add_(w)
    return (y * y) * y


def in_a_list(x, w):
    x = x.clone()
    y = [x[0], x[1]]
    x.mul_(w)
    return torch.cat(y)


def of_a_copy_by_reshape(x, w):
    m = x.t() * w.t()
    y = m.reshape(6).view(2, 3)
    z = y.relu()
    y[:, 0].fill_(-0.5)
    return y + z


# Graphs keep y for the gradient of x, which nobody asks for, and of its sizes for that of w.
def written_but_not_read(x, w):
    with torch.no_grad():
        y = x * 2
    z = (y * x).tanh() + torch.cat([y[0:1], w[1:2]]) * 3
    y.add_(1)
    return z + w
