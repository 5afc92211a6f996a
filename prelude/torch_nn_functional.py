# torch.nn.functional: what PyTorch writes in Python. Operators of the same name that take the same arguments need no entry here.


def reduction_number(size_average: Optional[bool], reduce: Optional[bool], reduction: str) -> int:
    if size_average is not None or reduce is not None:
        averaged = True if size_average is None else size_average
        reduced = True if reduce is None else reduce
        if not reduced:
            return 0
        return 1 if averaged else 2
    if reduction == 'none':
        return 0
    if reduction == 'mean':
        return 1
    if reduction == 'sum':
        return 2
    raise ValueError('{} is not a valid value for reduction'.format(reduction))


# ---- activations ----
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.relu_(input) if inplace else torch.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.relu6_(input) if inplace else torch.relu6(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return torch.elu_(input, alpha) if inplace else torch.elu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.selu_(input) if inplace else torch.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return torch.celu_(input, alpha) if inplace else torch.celu(input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.silu_(input) if inplace else torch.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.mish_(input) if inplace else torch.mish(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    return torch.leaky_relu_(input, negative_slope) if inplace else torch.leaky_relu(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    return torch.hardtanh_(input, min_val, max_val) if inplace else torch.hardtanh(input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.hardsigmoid_(input) if inplace else torch.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.hardswish_(input) if inplace else torch.hardswish(input)


def rrelu(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False, inplace: bool = False) -> Tensor:
    return torch.rrelu_(input, lower, upper, training) if inplace else torch.rrelu(input, lower, upper, training)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    return torch.threshold_(input, threshold, value) if inplace else torch.threshold(input, threshold, value)


def tanhshrink(input: Tensor) -> Tensor:
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    return input / (input.abs() + 1)


def tanh(input: Tensor) -> Tensor:
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    return input.sigmoid()


def logsigmoid(input: Tensor) -> Tensor:
    return torch.log_sigmoid(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    if input.dim() == 0:
        raise RuntimeError('glu does not support scalars because halving size must be even')
    return torch.glu(input, dim)


def default_softmax_dim(ndim: int) -> int:
    return 0 if ndim == 0 or ndim == 1 or ndim == 3 else 1


def softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    d = default_softmax_dim(input.dim()) if dim is None else dim
    return input.softmax(d) if dtype is None else input.softmax(d, dtype=dtype)


def log_softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    d = default_softmax_dim(input.dim()) if dim is None else dim
    return input.log_softmax(d) if dtype is None else input.log_softmax(d, dtype=dtype)


def softmin(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    d = default_softmax_dim(input.dim()) if dim is None else dim
    return (-input).softmax(d) if dtype is None else (-input).softmax(d, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one = torch.zeros_like(logits).scatter_(dim, index, 1.0)
    return one - soft.detach() + soft


# ---- dropout ----
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError('dropout probability has to be between 0 and 1, but got {}'.format(p))
    return torch.dropout_(input, p, training) if inplace else torch.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError('dropout probability has to be between 0 and 1, but got {}'.format(p))
    return torch.alpha_dropout_(input, p, training) if inplace else torch.alpha_dropout(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError('dropout probability has to be between 0 and 1, but got {}'.format(p))
    return torch.feature_alpha_dropout_(input, p, training) if inplace else torch.feature_alpha_dropout(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError('dropout probability has to be between 0 and 1, but got {}'.format(p))
    batched = input.dim() == 3
    x = input if batched else (input.unsqueeze_(0) if inplace else input.unsqueeze(0))
    result = torch.feature_dropout_(x, p, training) if inplace else torch.feature_dropout(x, p, training)
    if not batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError('dropout probability has to be between 0 and 1, but got {}'.format(p))
    return torch.feature_dropout_(input, p, training) if inplace else torch.feature_dropout(input, p, training)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError('dropout probability has to be between 0 and 1, but got {}'.format(p))
    batched = input.dim() == 5
    x = input if batched else (input.unsqueeze_(0) if inplace else input.unsqueeze(0))
    result = torch.feature_dropout_(x, p, training) if inplace else torch.feature_dropout(x, p, training)
    if not batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


# ---- normalization ----
def layer_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               eps: float = 1e-05) -> Tensor:
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, True)


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    if training:
        values = input.size(0)
        for d in range(input.dim() - 2):
            values = values * input.size(d + 2)
        if values == 1:
            raise ValueError('Expected more than 1 value per channel when training, got input size {}'.format(input.size()))
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(input: Tensor, running_mean: Optional[Tensor] = None, running_var: Optional[Tensor] = None,
                  weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-05) -> Tensor:
    if use_input_stats:
        values = 1
        for d in range(2, input.dim()):
            values = values * input.size(d)
        if values == 1:
            raise ValueError('Expected more than 1 spatial element when training, got input size {}'.format(input.size()))
    return torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, eps: float = 1e-05) -> Tensor:
    if input.dim() < 2:
        raise RuntimeError('Expected at least 2 dimensions for input tensor but received {}'.format(input.dim()))
    return torch.group_norm(input, num_groups, weight, bias, eps, True)


def local_response_norm(input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    if input.dim() < 3:
        raise ValueError('Expected 3D or higher dimensionality                          input (got {} dimensions)'.format(input.dim()))
    if input.numel() == 0:
        return input
    squares = (input * input).unsqueeze(1)
    if input.dim() == 3:
        padded = torch.constant_pad_nd(squares, [0, 0, size // 2, (size - 1) // 2])
        mean = torch.avg_pool2d(padded, [size, 1], [1]).squeeze(1)
    else:
        sizes = input.size()
        flat = squares.view([sizes[0], 1, sizes[1], sizes[2], -1])
        padded = torch.constant_pad_nd(flat, [0, 0, 0, 0, size // 2, (size - 1) // 2])
        mean = torch.avg_pool3d(padded, [size, 1, 1], [1]).squeeze(1).view(sizes)
    return input / (mean * alpha + k).pow(beta)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Optional[Tensor] = None) -> Tensor:
    length = input.norm(p, [dim], keepdim=True).clamp_min(eps).expand_as(input)
    if out is None:
        return input / length
    return torch.div(input, length, out=out)


# ---- embeddings ----
def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    padding = -1
    if padding_idx is not None:
        if padding_idx > 0:
            assert padding_idx < weight.size(0), 'Padding_idx must be within num_embeddings'
            padding = padding_idx
        elif padding_idx < 0:
            assert padding_idx >= -weight.size(0), 'Padding_idx must be within num_embeddings'
            padding = weight.size(0) + padding_idx
        else:
            padding = 0
    if max_norm is not None:
        torch._no_grad_embedding_renorm_(weight, input, max_norm, norm_type)  # dead code, as it is in PyTorch
    return torch.embedding(weight, input, padding, scale_grad_by_freq, sparse)


def embedding_bag(input: Tensor, weight: Tensor, offsets: Optional[Tensor] = None, max_norm: Optional[float] = None,
                  norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False,
                  per_sample_weights: Optional[Tensor] = None, include_last_offset: bool = False, padding_idx: Optional[int] = None) -> Tensor:
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError('embedding_bag: If per_sample_weights ({}) is not None, then it must have the same shape as the input ({})'.format(per_sample_weights.size(), input.size()))
    flat = input
    weights = per_sample_weights
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError('if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences.')
        starts = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        flat = input.reshape(-1)
        if weights is not None:
            weights = weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError('offsets has to be a 1D Tensor but got None')
        if offsets.dim() != 1:
            raise ValueError('offsets has to be a 1D Tensor')
        starts = offsets
    else:
        raise ValueError('input has to be 1D or 2D Tensor, but got Tensor of dimension {}'.format(input.dim()))
    number = 0
    if mode == 'mean':
        number = 1
    elif mode == 'max':
        number = 2
    elif mode != 'sum':
        raise ValueError('mode has to be one of sum, mean or max')
    return torch.embedding_bag(weight, flat, starts, scale_grad_by_freq, number, sparse, weights, include_last_offset, padding_idx)[0]


# ---- losses ----
def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = 'mean') -> Tensor:
    return torch.l1_loss(input, target, reduction_number(size_average, reduce, reduction))


def mse_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
             reduction: str = 'mean') -> Tensor:
    return torch.mse_loss(input, target, reduction_number(size_average, reduce, reduction))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    return torch.smooth_l1_loss(input, target, reduction_number(size_average, reduce, reduction), beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0) -> Tensor:
    return torch.huber_loss(input, target, reduction_number(None, None, reduction), delta)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    return torch.nll_loss_nd(input, target, weight, reduction_number(size_average, reduce, reduction), ignore_index)


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = 'mean',
                  label_smoothing: float = 0.0) -> Tensor:
    return torch.cross_entropy_loss(input, target, weight, reduction_number(size_average, reduce, reduction), ignore_index, label_smoothing)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    if target.size() != input.size():
        raise ValueError('Using a target size ({}) that is different to the input size ({}) is deprecated. Please ensure they have the same size.'.format(target.size(), input.size()))
    scale = weight
    if scale is not None:
        scale = scale.expand(torch._infer_size(target.size(), scale.size()))
    return torch.binary_cross_entropy(input, target, scale, reduction_number(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                                     reduce: Optional[bool] = None, reduction: str = 'mean', pos_weight: Optional[Tensor] = None) -> Tensor:
    if target.size() != input.size():
        raise ValueError('Target size ({}) must be the same as input size ({})'.format(target.size(), input.size()))
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction_number(size_average, reduce, reduction))


def kl_div(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None, reduction: str = 'mean',
           log_target: bool = False) -> Tensor:
    if reduction == 'batchmean':
        total = torch.kl_div(input, target, 2, log_target=log_target)
        return total / input.size(0) if input.dim() != 0 else total
    return torch.kl_div(input, target, reduction_number(size_average, reduce, reduction), log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: Optional[bool] = None,
                     eps: float = 1e-08, reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    return torch.poisson_nll_loss(input, target, log_input, full, eps, reduction_number(size_average, reduce, reduction))


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> Tensor:
    spread = var
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            spread = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            raise ValueError('var is of incorrect size')
    if reduction != 'none' and reduction != 'mean' and reduction != 'sum':
        raise ValueError(reduction + ' is not valid')
    if bool((spread < 0).any()):
        raise ValueError('var has negative entry/entries')
    bounded = spread.clone()
    with torch.no_grad():
        bounded.clamp_(min=eps)
    loss = 0.5 * (bounded.log() + (input - target) ** 2 / bounded)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    if reduction == 'mean':
        return loss.mean()
    if reduction == 'sum':
        return loss.sum()
    return loss


def soft_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                     reduction: str = 'mean') -> Tensor:
    return torch.soft_margin_loss(input, target, reduction_number(size_average, reduce, reduction))


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    return torch.hinge_embedding_loss(input, target, margin, reduction_number(size_average, reduce, reduction))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, size_average: Optional[bool] = None,
                        reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError('margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {}, input2: {}, target: {} '.format(input1.size(), input2.size(), target.size()))
    return torch.margin_ranking_loss(input1, input2, target, margin, reduction_number(size_average, reduce, reduction))


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, size_average: Optional[bool] = None,
                          reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    return torch.cosine_embedding_loss(input1, input2, target, margin, reduction_number(size_average, reduce, reduction))


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06,
                        swap: bool = False, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                        reduction: str = 'mean') -> Tensor:
    return torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction_number(size_average, reduce, reduction))


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      size_average: Optional[bool] = None, reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    if p != 1 and p != 2:
        raise ValueError('only p == 1 and p == 2 supported')
    return torch.multi_margin_loss(input, target, p, margin, weight, reduction_number(size_average, reduce, reduction))


def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                           reduction: str = 'mean') -> Tensor:
    return torch.multilabel_margin_loss(input, target, reduction_number(size_average, reduce, reduction))


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                                reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    loss = -(target * torch.log_sigmoid(input) + (1 - target) * torch.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum([input.dim() - 1]) / input.size(input.dim() - 1)
    number = reduction_number(size_average, reduce, reduction)
    if number == 1:
        return loss.mean()
    if number == 2:
        return loss.sum()
    return loss


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0, reduction: str = 'mean',
             zero_infinity: bool = False) -> Tensor:
    return torch.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction_number(None, None, reduction), zero_infinity)


# ---- pooling ----
def max_pool1d_with_indices(input: Tensor, kernel_size: BroadcastingList1[int], stride: Optional[BroadcastingList1[int]] = None,
                            padding: BroadcastingList1[int] = 0, dilation: BroadcastingList1[int] = 1, ceil_mode: bool = False,
                            return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    return torch.max_pool1d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)


def max_pool2d_with_indices(input: Tensor, kernel_size: BroadcastingList2[int], stride: Optional[BroadcastingList2[int]] = None,
                            padding: BroadcastingList2[int] = 0, dilation: BroadcastingList2[int] = 1, ceil_mode: bool = False,
                            return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    return torch.max_pool2d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)


def max_pool3d_with_indices(input: Tensor, kernel_size: BroadcastingList3[int], stride: Optional[BroadcastingList3[int]] = None,
                            padding: BroadcastingList3[int] = 0, dilation: BroadcastingList3[int] = 1, ceil_mode: bool = False,
                            return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    return torch.max_pool3d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)


# What the plain name of a maximum means follows from the constant `return_indices`.
def _max_pool1d(input: Tensor, kernel_size: BroadcastingList1[int], stride: Optional[BroadcastingList1[int]] = None,
                padding: BroadcastingList1[int] = 0, dilation: BroadcastingList1[int] = 1, ceil_mode: bool = False,
                return_indices: bool = False) -> Tensor:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    return torch.max_pool1d(input, kernel_size, step, padding, dilation, ceil_mode)


max_pool1d = boolean_dispatch('return_indices', 6, False, max_pool1d_with_indices, _max_pool1d)


def _max_pool2d(input: Tensor, kernel_size: BroadcastingList2[int], stride: Optional[BroadcastingList2[int]] = None,
                padding: BroadcastingList2[int] = 0, dilation: BroadcastingList2[int] = 1, ceil_mode: bool = False,
                return_indices: bool = False) -> Tensor:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    return torch.max_pool2d(input, kernel_size, step, padding, dilation, ceil_mode)


max_pool2d = boolean_dispatch('return_indices', 6, False, max_pool2d_with_indices, _max_pool2d)


def _max_pool3d(input: Tensor, kernel_size: BroadcastingList3[int], stride: Optional[BroadcastingList3[int]] = None,
                padding: BroadcastingList3[int] = 0, dilation: BroadcastingList3[int] = 1, ceil_mode: bool = False,
                return_indices: bool = False) -> Tensor:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    return torch.max_pool3d(input, kernel_size, step, padding, dilation, ceil_mode)


max_pool3d = boolean_dispatch('return_indices', 6, False, max_pool3d_with_indices, _max_pool3d)


def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: BroadcastingList2[int], output_size: Optional[BroadcastingList2[int]] = None,
                                       output_ratio: Optional[BroadcastingList2[float]] = None, return_indices: bool = False,
                                       _random_samples: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    if output_size is None and output_ratio is None:
        raise ValueError("fractional_max_pool2d requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratio = torch.jit._unwrap_optional(output_ratio)
        output_size = [int(float(input.size(-2)) * ratio[0]), int(float(input.size(-1)) * ratio[1])]
    if _random_samples is None:
        batches = 1 if input.dim() == 3 else input.size(0)
        _random_samples = torch.rand([batches, input.size(-3), 2], dtype=input.dtype, device=input.device)
    return torch.fractional_max_pool2d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool2d(input: Tensor, kernel_size: BroadcastingList2[int], output_size: Optional[BroadcastingList2[int]] = None,
                           output_ratio: Optional[BroadcastingList2[float]] = None, return_indices: bool = False,
                           _random_samples: Optional[Tensor] = None) -> Tensor:
    return fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)[0]


fractional_max_pool2d = boolean_dispatch('return_indices', 4, False, fractional_max_pool2d_with_indices, _fractional_max_pool2d)


def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: BroadcastingList3[int], output_size: Optional[BroadcastingList3[int]] = None,
                                       output_ratio: Optional[BroadcastingList3[float]] = None, return_indices: bool = False,
                                       _random_samples: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    if output_size is None and output_ratio is None:
        raise ValueError("fractional_max_pool3d requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratio = torch.jit._unwrap_optional(output_ratio)
        output_size = [int(float(input.size(-3)) * ratio[0]), int(float(input.size(-2)) * ratio[1]), int(float(input.size(-1)) * ratio[2])]
    if _random_samples is None:
        batches = 1 if input.dim() == 4 else input.size(0)
        _random_samples = torch.rand([batches, input.size(-4), 3], dtype=input.dtype, device=input.device)
    return torch.fractional_max_pool3d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool3d(input: Tensor, kernel_size: BroadcastingList3[int], output_size: Optional[BroadcastingList3[int]] = None,
                           output_ratio: Optional[BroadcastingList3[float]] = None, return_indices: bool = False,
                           _random_samples: Optional[Tensor] = None) -> Tensor:
    return fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)[0]


fractional_max_pool3d = boolean_dispatch('return_indices', 4, False, fractional_max_pool3d_with_indices, _fractional_max_pool3d)


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: BroadcastingList1[int], return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    return torch.adaptive_max_pool1d(input, output_size)


def _adaptive_max_pool1d(input: Tensor, output_size: BroadcastingList1[int], return_indices: bool = False) -> Tensor:
    return torch.adaptive_max_pool1d(input, output_size)[0]


adaptive_max_pool1d = boolean_dispatch('return_indices', 2, False, adaptive_max_pool1d_with_indices, _adaptive_max_pool1d)


def whole_sizes(output_size: List[int], sizes: List[int]) -> List[int]:
    if len(sizes) <= len(output_size):
        raise ValueError('Input dimension should be at least {}'.format(len(output_size) + 1))
    return output_size


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: BroadcastingList2[int], return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    return torch.adaptive_max_pool2d(input, whole_sizes(output_size, input.size()))


def _adaptive_max_pool2d(input: Tensor, output_size: BroadcastingList2[int], return_indices: bool = False) -> Tensor:
    return torch.adaptive_max_pool2d(input, whole_sizes(output_size, input.size()))[0]


adaptive_max_pool2d = boolean_dispatch('return_indices', 2, False, adaptive_max_pool2d_with_indices, _adaptive_max_pool2d)


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: BroadcastingList3[int], return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    return torch.adaptive_max_pool3d(input, whole_sizes(output_size, input.size()))


def _adaptive_max_pool3d(input: Tensor, output_size: BroadcastingList3[int], return_indices: bool = False) -> Tensor:
    return torch.adaptive_max_pool3d(input, whole_sizes(output_size, input.size()))[0]


adaptive_max_pool3d = boolean_dispatch('return_indices', 2, False, adaptive_max_pool3d_with_indices, _adaptive_max_pool3d)


def adaptive_avg_pool2d(input: Tensor, output_size: BroadcastingList2[int]) -> Tensor:
    return torch.adaptive_avg_pool2d(input, whole_sizes(output_size, input.size()))


def adaptive_avg_pool3d(input: Tensor, output_size: BroadcastingList3[int]) -> Tensor:
    return torch.adaptive_avg_pool3d(input, whole_sizes(output_size, input.size()))


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Optional[BroadcastingList1[int]] = None,
              ceil_mode: bool = False) -> Tensor:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    mean = torch.avg_pool1d(input.pow(norm_type), [kernel_size], step, [0], ceil_mode)
    return (torch.sign(mean) * torch.relu(torch.abs(mean))).mul(kernel_size).pow(1.0 / norm_type)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: BroadcastingList2[int], stride: Optional[BroadcastingList2[int]] = None,
              ceil_mode: bool = False) -> Tensor:
    step = torch.jit.annotate(List[int], []) if stride is None else stride
    mean = torch.avg_pool2d(input.pow(norm_type), kernel_size, step, [0], ceil_mode)
    return (torch.sign(mean) * torch.relu(torch.abs(mean))).mul(kernel_size[0] * kernel_size[1]).pow(1.0 / norm_type)


def unpooled_sizes(input: Tensor, kernel_size: List[int], stride: List[int], padding: List[int], output_size: Optional[List[int]]) -> List[int]:
    n = len(kernel_size)
    sizes = input.size()
    default: List[int] = []
    for d in range(n):
        default.append((sizes[len(sizes) - n + d] - 1) * stride[d] + kernel_size[d] - 2 * padding[d])
    if output_size is None:
        return default
    wanted = output_size
    if len(wanted) == n + 2:
        wanted = wanted[2:]
    if len(wanted) != n:
        raise ValueError('output_size should be a sequence containing {} or {} elements, but it has a length of {}'.format(n, n + 2, len(wanted)))
    for d in range(n):
        if not (default[d] - stride[d] < wanted[d] and wanted[d] < default[d] + stride[d]):
            raise ValueError('invalid output_size {} (dim {} must be between {} and {})'.format(wanted, d, default[d] - stride[d], default[d] + stride[d]))
    return wanted


def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: BroadcastingList1[int], stride: Optional[BroadcastingList1[int]] = None,
                 padding: BroadcastingList1[int] = 0, output_size: Optional[BroadcastingList1[int]] = None) -> Tensor:
    step = kernel_size if stride is None else stride
    sizes = unpooled_sizes(input, kernel_size, step, padding, output_size)
    return torch.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), sizes + [1]).squeeze(-1)


def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: BroadcastingList2[int], stride: Optional[BroadcastingList2[int]] = None,
                 padding: BroadcastingList2[int] = 0, output_size: Optional[BroadcastingList2[int]] = None) -> Tensor:
    step = kernel_size if stride is None else stride
    return torch.max_unpool2d(input, indices, unpooled_sizes(input, kernel_size, step, padding, output_size))


def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: BroadcastingList3[int], stride: Optional[BroadcastingList3[int]] = None,
                 padding: BroadcastingList3[int] = 0, output_size: Optional[BroadcastingList3[int]] = None) -> Tensor:
    step = kernel_size if stride is None else stride
    return torch.max_unpool3d(input, indices, unpooled_sizes(input, kernel_size, step, padding, output_size), step, padding)


# ---- images ----
def fold(input: Tensor, output_size: BroadcastingList2[int], kernel_size: BroadcastingList2[int], dilation: BroadcastingList2[int] = 1,
         padding: BroadcastingList2[int] = 0, stride: BroadcastingList2[int] = 1) -> Tensor:
    return torch.col2im(input, output_size, kernel_size, dilation, padding, stride)


def unfold(input: Tensor, kernel_size: BroadcastingList2[int], dilation: BroadcastingList2[int] = 1, padding: BroadcastingList2[int] = 0,
           stride: BroadcastingList2[int] = 1) -> Tensor:
    return torch.im2col(input, kernel_size, dilation, padding, stride)


def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: Optional[bool] = None) -> Tensor:
    if mode != 'bilinear' and mode != 'nearest' and mode != 'bicubic':
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{}'".format(mode))
    if padding_mode != 'zeros' and padding_mode != 'border' and padding_mode != 'reflection':
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{}'".format(padding_mode))
    how = 0
    if mode == 'nearest':
        how = 1
    elif mode == 'bicubic':
        how = 2
    outside = 0
    if padding_mode == 'border':
        outside = 1
    elif padding_mode == 'reflection':
        outside = 2
    return torch.grid_sampler(input, grid, how, outside, False if align_corners is None else align_corners)


def affine_grid(theta: Tensor, size: List[int], align_corners: Optional[bool] = None) -> Tensor:
    if not theta.is_floating_point():
        raise ValueError('Expected theta to have floating point type, but got {}'.format(theta.dtype))
    d = len(size) - 2
    if d != 2 and d != 3:
        raise NotImplementedError('affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {}.'.format(size))
    if theta.dim() != 3 or theta.size(-2) != d or theta.size(-1) != d + 1:
        raise ValueError('Expected a batch of {}D affine matrices of shape Nx{}x{} for size {}. Got {}.'.format(d, d, d + 1, size, theta.size()))
    if min(size) <= 0:
        raise ValueError('Expected non-zero, positive output size. Got {}'.format(size))
    return torch.affine_grid_generator(theta, size, False if align_corners is None else align_corners)


def interpolate_to(input: Tensor, sizes: Optional[List[int]], scales: Optional[List[float]], mode: str, align_corners: Optional[bool],
                   recompute_scale_factor: Optional[bool], antialias: bool) -> Tensor:
    spatial = input.dim() - 2
    if mode == 'nearest' or mode == 'area' or mode == 'nearest-exact':
        if align_corners is not None:
            raise ValueError('align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear')
    align = False if align_corners is None else align_corners
    if sizes is not None and scales is not None:
        raise ValueError('only one of size or scale_factor should be defined')
    if sizes is None and scales is None:
        raise ValueError('either size or scale_factor should be defined')
    wanted = sizes
    factors = scales
    if sizes is not None and len(sizes) != spatial:
        raise ValueError('Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of {} and output size of {}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format.'.format(input.size()[2:], sizes))
    if scales is not None and len(scales) != spatial:
        raise ValueError('Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of {} and scale_factor of shape {}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format.'.format(input.size()[2:], scales))
    if recompute_scale_factor is not None and recompute_scale_factor and sizes is not None:
        raise ValueError('recompute_scale_factor is not meaningful with an explicit size.')
    recompute = recompute_scale_factor is not None and recompute_scale_factor
    if scales is not None and (recompute or mode == 'area'):
        computed: List[int] = []
        for d in range(spatial):
            computed.append(int(math.floor(float(input.size(d + 2)) * scales[d])))
        wanted = computed
        factors = None
    if antialias and not ((mode == 'bilinear' or mode == 'bicubic') and input.dim() == 4):
        raise ValueError('Anti-alias option is only supported for bilinear and bicubic modes')
    if input.dim() == 3 and mode == 'nearest':
        return torch.upsample_nearest1d(input, wanted, factors)
    if input.dim() == 4 and mode == 'nearest':
        return torch.upsample_nearest2d(input, wanted, factors)
    if input.dim() == 5 and mode == 'nearest':
        return torch.upsample_nearest3d(input, wanted, factors)
    if input.dim() == 3 and mode == 'nearest-exact':
        return torch._upsample_nearest_exact1d(input, wanted, factors)
    if input.dim() == 4 and mode == 'nearest-exact':
        return torch._upsample_nearest_exact2d(input, wanted, factors)
    if input.dim() == 5 and mode == 'nearest-exact':
        return torch._upsample_nearest_exact3d(input, wanted, factors)
    if mode == 'area':
        assert wanted is not None
        if input.dim() == 3:
            return torch.adaptive_avg_pool1d(input, wanted)
        if input.dim() == 4:
            return torch.adaptive_avg_pool2d(input, wanted)
        if input.dim() == 5:
            return torch.adaptive_avg_pool3d(input, wanted)
    if input.dim() == 3 and mode == 'linear':
        return torch.upsample_linear1d(input, wanted, align, factors)
    if input.dim() == 4 and mode == 'bilinear':
        if antialias:
            return torch._upsample_bilinear2d_aa(input, wanted, align, factors)
        return torch.upsample_bilinear2d(input, wanted, align, factors)
    if input.dim() == 5 and mode == 'trilinear':
        return torch.upsample_trilinear3d(input, wanted, align, factors)
    if input.dim() == 4 and mode == 'bicubic':
        if antialias:
            return torch._upsample_bicubic2d_aa(input, wanted, align, factors)
        return torch.upsample_bicubic2d(input, wanted, align, factors)
    if mode == 'linear' or mode == 'bilinear' or mode == 'trilinear':
        needed = 3 if mode == 'linear' else 4 if mode == 'bilinear' else 5
        raise NotImplementedError('Got {}D input, but {} mode needs {}D input'.format(input.dim(), mode, needed))
    raise NotImplementedError('Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {})'.format(input.dim(), mode))


def repeated_ints(value: Optional[int], n: int) -> Optional[List[int]]:
    if value is None:
        return None
    return [value for _ in range(n)]


def repeated_floats(value: Optional[float], n: int) -> Optional[List[float]]:
    if value is None:
        return None
    return [value for _ in range(n)]


@torch.jit._overload
def interpolate(input: Tensor, size: Optional[int] = None, scale_factor: Optional[List[float]] = None, mode: str = 'nearest',
                align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None, antialias: bool = False) -> Tensor:
    return interpolate_to(input, repeated_ints(size, input.dim() - 2), scale_factor, mode, align_corners, recompute_scale_factor, antialias)


@torch.jit._overload
def interpolate(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[List[float]] = None, mode: str = 'nearest',
                align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None, antialias: bool = False) -> Tensor:
    return interpolate_to(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)


@torch.jit._overload
def interpolate(input: Tensor, size: Optional[int] = None, scale_factor: Optional[float] = None, mode: str = 'nearest',
                align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None, antialias: bool = False) -> Tensor:
    spatial = input.dim() - 2
    return interpolate_to(input, repeated_ints(size, spatial), repeated_floats(scale_factor, spatial), mode, align_corners,
                          recompute_scale_factor, antialias)


@torch.jit._overload
def interpolate(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[float] = None, mode: str = 'nearest',
                align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None, antialias: bool = False) -> Tensor:
    return interpolate_to(input, size, repeated_floats(scale_factor, input.dim() - 2), mode, align_corners, recompute_scale_factor, antialias)


@torch.jit._overload
def upsample_nearest(input: Tensor, size: Optional[int] = None, scale_factor: Optional[float] = None) -> Tensor:
    spatial = input.dim() - 2
    return interpolate_to(input, repeated_ints(size, spatial), repeated_floats(scale_factor, spatial), 'nearest', None, None, False)


@torch.jit._overload
def upsample_nearest(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[float] = None) -> Tensor:
    return interpolate_to(input, size, repeated_floats(scale_factor, input.dim() - 2), 'nearest', None, None, False)


@torch.jit._overload
def upsample_bilinear(input: Tensor, size: Optional[int] = None, scale_factor: Optional[float] = None) -> Tensor:
    spatial = input.dim() - 2
    return interpolate_to(input, repeated_ints(size, spatial), repeated_floats(scale_factor, spatial), 'bilinear', True, None, False)


@torch.jit._overload
def upsample_bilinear(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[float] = None) -> Tensor:
    return interpolate_to(input, size, repeated_floats(scale_factor, input.dim() - 2), 'bilinear', True, None, False)


@torch.jit._overload
def upsample_bilinear(input: Tensor, size: Optional[int] = None, scale_factor: Optional[List[float]] = None) -> Tensor:
    return interpolate_to(input, repeated_ints(size, input.dim() - 2), scale_factor, 'bilinear', True, None, False)


@torch.jit._overload
def upsample_bilinear(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[List[float]] = None) -> Tensor:
    return interpolate_to(input, size, scale_factor, 'bilinear', True, None, False)


@torch.jit._overload
def upsample(input: Tensor, size: Optional[int] = None, scale_factor: Optional[float] = None, mode: str = 'nearest',
             align_corners: Optional[bool] = None) -> Tensor:
    spatial = input.dim() - 2
    return interpolate_to(input, repeated_ints(size, spatial), repeated_floats(scale_factor, spatial), mode, align_corners, None, False)


@torch.jit._overload
def upsample(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[float] = None, mode: str = 'nearest',
             align_corners: Optional[bool] = None) -> Tensor:
    return interpolate_to(input, size, repeated_floats(scale_factor, input.dim() - 2), mode, align_corners, None, False)
