# Helpers of the rows of sparse tensors: their bodies and their gradients.


# Places of a COO tensor's indices among all there could be, row-major over the sparse dimensions.
def coo_places(indices: Tensor, size: List[int]) -> Tensor:
    places = torch.zeros([indices.size(1)], dtype=torch.int64)
    for d in range(indices.size(0)):
        places = places * size[d] + indices[d]
    return places


# The rows of a dense tensor whose first dimensions, as many as indices have rows, are looked up.
def rows_at(dense: Tensor, indices: Tensor) -> Tensor:
    n = indices.size(0)
    size = dense.size()
    count = 1
    for d in range(n):
        count = count * size[d]
    return dense.reshape([count] + size[n:]).index_select(0, coo_places(indices, size))


# The least sizes that hold the indices.
def sparse_size_of(indices: Tensor, values: Tensor) -> List[int]:
    size: List[int] = []
    for d in range(indices.size(0)):
        if indices.size(1) == 0:
            size.append(0)
        else:
            size.append(int(indices[d].max()) + 1)
    return size + values.size()[1:]


def empty_coo(size: List[int], sparse_dim: int, like: Tensor) -> Tensor:
    values = torch.zeros([0] + size[sparse_dim:], dtype=like.dtype)
    indices = torch.zeros([sparse_dim, 0], dtype=torch.int64)
    return torch._sparse_coo_tensor_unsafe(indices, values, size, is_coalesced=True)


# What is not zero in a dense tensor, by its first sparse_dim dimensions.
def dense_to_coo(self: Tensor, sparse_dim: int) -> Tensor:
    if self.dim() == 0:
        kept = self.reshape([1]).index_select(0, self.reshape([1]).ne(0).nonzero().flatten())
        return torch._sparse_coo_tensor_unsafe(torch.zeros([0, kept.size(0)], dtype=torch.int64), kept, [], is_coalesced=True)
    if sparse_dim < 1 or sparse_dim > self.dim():
        raise RuntimeError('sparse_dim must be >0 if dimensionality >0')
    size = self.size()
    count = 1
    for d in range(sparse_dim):
        count = count * size[d]
    width = 1
    for d in range(sparse_dim, len(size)):
        width = width * size[d]
    mask = self.reshape([count, width]).ne(0).any(1)
    places = mask.nonzero().flatten()
    indices = mask.reshape(size[:sparse_dim]).nonzero().t()
    values = self.reshape([count] + size[sparse_dim:]).index_select(0, places)
    return torch._sparse_coo_tensor_unsafe(indices, values, size, is_coalesced=True)


# Every product of an element of self with one of other's row: for element i of self there are counts[i].
def sparse_by_sparse(self: Tensor, other: Tensor) -> Tensor:
    if self.dim() != 2 or other.dim() != 2 or self.size(1) != other.size(0):
        raise RuntimeError('mat1 and mat2 shapes cannot be multiplied')
    a = self.to_sparse().coalesce()
    b = other.to_sparse_csr()
    lines = a._indices()[0]
    across = a._indices()[1]
    begins = b.crow_indices()
    first = begins.index_select(0, across)
    counts = begins.index_select(0, across + 1) - first
    which = torch.repeat_interleave(counts)
    before = counts.cumsum(0) - counts
    at = torch.arange(which.size(0)) - before.index_select(0, which) + first.index_select(0, which)
    indices = torch.stack([lines.index_select(0, which), b.col_indices().index_select(0, at)])
    values = a._values().index_select(0, which) * b.values().index_select(0, at)
    return torch._coalesce(torch._sparse_coo_tensor_unsafe(indices, values, [self.size(0), other.size(1)]))


def sparse_bmm(self: Tensor, mat2: Tensor) -> Tensor:
    if self.layout != 1 or mat2.layout != 0 or self.dim() != 3 or mat2.dim() != 3:
        raise RuntimeError('bmm: expected a sparse COO tensor of 3 dimensions and a dense one')
    if self.size(0) != mat2.size(0) or self.size(2) != mat2.size(1):
        raise RuntimeError('bmm: sizes of the tensors do not fit')
    if self.sparse_dim() != 3:
        raise RuntimeError('bmm: the sparse tensor has dense dimensions')
    batch = self.size(0)
    which = self._indices()[0]
    indices = torch.stack([which * self.size(1) + self._indices()[1], which * self.size(2) + self._indices()[2]])
    if self.requires_grad:
        raise RuntimeError('the gradient of a sparse tensor in bmm is not implemented')
    diagonal = torch._sparse_coo_tensor_unsafe(indices, self._values(), [batch * self.size(1), batch * self.size(2)])
    return torch.mm(diagonal, mat2.reshape([batch * self.size(2), mat2.size(2)])).reshape([batch, self.size(1), mat2.size(2)])


# ---- sums and softmax ----

def sparse_sum_over(self: Tensor, dim: List[int]) -> Tensor:
    n = self.sparse_dim()
    coalesced = self.coalesce()
    kept: List[int] = []
    size: List[int] = []
    dense: List[int] = []
    axes: List[int] = []
    for d in dim:
        axis = d + self.dim() if d < 0 else d
        if axis < 0 or axis >= self.dim():
            raise IndexError('Dimension out of range')
        if axis in axes:
            raise RuntimeError('dim appears multiple times in the list of dims')
        axes.append(axis)
    for d in range(self.dim()):
        if d not in axes:
            size.append(self.size(d))
            if d < n:
                kept.append(d)
        elif d >= n:
            dense.append(d - n + 1)
    values = coalesced.values()
    if len(dense) > 0:
        values = values.sum(dense)
    if len(kept) == 0:
        return values.sum(0)
    indices = coalesced._indices().index_select(0, torch.tensor(kept))
    result = torch._sparse_coo_tensor_unsafe(indices, values, size, is_coalesced=len(kept) == n)
    return result if len(kept) == n else torch.coalesce(result)


# Softmax over the elements that are there: along a sparse dimension, those whose other indices agree are a line.
def sparse_softmax_over(self: Tensor, dim: int, dtype: Optional[int], log: bool) -> Tensor:
    axis = dim + self.dim() if dim < 0 else dim
    if axis < 0 or axis >= self.dim():
        raise IndexError('Dimension out of range')
    n = self.sparse_dim()
    coalesced = self.coalesce()
    values = coalesced.values()
    if dtype is not None:
        values = values.to(dtype)
    if axis >= n:
        soft = torch.log_softmax(values, axis - n + 1) if log else torch.softmax(values, axis - n + 1)
        return torch._sparse_coo_tensor_unsafe(coalesced._indices(), soft, self.size(), is_coalesced=True)
    places = torch.zeros([values.size(0)], dtype=torch.int64)
    for d in range(n):
        if d != axis:
            places = places * self.size(d) + coalesced._indices()[d]
    lines, line = torch._unique2(places, True, True)[0:2]
    size = [lines.size(0)] + values.size()[1:]
    highest = torch.full(size, float('-inf'), dtype=values.dtype).index_reduce(0, line, values.detach(), 'amax')
    shifted = values - highest.index_select(0, line)
    shifted = shifted.masked_fill(values == float('-inf'), float('-inf'))
    total = torch.zeros(size, dtype=values.dtype).index_add(0, line, shifted.exp()).index_select(0, line)
    soft = shifted - total.log() if log else shifted.exp() / total
    return torch._sparse_coo_tensor_unsafe(coalesced._indices(), soft, self.size(), is_coalesced=True)


# ---- gradients ----

# The values that grad has at indices; zero where it has none.
def sparse_values_at(grad: Tensor, indices: Tensor) -> Tensor:
    if grad.layout == 0:
        return rows_at(grad, indices)
    if grad.layout != 1:
        raise RuntimeError('the gradient of a sparse tensor is compressed')
    known = grad.coalesce()
    wanted = coo_places(indices, grad.size())
    there = coo_places(known._indices(), grad.size())
    values = known.values()
    if there.size(0) == 0:
        return torch.zeros([wanted.size(0)] + values.size()[1:], dtype=values.dtype)
    at = torch.searchsorted(there, wanted).clamp(max=there.size(0) - 1)
    found = (there.index_select(0, at) == wanted).reshape([wanted.size(0)] + [1] * (values.dim() - 1))
    rows = values.index_select(0, at)
    return torch.where(found, rows, torch.zeros_like(rows))


# `from`'s values at the places where `like` has some.
def sparse_values_like(source: Tensor, like: Tensor) -> Tensor:
    if like.layout != 1:
        raise RuntimeError('a gradient of a compressed sparse tensor is not implemented')
    kept = like.detach().coalesce()
    return torch._sparse_coo_tensor_unsafe(kept._indices(), sparse_values_at(source, kept._indices()), like.size(), is_coalesced=True)


def sparse_masked(self: Tensor, mask: Tensor) -> Tensor:
    if mask.layout != 1:
        raise RuntimeError('sparse_mask: the mask is not a sparse COO tensor')
    if self.size() != mask.size():
        raise RuntimeError('sparse_mask(): operands have incompatible sizes')
    return torch._sparse_coo_tensor_unsafe(mask._indices(), sparse_values_at(self, mask._indices()), mask.size(),
                                           is_coalesced=mask.is_coalesced())


# A tensor with the indices of self, which is coalesced, and other values.
def sparse_like(self: Tensor, values: Tensor) -> Tensor:
    if self.layout != 1:
        raise RuntimeError('the gradient of a compressed sparse tensor\'s values is not implemented')
    return torch._sparse_coo_tensor_unsafe(self._indices(), values, self.size(), is_coalesced=True)


def to_dense_backward(grad: Tensor, self: Tensor) -> Tensor:
    if self.layout == 0:
        return grad
    if self.layout != 1:
        raise RuntimeError('to_dense_backward: Unsupported input layout: SparseCsr')
    return sparse_values_like(grad, self)


def to_sparse_backward(grad: Tensor, self: Tensor) -> Tensor:
    if self.layout != 0:
        raise RuntimeError('to_sparse: the gradient of a sparse tensor is not implemented')
    return grad.to_dense()


# Of a sparse matrix in a product with a dense one: rows of grad by rows of the other, where it has elements.
def sparse_product_mat1_grad(grad: Tensor, mat1: Tensor, mat2: Tensor) -> Tensor:
    if mat1.layout != 1:
        raise RuntimeError('the gradient of a compressed sparse matrix in a product is not implemented')
    kept = mat1.detach().coalesce()
    rows = grad.index_select(0, kept._indices()[0]) * mat2.index_select(0, kept._indices()[1]).conj()
    return torch._sparse_coo_tensor_unsafe(kept._indices(), rows.sum(1), mat1.size(), is_coalesced=True)
