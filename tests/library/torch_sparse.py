# Products of a sparse matrix in compressed rows and a dense one, and their gradients, with weights that tell places apart.
def weigh(y: Tensor) -> Tensor:
    return (y * torch.arange(1, y.numel() + 1).reshape(y.size()).to(y.dtype)).sum()

def products(rowptr: Tensor, col: Tensor, value: Optional[Tensor], mat: Tensor):
    s = torch.ops.torch_sparse.spmm_sum(None, rowptr, col, value, None, None, mat)
    m = torch.ops.torch_sparse.spmm_mean(None, rowptr, col, value, None, None, None, mat)
    low, low_at = torch.ops.torch_sparse.spmm_min(rowptr, col, value, mat)
    high, high_at = torch.ops.torch_sparse.spmm_max(rowptr, col, value, mat)
    return s, m, low, low_at, high, high_at

def gradients(rowptr: Tensor, col: Tensor, value: Tensor, mat: Tensor):
    with torch.enable_grad():
        value = value.detach().requires_grad_()
        mat = mat.detach().requires_grad_()
        s, m, low, low_at, high, high_at = products(rowptr, col, value, mat)
        return [torch.autograd.grad([weigh(y)], [value, mat], retain_graph=True) for y in [s, m, low, high]]

def pointers(row: Tensor, rows: int):
    rowptr = torch.ops.torch_sparse.ind2ptr(row, rows)
    return rowptr, torch.ops.torch_sparse.ptr2ind(rowptr, row.numel()), torch.ops.torch_sparse.cuda_version()
