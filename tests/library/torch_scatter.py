# The operators of torch_scatter, and their gradients, with weights that tell the results' places apart.
def weigh(y: Tensor) -> Tensor:
    return (y * torch.arange(1, y.numel() + 1).reshape(y.size()).to(y.dtype)).sum()

def scatter(x: Tensor, index: Tensor, dim: int, size: Optional[int], out: Optional[Tensor]):
    s = torch.ops.torch_scatter.scatter_sum(x, index, dim, out, size)
    m = torch.ops.torch_scatter.scatter_mean(x, index, dim, None, size)
    p = torch.ops.torch_scatter.scatter_mul(x, index, dim, None, size)
    low, low_at = torch.ops.torch_scatter.scatter_min(x, index, dim, None, size)
    high, high_at = torch.ops.torch_scatter.scatter_max(x, index, dim, None, size)
    return s, m, p, low, low_at, high, high_at

def scatter_gradients(x: Tensor, index: Tensor, dim: int, size: Optional[int]):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        s, m, p, low, low_at, high, high_at = scatter(x, index, dim, size, None)
        return [torch.autograd.grad([weigh(y)], [x], retain_graph=True)[0] for y in [s, m, p, low, high]]

def coo(x: Tensor, index: Tensor, size: Optional[int]):
    s = torch.ops.torch_scatter.segment_sum_coo(x, index, None, size)
    m = torch.ops.torch_scatter.segment_mean_coo(x, index, None, size)
    low, low_at = torch.ops.torch_scatter.segment_min_coo(x, index, None, size)
    high, high_at = torch.ops.torch_scatter.segment_max_coo(x, index, None, size)
    return s, m, low, low_at, high, high_at, torch.ops.torch_scatter.gather_coo(s, index, None)

def coo_gradients(x: Tensor, index: Tensor, size: Optional[int]):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        s, m, low, low_at, high, high_at, g = coo(x, index, size)
        return [torch.autograd.grad([weigh(y)], [x], retain_graph=True)[0] for y in [s, m, low, high, g]]

def csr(x: Tensor, indptr: Tensor):
    s = torch.ops.torch_scatter.segment_sum_csr(x, indptr, None)
    m = torch.ops.torch_scatter.segment_mean_csr(x, indptr, None)
    low, low_at = torch.ops.torch_scatter.segment_min_csr(x, indptr, None)
    high, high_at = torch.ops.torch_scatter.segment_max_csr(x, indptr, None)
    return s, m, low, low_at, high, high_at, torch.ops.torch_scatter.gather_csr(s, indptr, None)

def csr_gradients(x: Tensor, indptr: Tensor):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        s, m, low, low_at, high, high_at, g = csr(x, indptr)
        return [torch.autograd.grad([weigh(y)], [x], retain_graph=True)[0] for y in [s, m, low, high, g]]

def version() -> int:
    return torch.ops.torch_scatter.cuda_version()
