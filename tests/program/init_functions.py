# torch.nn.init writes without recording; the written tensors keep their gradients' history.
def constants(x: Tensor) -> List[Tensor]:
    y = torch.nn.init.constant_(torch.empty([2]), 3.)
    torch.nn.init.zeros_(x)
    return [x, y, torch.nn.init.ones_(torch.empty([2])), torch.nn.init.uniform_(torch.empty([3]), 1., 1.),
            torch.nn.init.normal_(torch.empty([3]), 2., 0.)]


def bounds() -> Tuple[bool, bool, List[int]]:
    a = torch.nn.init.xavier_uniform_(torch.empty([40, 20]), 2.)
    b = torch.nn.init.xavier_normal_(torch.empty([4, 2, 3]))
    bound = 2. * math.sqrt(6. / 60)
    return bool((a.abs() <= bound).all()), bool((a.abs() > bound / 2).any()), b.size()


def leaf_in_place() -> Tuple[Tensor, bool]:
    w = torch.tensor([1., 1., 1.], requires_grad=True)
    torch.nn.init.constant_(w, 2.)
    (w * w).sum().backward()
    grad = w.grad
    assert grad is not None
    return grad, w.retains_grad


def keeps_gradient() -> Tuple[bool, bool]:
    w = torch.tensor([1., 1., 1.], requires_grad=True)
    y = w * 2
    before = y.retains_grad
    y.retain_grad()
    return before, y.retains_grad


# A renorm that nothing reads is dead code in TorchScript.
def embed(weight: Tensor, indices: Tensor) -> Tuple[Tensor, Tensor]:
    return F.embedding(indices, weight, max_norm=1.), weight
