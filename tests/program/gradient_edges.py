# First and second derivatives where formulas meet zeros, infinities and outputs that have none.
def first(y: Tensor, x: Tensor) -> Tensor:
    grad = torch.autograd.grad([y.sum()], [x])[0]
    assert grad is not None
    return grad


def second(y: Tensor, x: Tensor) -> Tensor:
    weights = torch.arange(1, y.numel() + 1, dtype=y.dtype).view(y.size()) - 2.5
    grad = torch.autograd.grad([(y * weights).sum()], [x], create_graph=True)[0]
    assert grad is not None
    return first(grad * grad, x)


def log_cumulative(x: Tensor) -> Tensor:
    x.requires_grad_()
    return second(torch.logcumsumexp(x, 0), x)


def power_of_nothing(x: Tensor) -> Tensor:
    x.requires_grad_()
    return first(torch.linalg.matrix_power(x, 0), x)


def ignored_self(x: Tensor, v: Tensor) -> Tensor:
    x.requires_grad_()
    return first(torch.addr(x, v, v, beta=0), x)


def nearest_grid(x: Tensor, grid: Tensor) -> Tensor:
    grid.requires_grad_()
    return first(F.grid_sample(x, grid, 'nearest', 'zeros', False), grid)


def largest_of_nan(x: Tensor) -> Tensor:
    x.requires_grad_()
    return first(torch.linalg.vector_norm(x, float('inf'), [1]), x)


def entropy(x: Tensor) -> Tensor:
    x.requires_grad_()
    return first(torch.special.entr(x), x)


# The mean and the scale of a layer norm carry no gradient.
def layer_norm(x: Tensor) -> Tensor:
    x.requires_grad_()
    y, mean, scale = torch.native_layer_norm(x, [3], None, None, 1e-5)
    return first(y.sin() + mean.detach() * 0 + scale.detach() * 0, x)


def consecutive(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    return torch._VF.unique_consecutive(x, False, False, 0)
