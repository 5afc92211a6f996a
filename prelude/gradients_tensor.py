# Helper functions of the gradient formulas in operator rows: reductions, scans, products of matrices, normalization, pooling, convolution.
# What they return may be larger than the argument by broadcasting: the engine sums it to the argument's sizes.


# ---- reductions ----

def wrapped_axes(dim: Optional[List[int]], ndim: int) -> List[int]:
    axes: List[int] = []
    if dim is not None:
        for d in dim:
            axes.append(d + ndim if d < 0 else d)
    if len(axes) == 0:
        for d in range(ndim):
            axes.append(d)
    return axes


def restore_axes(reduced: Tensor, ndim: int, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    if keepdim or ndim == 0:
        return reduced
    axes = wrapped_axes(dim, ndim)
    for d in range(ndim):
        if d in axes:
            reduced = reduced.unsqueeze(d)
    return reduced


def expand_reduced(grad: Tensor, sizes: List[int], dim: Optional[List[int]], keepdim: bool) -> Tensor:
    return restore_axes(grad, len(sizes), dim, keepdim).expand(sizes)


def reduced_count(self: Tensor, dim: Optional[List[int]]) -> int:
    count = 1
    if self.dim() > 0:
        for d in wrapped_axes(dim, self.dim()):
            count = count * self.size(d)
    return count


def spread_evenly(grad: Tensor, mask: Tensor) -> Tensor:
    return (grad / mask.sum()).expand(mask.size()).masked_fill(mask.logical_not(), 0)


def amax_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    mask = self == restore_axes(result, self.dim(), dim, keepdim)
    count = mask.sum() if self.dim() == 0 else mask.sum(wrapped_axes(dim, self.dim()), True)
    return restore_axes(grad, self.dim(), dim, keepdim) * mask / count


def aminmax_backward(grads: List[Tensor], self: Tensor, dim: Optional[int], keepdim: bool, least: Tensor, greatest: Tensor) -> Tensor:
    axes: List[int] = []
    if dim is not None:
        axes = [dim]
    return amax_backward(grads[0], self, least, axes, keepdim) + amax_backward(grads[1], self, greatest, axes, keepdim)


def value_selecting_reduction_backward(grad: Tensor, dim: int, indices: Tensor, sizes: List[int], keepdim: bool) -> Tensor:
    if not keepdim and len(sizes) > 0:
        grad = grad.unsqueeze(dim)
        indices = indices.unsqueeze(dim)
    return torch.zeros(sizes, dtype=grad.dtype, device=grad.device).scatter(dim, indices, grad)


def product_of_others(x: Tensor, dim: int) -> Tensor:
    n = x.size(dim)
    one = torch.ones_like(x.narrow(dim, 0, 1))
    left = torch.cat([one, x.narrow(dim, 0, n - 1)], dim).cumprod(dim)
    right = torch.cat([one, x.flip([dim]).narrow(dim, 0, n - 1)], dim).cumprod(dim).flip([dim])
    return left * right


def prod_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    if self.dim() == 0:
        return grad
    if self.numel() == 0:
        return torch.zeros_like(self)
    if bool((self == 0).any()):
        return grad * product_of_others(self.reshape([-1]), 0).reshape(self.size()).conj()
    return grad * (result / self).conj()


def prod_dim_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool) -> Tensor:
    if self.dim() == 0:
        return grad
    if self.numel() == 0:
        return torch.zeros_like(self)
    if bool((self == 0).any()):
        return restore_axes(grad, self.dim(), [dim], keepdim) * product_of_others(self, dim).conj()
    return restore_axes(grad, self.dim(), [dim], keepdim) * (restore_axes(result, self.dim(), [dim], keepdim) / self).conj()


# What the count of elements is reduced by in a variance.
def freedom(correction: Optional[number]) -> float:
    return 1. if correction is None else float(correction)


def var_backward(grad: Tensor, self: Tensor, dim: Optional[List[int]], correction: float, keepdim: bool) -> Tensor:
    freedom = reduced_count(self, dim) - correction
    scale = 2. / freedom if freedom != 0 else float('inf')
    mean = self if self.dim() == 0 else self.mean(wrapped_axes(dim, self.dim()), True)
    return restore_axes(grad, self.dim(), dim, keepdim) * scale * (self - mean)


def std_backward(grad: Tensor, result: Tensor, self: Tensor, dim: Optional[List[int]], correction: float, keepdim: bool) -> Tensor:
    return var_backward((grad / (result * 2)).masked_fill(result == 0, 0), self, dim, correction, keepdim)


def mean_part(grad: Tensor, self: Tensor, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    count = reduced_count(self, dim)
    return expand_reduced(grad, self.size(), dim, keepdim) / (count if count > 0 else 1)


def var_mean_backward(grads: List[Tensor], self: Tensor, dim: Optional[List[int]], correction: float, keepdim: bool) -> Tensor:
    return var_backward(grads[0], self, dim, correction, keepdim) + mean_part(grads[1], self, dim, keepdim)


def std_mean_backward(grads: List[Tensor], std: Tensor, self: Tensor, dim: Optional[List[int]], correction: float, keepdim: bool) -> Tensor:
    return std_backward(grads[0], std, self, dim, correction, keepdim) + mean_part(grads[1], self, dim, keepdim)


def norm_backward(grad: Tensor, self: Tensor, p: float, norm: Tensor, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    grad = restore_axes(grad, self.dim(), dim, keepdim)
    norm = restore_axes(norm, self.dim(), dim, keepdim)
    if p == 0.:
        return torch.zeros_like(self)
    if p == 1.:
        return self.sgn() * grad
    if p == 2.:
        return grad * (self / norm.masked_fill(norm == 0, float('inf')))
    size = self.abs()
    if p == float('inf') or p == -float('inf'):
        mask = torch.logical_or(size == norm, torch.logical_and(self.isnan(), norm.isnan()))
        count = mask.sum() if self.dim() == 0 else mask.sum(wrapped_axes(dim, self.dim()), True)
        return self.sgn() * (grad / count * mask)
    if p < 1.:
        return self.sgn() * size.pow(p - 1).masked_fill(self == 0, 0) * grad * norm.pow(1 - p)
    scale = (grad / norm.pow(p - 1)).masked_fill(norm == 0, 0)
    if p < 2.:
        return self.sgn() * size.pow(p - 1) * scale
    return self * size.pow(p - 2) * scale


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Optional[List[int]], keepdim: bool) -> Tensor:
    return restore_axes(grad, self.dim(), dim, keepdim) * (self - restore_axes(result, self.dim(), dim, keepdim)).exp().conj()


# ---- scans ----

def cumprod_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    if self.dim() == 0 or self.numel() == 0:
        return grad
    x = self.conj()
    if not bool((self == 0).any()):
        return (grad * result.conj()).flip([dim]).cumsum(dim).flip([dim]) / x
    n = x.size(dim)
    one = torch.ones_like(x.narrow(dim, 0, 1))
    parts: List[Tensor] = []
    for k in range(n):
        before = one if k == 0 else x.narrow(dim, 0, k).prod(dim, True)
        after = torch.cat([one, x.narrow(dim, k + 1, n - k - 1)], dim).cumprod(dim)
        parts.append((grad.narrow(dim, k, n - k) * before * after).sum([dim], True))
    return torch.cat(parts, dim)


def logcumsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    if self.dim() == 0 or self.numel() == 0:
        return grad
    if self.is_complex():
        return ((grad.log() - result.conj()).flip([dim]).logcumsumexp(dim).flip([dim]) + self.conj()).exp()
    size = grad.abs().log()
    least = torch.full_like(grad, -1e38)  # finite: the gradient of this formula subtracts it from itself
    up = (torch.where(grad > 0, size, least) - result).flip([dim]).logcumsumexp(dim).flip([dim]) + self
    down = (torch.where(grad < 0, size, least) - result).flip([dim]).logcumsumexp(dim).flip([dim]) + self
    return up.exp() - down.exp()


# ---- layout ----

# The gradient row-major ("contiguous"), in the format that the tensor suggests, or as a new tensor like it lies ("preserve").
def gradient_in_format(grad: Tensor, self: Tensor, format: str) -> Tensor:
    if format == 'contiguous':
        return grad.contiguous()
    if format == 'suggested':
        return torch._contiguous_as(grad, self)
    like = torch.zeros_like(self)
    return grad if grad.stride() == like.stride() else like + grad


# ---- products of matrices ----

def adjoint_of(x: Tensor) -> Tensor:
    return x.transpose(-2, -1).conj()


# Of a matrix product, by its left and its right side of these sizes and strides: column-major where the side is.
def mm_left_backward(grad: Tensor, right: Tensor, sizes: List[int], strides: List[int]) -> Tensor:
    if strides[0] == 1 and strides[1] == sizes[0]:
        return right.conj().mm(grad.t()).t()
    return grad.mm(right.t().conj())


def mm_right_backward(grad: Tensor, left: Tensor, sizes: List[int], strides: List[int]) -> Tensor:
    if strides[0] == 1 and strides[1] == sizes[0]:
        return grad.t().mm(left.conj()).t()
    return left.t().conj().mm(grad)


def linear_backward(grad: Tensor, input: Tensor, weight: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    if weight.dim() == 1:
        return grad.unsqueeze(-1) * weight.conj(), grad.unsqueeze(-1) * input.conj(), grad
    rows = grad.reshape([-1, weight.size(0)])
    inputs = input.reshape([-1, weight.size(1)])
    turned = weight.t()
    return (mm_left_backward(rows, turned, inputs.size(), inputs.stride()).reshape(input.size()),
            mm_right_backward(rows, inputs, turned.size(), turned.stride()).t(), grad)


# Whether a batch of matrices is multiplied with one matrix as one tall matrix.
def folds(batch: Tensor) -> bool:
    return not (batch.dim() == 3 and batch.stride(-1) != 1 and batch.stride(0) == batch.size(1) * batch.size(2))


# A batch of matrices and one matrix, both as stacked rows where the batch folds.
def batch_by_matrix_backward(grad: Tensor, batch: Tensor, matrix: Tensor) -> Tuple[Tensor, Tensor]:
    rows = grad.flatten(0, -2)
    stacked = batch.flatten(0, -2)
    for_batch = grad.matmul(adjoint_of(matrix))
    if folds(batch):
        for_batch = mm_left_backward(rows, matrix, stacked.size(), stacked.stride()).reshape(batch.size())
    return for_batch, mm_right_backward(rows, stacked, matrix.size(), matrix.stride())


def matmul_backward_of_matrices(grad: Tensor, self: Tensor, other: Tensor) -> Tuple[Tensor, Tensor]:
    if self.dim() == 2 and other.dim() == 2:
        return mm_left_backward(grad, other, self.size(), self.stride()), mm_right_backward(grad, self, other.size(), other.stride())
    if other.dim() == 2:
        return batch_by_matrix_backward(grad, self, other)
    if self.dim() == 2 and folds(other):
        for_other, for_self = batch_by_matrix_backward(grad.mT, other.mT, self.t())
        return for_self.t(), for_other.mT
    return grad.matmul(adjoint_of(other)), adjoint_of(self).matmul(grad)


def matmul_backward(grad: Tensor, self: Tensor, other: Tensor) -> Tuple[Tensor, Tensor]:
    if self.dim() == 1 and other.dim() == 1:
        return grad * other.conj(), grad * self.conj()
    if self.dim() == 1:
        for_row, for_other = matmul_backward_of_matrices(grad.unsqueeze(-2), self.unsqueeze(0), other)
        return for_row.squeeze(-2), for_other
    if other.dim() == 1:
        column = grad.unsqueeze(-1)
        return column.matmul(other.conj().unsqueeze(0)), adjoint_of(self).matmul(column).squeeze(-1)
    return matmul_backward_of_matrices(grad, self, other)


# ---- normalization ----

def normalized_backward(grad: Tensor, x: Tensor, axes: List[int], eps: float) -> Tuple[Tensor, Tensor]:
    centered = x - x.mean(axes, True)
    scale = (centered * centered).mean(axes, True).add(eps).rsqrt()
    normalized = centered * scale
    inner = grad - grad.mean(axes, True) - normalized * (grad * normalized).mean(axes, True)
    return inner * scale, normalized


def last_axes(count: int) -> List[int]:
    return [-1 - i for i in range(count)]


def layer_norm_backward(grad: Tensor, input: Tensor, normalized_shape: List[int], weight: Optional[Tensor], bias: Optional[Tensor],
                        eps: float) -> Tuple[Tensor, Tensor, Tensor]:
    scaled = grad if weight is None else grad * weight
    inner, normalized = normalized_backward(scaled, input, last_axes(len(normalized_shape)), eps)
    return inner, grad * normalized, grad


def group_norm_backward(grad: Tensor, input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], N: int, C: int, HxW: int, group: int,
                        eps: float) -> Tuple[Tensor, Tensor, Tensor]:
    if input.numel() == 0:
        empty = torch.zeros([C], dtype=input.dtype, device=input.device)
        return torch.zeros_like(input, memory_format=torch.contiguous_format), empty, empty
    by_channel = grad.reshape([N, C, HxW])
    scaled = by_channel if weight is None else by_channel * weight.reshape([C, 1])
    inner, normalized = normalized_backward(scaled.reshape([N, group, -1]), input.reshape([N, group, -1]), [-1], eps)
    return inner.reshape(input.size()).contiguous(), (by_channel * normalized.reshape([N, C, HxW])).sum([0, 2]), by_channel.sum([0, 2])


# Without the statistics, of which nobody has a gradient.
def group_norm_first_backward(grad: Tensor, input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], group: int,
                              eps: float) -> Tuple[Tensor, Tensor, Tensor]:
    inner = 1
    for d in range(2, input.dim()):
        inner = inner * input.size(d)
    return group_norm_backward(grad, input, weight, bias, input.size(0), input.size(1), inner, group, eps)


# The mean's derivative is 1 / n, that of s = 1 / sqrt(variance + eps) is -s^3 (x - mean) / n.
def group_norm_all_backward(grads: List[Tensor], input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], mean: Tensor, scale: Tensor,
                            N: int, C: int, HxW: int, group: int, eps: float) -> Tuple[Tensor, Tensor, Tensor]:
    for_input, for_weight, for_bias = group_norm_backward(grads[0], input, weight, bias, N, C, HxW, group, eps)
    if input.numel() == 0:
        return for_input, for_weight, for_bias
    rows = input.reshape([N, group, -1])
    by_scale = grads[2].unsqueeze(-1) * scale.unsqueeze(-1).pow(3) * (rows - mean.unsqueeze(-1))
    return for_input + ((grads[1].unsqueeze(-1) - by_scale) / rows.size(2)).reshape(input.size()), for_weight, for_bias


def batch_norm_backward(grad: Tensor, input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Optional[Tensor],
                        running_var: Optional[Tensor], training: bool, eps: float) -> Tuple[Tensor, Tensor, Tensor]:
    by_batch = training or running_mean is None or running_var is None
    for_input, for_weight, for_bias = torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, None, None, by_batch,
                                                                       eps, [True, True, True])
    return torch._contiguous_as(for_input, input), for_weight, for_bias


def batch_norm_second_order(grads: List[Tensor], grad: Tensor, input: Tensor, weight: Optional[Tensor], running_mean: Optional[Tensor],
                            running_var: Optional[Tensor], training: bool, eps: float,
                            output_mask: List[bool]) -> Tuple[Tensor, Tensor, Tensor]:
    channels = [1, -1] + [1 for _ in range(input.dim() - 2)]
    axes = [d for d in range(input.dim()) if d != 1]
    if training or running_mean is None or running_var is None:
        centered = input - input.mean(axes, True)
        scale = (centered * centered).mean(axes, True).add(eps).rsqrt()
    else:
        centered = input - running_mean.view(channels)
        scale = (running_var + eps).rsqrt().view(channels)
    normalized = centered * scale
    w = torch.ones_like(scale) if weight is None else weight.view(channels)
    for_grad = torch.zeros_like(grad)
    for_input = torch.zeros_like(input)
    for_weight = torch.zeros_like(scale).flatten()
    of_normalized = torch.zeros_like(input)
    if output_mask[0]:
        g = grads[0]
        if training:
            along, along_grad = (g * normalized).mean(axes, True), (grad * normalized).mean(axes, True)
            for_weight = (g * (grad - grad.mean(axes, True) - normalized * along_grad) * scale).sum(axes)
            for_grad = for_grad + w * scale * (g - g.mean(axes, True) - normalized * along)
            of_normalized = of_normalized - w * scale * (along_grad * g + along * grad)
            count = input.numel() // input.size(1)
            for_input = for_input - w * scale * normalized * (for_weight.view(channels) / count)
        else:
            for_weight = (g * grad * scale).sum(axes)
            for_grad = for_grad + w * scale * g
    if output_mask[1]:
        for_grad = for_grad + grads[1].view(channels) * normalized
        of_normalized = of_normalized + grads[1].view(channels) * grad
    if output_mask[2]:
        for_grad = for_grad + grads[2].view(channels)
    if training:
        of_normalized = of_normalized - of_normalized.mean(axes, True) - normalized * (of_normalized * normalized).mean(axes, True)
    return for_grad, for_input + of_normalized * scale, for_weight


# Of norms whose mean and scale a program kept.
def wanted(grad: Tensor, is_wanted: bool) -> Tensor:
    return torch._grad_or_undefined(grad if is_wanted else None)


# Of (x - mean) * scale, both given, over the axes that have one scale.
def normalized_parts(grad: Tensor, x: Tensor, mean: Tensor, scale: Tensor, axes: List[int]) -> Tuple[Tensor, Tensor]:
    normalized = (x - mean) * scale
    return (grad - grad.mean(axes, True) - normalized * (grad * normalized).mean(axes, True)) * scale, normalized


def layer_norm_parts(grad: Tensor, input: Tensor, count: int, mean: Tensor, scale: Tensor, weight: Optional[Tensor],
                     mask: List[bool]) -> Tuple[Tensor, Tensor, Tensor]:
    inner, normalized = normalized_parts(grad if weight is None else grad * weight, input, mean, scale, last_axes(count))
    outer = [d for d in range(input.dim() - count)]
    by_weight, by_bias = grad * normalized, grad
    if len(outer) > 0:
        by_weight, by_bias = by_weight.sum(outer), by_bias.sum(outer)
    else:
        by_bias = grad.clone()
    is_given = weight is not None
    return wanted(inner, mask[0]), wanted(by_weight, mask[1] and is_given), wanted(by_bias, mask[2] and is_given)


def group_norm_parts(grad: Tensor, input: Tensor, mean: Tensor, scale: Tensor, weight: Optional[Tensor], sizes: List[int], group: int,
                     mask: List[bool]) -> Tuple[Tensor, Tensor, Tensor]:
    by_channel = grad.reshape(sizes)
    scaled = by_channel if weight is None else by_channel * weight.reshape([sizes[1], 1])
    grouped = [sizes[0], group, -1]
    inner, normalized = normalized_parts(scaled.reshape(grouped), input.reshape(grouped), mean.reshape(grouped), scale.reshape(grouped), [-1])
    by_weight = (by_channel * normalized.reshape(sizes)).sum([0, 2])
    return wanted(inner.reshape(input.size()), mask[0]), wanted(by_weight, mask[1]), wanted(by_channel.sum([0, 2]), mask[2])


def rms_norm_parts(grad: Tensor, input: Tensor, count: int, scale: Tensor, weight: Optional[Tensor], mask: List[bool]) -> Tuple[Tensor, Tensor]:
    scaled = grad if weight is None else grad * weight
    normalized = input * scale
    inner = (scaled - normalized * (scaled * normalized).mean(last_axes(count), True)) * scale
    outer = [d for d in range(input.dim() - count)]
    by_weight = grad * normalized
    if len(outer) > 0:
        by_weight = by_weight.sum(outer)
    return wanted(inner, mask[0]), wanted(by_weight, mask[1] and weight is not None)


# T. Dao et al., "FlashAttention" (2022), appendix B.2: with the logarithms of the sums that were divided by.
def flash_attention_backward(grad: Tensor, query: Tensor, key: Tensor, value: Tensor, out: Tensor, logsumexp: Tensor, is_causal: bool,
                             mask: Optional[Tensor], scale: Optional[float]) -> Tuple[Tensor, Tensor, Tensor]:
    factor = 1. / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.matmul(query, key.transpose(-2, -1)) * factor
    if mask is not None:
        scores = scores + mask
    if is_causal:
        later = torch.ones([query.size(-2), key.size(-2)], dtype=torch.bool, device=query.device).triu(1)
        scores = scores.masked_fill(later, float('-inf'))
    share = torch.exp(scores - logsumexp.unsqueeze(-1).to(scores.dtype)).masked_fill(scores == float('-inf'), 0.)
    by_share = torch.matmul(grad, value.transpose(-2, -1))
    by_scores = share * (by_share - (grad * out).sum(-1, True)) * factor
    return (torch.matmul(by_scores, key), torch.matmul(by_scores.transpose(-2, -1), query),
            torch.matmul(share.transpose(-2, -1), grad))


# ---- pooling ----

def pool_scatter_backward(grad: Tensor, self: Tensor, indices: Tensor, spatial: int) -> Tensor:
    if self.dtype == torch.float32 or self.dtype == torch.float64:
        result = torch._max_pool_backward(grad, self, indices, spatial)
    else:
        flat = torch.zeros_like(self, memory_format=torch.contiguous_format).flatten(-spatial)
        result = flat.scatter_add(-1, indices.flatten(-spatial), grad.flatten(-spatial)).reshape(self.size())
    if self.dim() == 4 and spatial == 2:
        return torch._contiguous_as(result, self)
    if self.dim() == 3 and spatial == 1:
        return torch._contiguous_as(result.unsqueeze(-2), self.unsqueeze(-2)).squeeze(-2)
    return result


def avg_pool1d_backward(grad: Tensor, self: Tensor, kernel_size: List[int], stride: List[int], padding: List[int], ceil_mode: bool,
                        count_include_pad: bool) -> Tensor:
    step = kernel_size if len(stride) == 0 else stride
    return torch.avg_pool2d_backward(grad.unsqueeze(-2), self.unsqueeze(-2), [1, kernel_size[0]], [1, step[0]], [0, padding[0]], ceil_mode,
                                     count_include_pad, None).squeeze(-2)


# ---- convolution ----

def conv_backward(grad: Tensor, input: Tensor, weight: Tensor, bias: Optional[Tensor], stride: List[int], padding: List[int],
                  dilation: List[int], transposed: bool, output_padding: List[int], groups: int) -> Tuple[Tensor, Tensor, Tensor]:
    batched = input.dim() == weight.dim()
    channels = weight.size(1) * groups if transposed else weight.size(0)
    x = input if batched else input.unsqueeze(0)
    g = grad if batched else grad.unsqueeze(0)
    for_input, for_weight, for_bias = torch.convolution_backward(g, x, weight, [channels], stride, padding, dilation, transposed,
                                                                 output_padding, groups, [True, True, True])
    return for_input if batched else for_input.squeeze(0), for_weight, for_bias


def conv_padding_backward(grad: Tensor, input: Tensor, weight: Tensor, bias: Optional[Tensor], stride: List[int], padding: str,
                          dilation: List[int], groups: int) -> Tuple[Tensor, Tensor, Tensor]:
    spatial = weight.dim() - 2
    none = [0 for _ in range(spatial)]
    if padding == 'valid':
        return conv_backward(grad, input, weight, bias, stride, none, dilation, False, [0], groups)
    around: List[int] = []
    for i in range(spatial):
        d = spatial - 1 - i
        total = (dilation[d] if len(dilation) > 1 else dilation[0]) * (weight.size(d + 2) - 1)
        around.append(total // 2)
        around.append(total - total // 2)
    padded = torch.constant_pad_nd(input, around, 0)
    inner, for_weight, for_bias = conv_backward(grad, padded, weight, bias, stride, none, dilation, False, [0], groups)
    for i in range(spatial):
        d = input.dim() - 1 - i
        inner = inner.narrow(d, around[2 * i], input.size(d))
    return inner, for_weight, for_bias


# ---- indexed writes ----

def scatter_reduce_backward(grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool,
                            result: Tensor) -> Tuple[Tensor, Tensor]:
    for_self = grad
    for_src = grad
    if reduce == 'sum':
        for_src = grad.gather(dim, index)
    elif reduce == 'prod':
        kept = self if include_self else self.scatter(dim, index, 1)
        for_self = grad * torch.ones_like(self).scatter_reduce(dim, index, src, 'prod', include_self=True)
        for_src = (grad * result).gather(dim, index) / src
        zeros = (src == 0).to(torch.int64)
        if bool((src == 0).any()):
            count = torch.zeros_like(self, dtype=torch.int64).scatter_add(dim, index, zeros).gather(dim, index)
            others = kept.scatter_reduce(dim, index, src.masked_fill(src == 0, 1), 'prod', include_self=True).gather(dim, index)
            alone = (src == 0).logical_and(count == 1)
            for_src = torch.where(alone, grad.gather(dim, index) * others, for_src.masked_fill(src == 0, 0))
    elif reduce == 'mean':
        count = torch.ones_like(grad) if include_self else torch.zeros_like(grad)
        count = count.scatter_add(dim, index, torch.ones_like(src))
        count = count.masked_fill(count == 0, 1)
        for_self = grad / count
        for_src = (grad / count).gather(dim, index)
    else:
        self_hit = self == result
        src_hit = src == result.gather(dim, index)
        count = torch.zeros_like(self).scatter_add(dim, index, src_hit.to(self.dtype)) + self_hit.to(self.dtype)
        share = grad / count
        for_self = self_hit * share
        for_src = src_hit * share.gather(dim, index)
        if not include_self:
            count = torch.zeros_like(self).scatter_add(dim, index, src_hit.to(self.dtype))
            for_src = src_hit * (grad / count.masked_fill(count == 0, 1)).gather(dim, index)
    if not include_self:
        for_self = for_self.scatter(dim, index, 0)
    return for_self, for_src


def index_reduce_backward(grad: Tensor, self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool,
                          result: Tensor) -> Tuple[Tensor, Tensor]:
    if self.dim() == 0:
        for_self, for_source = scatter_reduce_backward(grad.reshape([1]), self.reshape([1]), 0, index.reshape([1]), source.reshape([1]),
                                                       reduce, include_self, result.reshape([1]))
        return for_self.reshape(self.size()), for_source.reshape(source.size())
    shape = [1 for _ in range(self.dim())]
    shape[dim] = -1
    kind = {'prod': 'prod', 'mean': 'mean', 'amax': 'amax', 'amin': 'amin'}[reduce]
    return scatter_reduce_backward(grad, self, dim, index.view(shape).expand(source.size()), source, kind, include_self, result)


def masked_scatter_source_backward(grad: Tensor, mask: Tensor, sizes: List[int]) -> Tensor:
    count = 1
    for n in sizes:
        count = count * n
    chosen = grad.masked_select(mask)
    rest = count - chosen.numel()
    if rest > 0:
        chosen = torch.cat([chosen, torch.zeros([rest], dtype=grad.dtype, device=grad.device)])
    return chosen.narrow(0, 0, count).reshape(sizes)


# ---- gradients of gradients ----

def strided_of(grad: Tensor, sizes: List[int], strides: List[int], first: int, size: List[int], stride: List[int],
               storage_offset: Optional[int]) -> Tensor:
    laid = torch.empty_strided(sizes, strides, dtype=grad.dtype, device=grad.device).copy_(grad)
    return laid.as_strided(size, stride, 0 if storage_offset is None else storage_offset - first)


def same_sizes(size: int, count: int) -> List[int]:
    return [size for _ in range(count)]


def convolution_second_order(grads: List[Tensor], grad_output: Tensor, input: Tensor, weight: Tensor, stride: List[int], padding: List[int],
                             dilation: List[int], transposed: bool, output_padding: List[int], groups: int,
                             output_mask: List[bool]) -> Tuple[Tensor, Tensor, Tensor]:
    for_grad = torch.zeros_like(grad_output)
    for_input = torch.zeros_like(input)
    for_weight = torch.zeros_like(weight)
    if output_mask[0]:
        for_grad = for_grad + torch.convolution(grads[0], weight, None, stride, padding, dilation, transposed, output_padding, groups)
        for_weight = torch.convolution_backward(grad_output, grads[0], weight, None, stride, padding, dilation, transposed, output_padding,
                                                groups, [False, True, False])[1]
    if output_mask[1]:
        for_grad = for_grad + torch.convolution(input, grads[1], None, stride, padding, dilation, transposed, output_padding, groups)
        for_input = torch.convolution_backward(grad_output, input, grads[1], None, stride, padding, dilation, transposed, output_padding,
                                               groups, [True, False, False])[0]
    if output_mask[2]:
        for_grad = for_grad + grads[2].view([1, -1] + same_sizes(1, input.dim() - 2))
    return for_grad, for_input, for_weight


def silu_gate(grad: Tensor, x: Tensor) -> Tensor:
    s = torch.sigmoid(x)
    return grad * s * (s - 1)


def silu_second_order(grad: Tensor, x: Tensor) -> Tensor:
    s = torch.sigmoid(x)
    return grad * s * (1 - s) * (2 + x * (1 - 2 * s))


def mish_second_order(grad: Tensor, x: Tensor) -> Tensor:
    t = torch.tanh(torch.nn.functional.softplus(x))
    s = torch.sigmoid(x)
    return grad * s * (1 - t * t) * (2 + x * (1 - s) - 2 * x * s * t)


def gelu_second_order(grad: Tensor, x: Tensor, approximate: str) -> Tensor:
    if approximate == 'none':
        return grad * torch.exp(-0.5 * x * x) * 0.3989422804014327 * (2 - x * x)
    scale = 0.7978845608028654
    t = torch.tanh(scale * (x + 0.044715 * x * x * x))
    inner = scale * (1 + 0.134145 * x * x)
    return grad * (1 - t * t) * (inner + scale * 0.134145 * x * x - x * t * inner * inner)


def elu_second_order(grad: Tensor, alpha: float, scale: float, input_scale: float, is_result: bool, x: Tensor) -> Tensor:
    curve = grad * (input_scale * scale) if is_result else grad * (alpha * scale * input_scale * input_scale) * torch.exp(x * input_scale)
    return torch.where(x <= 0, curve, torch.zeros_like(curve))


def softplus_second_order(grad: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    s = torch.sigmoid(x * beta)
    return torch.where(x * beta > threshold, torch.zeros_like(grad), grad * s * (1 - s) * beta)


# Of the first result of nll_loss_forward; total: the second, the sum of the weights.
def nll_loss_input_backward(grad: Tensor, self: Tensor, target: Tensor, weight: Optional[Tensor], reduction: int, ignore_index: int, total: Tensor) -> Tensor:
    labels = target.reshape([1]) if self.dim() == 1 else target
    counted = labels != ignore_index
    safe = labels.masked_fill(counted.logical_not(), 0)
    scale = counted.to(grad.dtype)
    if weight is not None:
        scale = scale * weight.index_select(0, safe.reshape(-1)).view(safe.size())
    if reduction == 1:
        grad = grad / total
    result = torch.zeros_like(self.unsqueeze(0) if self.dim() == 1 else self)
    result = result.scatter(1, safe.unsqueeze(1), -(grad * scale).unsqueeze(1))
    return result.squeeze(0) if self.dim() == 1 else result
