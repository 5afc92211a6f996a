"""The functions behind the layers: operators under their own names, and what is made of several of them.

Every function takes and returns what torch.nn.functional's of that name does.
"""
import math
import warnings
from typing import Callable, List, Optional, Tuple

import wick
from wick import Tensor

# Functions that are operators as they stand, and those with another name.
conv1d = wick.conv1d
conv2d = wick.conv2d
conv3d = wick.conv3d
conv_transpose1d = wick.conv_transpose1d
conv_transpose2d = wick.conv_transpose2d
conv_transpose3d = wick.conv_transpose3d
conv_tbc = wick.conv_tbc
linear = wick.linear
bilinear = wick.bilinear
avg_pool1d = wick.avg_pool1d
avg_pool2d = wick.avg_pool2d
avg_pool3d = wick.avg_pool3d
adaptive_avg_pool1d = wick.adaptive_avg_pool1d
gelu = wick.gelu
hardshrink = wick.hardshrink
logsigmoid = wick.log_sigmoid
prelu = wick.prelu
softplus = wick.softplus
softshrink = wick.softshrink
relu_ = wick.relu_
elu_ = wick.elu_
selu_ = wick.selu_
celu_ = wick.celu_
rrelu_ = wick.rrelu_
leaky_relu_ = wick.leaky_relu_
hardtanh_ = wick.hardtanh_
threshold_ = wick.threshold_
one_hot = wick.one_hot
pad = wick.pad
pixel_shuffle = wick.pixel_shuffle
pixel_unshuffle = wick.pixel_unshuffle
channel_shuffle = wick.channel_shuffle
native_channel_shuffle = wick.native_channel_shuffle
cosine_similarity = wick.cosine_similarity
pairwise_distance = wick.pairwise_distance
pdist = wick.pdist
scaled_dot_product_attention = wick.scaled_dot_product_attention


# ---- arguments ----
def _sizes(value, n: int) -> List[int]:
    """``value`` for each of ``n`` dimensions."""
    return [value] * n if isinstance(value, int) else list(value)


def _default_softmax_dim(name: str, ndim: int) -> int:
    return 0 if ndim in (0, 1, 3) else 1


def _same_sizes(input: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
    if target.size() != input.size():
        warnings.warn('Using a target size ({}) that is different to the input size ({}). This will likely lead to '
                      'incorrect results due to broadcasting. Please ensure they have the same size.'
                      .format(target.size(), input.size()), stacklevel=3)
    return wick.broadcast_tensors(input, target)


def _reduction_number(reduction: str, size_average: Optional[bool] = None, reduce: Optional[bool] = None) -> int:
    """How losses reduce, as operators number it: 0 none, 1 mean, 2 sum. The two older flags go before the name."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            return 0
        return 1 if size_average is None or size_average else 2
    if reduction == 'mean':
        return 1
    if reduction == 'sum':
        return 2
    if reduction == 'none':
        return 0
    raise ValueError('{} is not a valid value for reduction'.format(reduction))


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError('dropout probability has to be between 0 and 1, but got {}'.format(p))


# ---- activations ----
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part of every element."""
    return wick.relu_(input) if inplace else wick.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Every element, brought between 0 and 6."""
    return wick.relu6_(input) if inplace else wick.relu6(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1)."""
    return wick.elu_(input, alpha) if inplace else wick.elu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """A scaled elu that keeps mean 0 and variance 1."""
    return wick.selu_(input) if inplace else wick.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha * (exp(x / alpha) - 1)."""
    return wick.celu_(input, alpha) if inplace else wick.celu(input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return wick.silu_(input) if inplace else wick.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return wick.mish_(input) if inplace else wick.mish(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, else negative_slope * x."""
    return wick.leaky_relu_(input, negative_slope) if inplace else wick.leaky_relu(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Every element, brought between min_val and max_val."""
    return wick.hardtanh_(input, min_val, max_val) if inplace else wick.hardtanh(input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return wick.hardsigmoid_(input) if inplace else wick.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * relu6(x + 3) / 6."""
    return wick.hardswish_(input) if inplace else wick.hardswish(input)


def rrelu(input: Tensor, lower: float = 1. / 8, upper: float = 1. / 3, training: bool = False,
          inplace: bool = False) -> Tensor:
    """leaky_relu with slopes drawn between lower and upper, or their mean when not training."""
    return wick.rrelu_(input, lower, upper, training) if inplace else wick.rrelu(input, lower, upper, training)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where above threshold, else value."""
    return wick.threshold_(input, threshold, value) if inplace else wick.threshold(input, threshold, value)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second."""
    if input.dim() == 0:
        raise RuntimeError('glu does not support scalars because halving size must be even')
    return wick.glu(input, dim)


def softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """exp(x) / sum of exp(x) along ``dim``; computed in ``dtype`` when that is given."""
    if dim is None:
        dim = _default_softmax_dim('softmax', input.dim())
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def log_softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3,
                dtype: Optional[int] = None) -> Tensor:
    """The logarithm of softmax."""
    if dim is None:
        dim = _default_softmax_dim('log_softmax', input.dim())
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def softmin(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """softmax of -x."""
    return softmax(-input, dim, _stacklevel, dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution; ``hard``: one-hot, with the soft sample's gradient."""
    noise = -wick.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return wick.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


# ---- dropout ----
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes elements with probability p and scales the others by 1 / (1 - p), when training."""
    if p < 0.0 or p > 1.0:
        _check_probability(p)
    return wick.dropout_(input, p, training) if inplace else wick.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps the mean and variance of what selu gives."""
    _check_probability(p)
    return wick.alpha_dropout_(input, p, training) if inplace else wick.alpha_dropout(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
    _check_probability(p)
    if inplace:
        return wick.feature_alpha_dropout_(input, p, training)
    return wick.feature_alpha_dropout(input, p, training)


def _channel_dropout(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    _check_probability(p)
    if not batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = wick.feature_dropout_(input, p, training) if inplace else wick.feature_dropout(input, p, training)
    if not batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError('dropout1d: Expected 2D or 3D input, but received a {}D input. Note that dropout1d exists '
                           'to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, '
                           'and an optional batch dimension (i.e. 2D or 3D inputs).'.format(input.dim()))
    return _channel_dropout(input, p, training, inplace, input.dim() == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W)."""
    return _channel_dropout(input, p, training, inplace, True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    return _channel_dropout(input, p, training, inplace, input.dim() != 4)


# ---- normalization ----
def layer_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, eps: float = 1e-05) -> Tensor:
    """Normalizes over the last dimensions, whose sizes are ``normalized_shape``."""
    return wick.layer_norm(input, normalized_shape, weight, bias, eps, True)


def group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               eps: float = 1e-05) -> Tensor:
    """Normalizes over groups of channels."""
    if input.dim() < 2:
        raise RuntimeError('Expected at least 2 dimensions for input tensor but received {}'.format(input.dim()))
    _check_values([input.size(0) * input.size(1) // num_groups, num_groups, *input.size()[2:]])
    return wick.group_norm(input, num_groups, weight, bias, eps, True)


def _check_values(size: List[int]) -> None:
    """Normalization needs more than one value for each channel."""
    values = size[0]
    for d in range(2, len(size)):
        values *= size[d]
    if values == 1:
        raise ValueError('Expected more than 1 value per channel when training, got input size {}'.format(size))


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor],
               weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Normalizes every channel over the batch; ``running_*`` are used, or updated when training."""
    if training:
        _check_values(input.size())
    return wick.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(input: Tensor, running_mean: Optional[Tensor] = None, running_var: Optional[Tensor] = None,
                  weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Normalizes every channel of every sample."""
    if use_input_stats and math.prod(input.size()[2:]) == 1:
        raise ValueError('Expected more than 1 spatial element when training, got input size {}'.format(input.size()))
    return wick.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def local_response_norm(input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75,
                        k: float = 1.0) -> Tensor:
    """Divides by (k + alpha * mean of squares of ``size`` neighboring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError('Expected 3D or higher dimensionality                          input (got {} dimensions)'
                         .format(input.dim()))
    if input.numel() == 0:
        return input
    squares = (input * input).unsqueeze(1)
    if input.dim() == 3:
        squares = pad(squares, [0, 0, size // 2, (size - 1) // 2])
        mean = wick.avg_pool2d(squares, [size, 1], 1).squeeze(1)
    else:
        sizes = input.size()
        squares = squares.view([sizes[0], 1, sizes[1], sizes[2], -1])
        squares = pad(squares, [0, 0, 0, 0, size // 2, (size - 1) // 2])
        mean = wick.avg_pool3d(squares, [size, 1, 1], 1).squeeze(1).view(sizes)
    return input / (mean * alpha + k).pow(beta)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12,
              out: Optional[Tensor] = None) -> Tensor:
    """Divides by the p-norm along ``dim``, or by ``eps`` where that is larger."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else wick.div(input, length, out=out)


# ---- embeddings ----
def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Rows of ``weight`` by index; ``max_norm`` shortens the rows that are used in place."""
    padding = -1
    if padding_idx is not None:
        count = weight.size(0)
        assert -count <= padding_idx < count, 'Padding_idx must be within num_embeddings'
        padding = padding_idx + count if padding_idx < 0 else padding_idx
    if max_norm is not None:
        input = input.contiguous()
        with wick.no_grad():
            wick.embedding_renorm_(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and wick.is_grad_enabled() and not wick.jit.is_tracing():
        if scale_grad_by_freq:
            raise RuntimeError('embedding_backward: scale_grad_by_freq not supported with sparse gradients')
        from wick.nn.sparse_gradient import Embedding
        return Embedding.apply(weight, input, padding)
    return wick.embedding(weight, input, padding, scale_grad_by_freq, sparse)


def embedding_bag(input: Tensor, weight: Tensor, offsets: Optional[Tensor] = None, max_norm: Optional[float] = None,
                  norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False,
                  per_sample_weights: Optional[Tensor] = None, include_last_offset: bool = False,
                  padding_idx: Optional[int] = None) -> Tensor:
    """Sums, means or maxima of rows of ``weight`` over bags of indices."""
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError('embedding_bag: If per_sample_weights ({}) is not None, then it must have the same shape as '
                         'the input ({})'.format(tuple(per_sample_weights.size()), tuple(input.size())))
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError('if input is 2D, then offsets has to be None, as input is treated is a mini-batch of '
                             'fixed length sequences. However, found offsets of type {}'.format(type(offsets)))
        offsets = wick.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError('offsets has to be a 1D Tensor but got None')
        if offsets.dim() != 1:
            raise ValueError('offsets has to be a 1D Tensor')
    else:
        raise ValueError('input has to be 1D or 2D Tensor, but got Tensor of dimension {}'.format(input.dim()))
    if mode not in ('sum', 'mean', 'max'):
        raise ValueError('mode has to be one of sum, mean or max')
    number = ('sum', 'mean', 'max').index(mode)
    if number == 2 and scale_grad_by_freq:
        raise ValueError('max mode does not support scaling the gradient by the frequency')
    if number == 2 and sparse:
        raise ValueError('max mode does not support sparse weights')
    if max_norm is not None:
        with wick.no_grad():
            wick.embedding_renorm_(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and number != 0:
        raise NotImplementedError('embedding_bag: per_sample_weights was not None. per_sample_weights is only '
                                  "supported for mode='sum' (got mode='{}').".format(mode))
    return wick.embedding_bag(weight, input, offsets, scale_grad_by_freq, number, sparse, per_sample_weights,
                              include_last_offset, padding_idx)[0]


# ---- losses ----
def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = 'mean') -> Tensor:
    """|input - target|."""
    input, target = _same_sizes(input, target)
    return wick.l1_loss(input, target, _reduction_number(reduction, size_average, reduce))


def mse_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
             reduction: str = 'mean') -> Tensor:
    """(input - target) ** 2."""
    input, target = _same_sizes(input, target)
    return wick.mse_loss(input, target, _reduction_number(reduction, size_average, reduce))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    """Squared below ``beta``, absolute above."""
    input, target = _same_sizes(input, target)
    return wick.smooth_l1_loss(input, target, _reduction_number(reduction, size_average, reduce), beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0) -> Tensor:
    """Half the square below ``delta``, linear above."""
    input, target = _same_sizes(input, target)
    return wick.huber_loss(input, target, _reduction_number(reduction), delta)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """Minus the log-probability of the target class."""
    return wick.nll_loss_nd(input, target, weight, _reduction_number(reduction, size_average, reduce), ignore_index)


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = 'mean',
                  label_smoothing: float = 0.0) -> Tensor:
    """nll_loss of log_softmax; the target may be probabilities."""
    return wick.cross_entropy_loss(input, target, weight, _reduction_number(reduction, size_average, reduce),
                                   ignore_index, label_smoothing)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                         size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                         reduction: str = 'mean') -> Tensor:
    """Cross entropy of probabilities with targets between 0 and 1."""
    if target.size() != input.size():
        raise ValueError('Using a target size ({}) that is different to the input size ({}) is deprecated. Please '
                         'ensure they have the same size.'.format(target.size(), input.size()))
    if weight is not None:
        weight = weight.expand_as(target) if weight.dim() <= target.dim() else weight
    return wick.binary_cross_entropy(input, target, weight, _reduction_number(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                     size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                     reduction: str = 'mean', pos_weight: Optional[Tensor] = None) -> Tensor:
    """binary_cross_entropy of sigmoid(input), computed stably."""
    if target.size() != input.size():
        raise ValueError('Target size ({}) must be the same as input size ({})'.format(target.size(), input.size()))
    return wick.binary_cross_entropy_with_logits(input, target, weight, pos_weight,
                                                 _reduction_number(reduction, size_average, reduce))


def kl_div(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
           reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence of ``target`` from the log-probabilities ``input``."""
    if reduction == 'batchmean' and size_average is None and reduce is None:
        total = wick.kl_div(input, target, 2, log_target=log_target)
        return total / input.size(0) if input.dim() != 0 else total
    return wick.kl_div(input, target, _reduction_number(reduction, size_average, reduce), log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: Optional[bool] = None, eps: float = 1e-08, reduce: Optional[bool] = None,
                     reduction: str = 'mean') -> Tensor:
    """Negative log-likelihood of Poisson counts; ``full`` adds Stirling's term."""
    return wick.poisson_nll_loss(input, target, log_input, full, eps,
                                 _reduction_number(reduction, size_average, reduce))


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-06,
                      reduction: str = 'mean') -> Tensor:
    """Negative log-likelihood of normal values with variances ``var``, at least ``eps``."""
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.size()[:-1] != var.size()[:-1] or var.size(-1) != 1:
            raise ValueError('var is of incorrect size')
    if reduction not in ('none', 'mean', 'sum'):
        raise ValueError(reduction + ' is not valid')
    if bool((var < 0).any()):
        raise ValueError('var has negative entry/entries')
    var = var.clone()
    with wick.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, _reduction_number(reduction))


def _reduced(loss: Tensor, number: int) -> Tensor:
    if number == 1:
        return loss.mean()
    return loss.sum() if number == 2 else loss


def soft_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None,
                     reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """log(1 + exp(-target * input))."""
    return wick.soft_margin_loss(input, target, _reduction_number(reduction, size_average, reduce))


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    return wick.hinge_embedding_loss(input, target, margin, _reduction_number(reduction, size_average, reduce))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                        reduction: str = 'mean') -> Tensor:
    """max(0, -target * (input1 - input2) + margin)."""
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError('margin_ranking_loss : All input tensors should have same dimension but got sizes: '
                           'input1: {}, input2: {}, target: {} '.format(input1.size(), input2.size(), target.size()))
    return wick.margin_ranking_loss(input1, input2, target, margin,
                                    _reduction_number(reduction, size_average, reduce))


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                          reduction: str = 'mean') -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    return wick.cosine_embedding_loss(input1, input2, target, margin,
                                      _reduction_number(reduction, size_average, reduce))


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
                        eps: float = 1e-06, swap: bool = False, size_average: Optional[bool] = None,
                        reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """max(0, distance to positive - distance to negative + margin)."""
    return wick.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                    _reduction_number(reduction, size_average, reduce))


def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *,
                                      distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None,
                                      margin: float = 1.0, swap: bool = False, reduction: str = 'mean') -> Tensor:
    """triplet_margin_loss with a distance of one's own."""
    distance = pairwise_distance if distance_function is None else distance_function
    to_positive, to_negative = distance(anchor, positive), distance(anchor, negative)
    if swap:
        to_negative = wick.minimum(to_negative, distance(positive, negative))
    return _reduced(wick.clamp(margin + to_positive - to_negative, min=0.0), _reduction_number(reduction))


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                      reduction: str = 'mean') -> Tensor:
    """Hinge loss of many classes."""
    number = _reduction_number(reduction, size_average, reduce)
    if p != 1 and p != 2:
        raise ValueError('only p == 1 and p == 2 supported')
    if weight is not None and weight.dim() != 1:
        raise ValueError('weight must be one-dimensional')
    return wick.multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None,
                           reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """Hinge loss of many classes and labels."""
    return wick.multilabel_margin_loss(input, target, _reduction_number(reduction, size_average, reduce))


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                reduction: str = 'mean') -> Tensor:
    """Binary cross entropy of many labels, averaged over them."""
    loss = -(target * wick.log_sigmoid(input) + (1 - target) * wick.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(dim=-1) / input.size(-1)
    return _reduced(loss, _reduction_number(reduction, size_average, reduce))


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0,
             reduction: str = 'mean', zero_infinity: bool = False) -> Tensor:
    """Connectionist temporal classification."""
    return wick.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction_number(reduction),
                         zero_infinity)


# ---- pooling ----
def max_pool1d_with_indices(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False,
                            return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    """max_pool1d and where the maxima were."""
    return wick.max_pool1d_with_indices(input, kernel_size, [] if stride is None else stride, padding, dilation,
                                        ceil_mode)


def max_pool2d_with_indices(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False,
                            return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    """max_pool2d and where the maxima were."""
    return wick.max_pool2d_with_indices(input, kernel_size, [] if stride is None else stride, padding, dilation,
                                        ceil_mode)


def max_pool3d_with_indices(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False,
                            return_indices: bool = False) -> Tuple[Tensor, Tensor]:
    """max_pool3d and where the maxima were."""
    return wick.max_pool3d_with_indices(input, kernel_size, [] if stride is None else stride, padding, dilation,
                                        ceil_mode)


def max_pool1d(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False,
               return_indices: bool = False):
    """Maxima over windows of (N, C, L) or (C, L); with ``return_indices`` also where they were."""
    step = [] if stride is None else stride
    if return_indices:
        return wick.max_pool1d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)
    return wick.max_pool1d(input, kernel_size, step, padding, dilation, ceil_mode)


def max_pool2d(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False,
               return_indices: bool = False):
    """Maxima over windows of (N, C, H, W) or (C, H, W); with ``return_indices`` also where they were."""
    step = [] if stride is None else stride
    if return_indices:
        return wick.max_pool2d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)
    return wick.max_pool2d(input, kernel_size, step, padding, dilation, ceil_mode)


def max_pool3d(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False,
               return_indices: bool = False):
    """Maxima over windows of (N, C, D, H, W) or (C, D, H, W); with ``return_indices`` also where they were."""
    step = [] if stride is None else stride
    if return_indices:
        return wick.max_pool3d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)
    return wick.max_pool3d(input, kernel_size, step, padding, dilation, ceil_mode)


def _adaptive_sizes(output_size, input: Tensor, n: int) -> List[int]:
    """Output sizes, those of the input where None stands."""
    if isinstance(output_size, int):
        return [output_size] * n
    if output_size is None:
        output_size = [None]
    wanted = list(output_size) * (n if len(output_size) == 1 else 1)
    return [size if size is not None else input.size(d - n) for d, size in enumerate(wanted)]


def adaptive_avg_pool2d(input: Tensor, output_size) -> Tensor:
    """Means over as many windows as ``output_size`` says; None keeps a dimension."""
    return wick.adaptive_avg_pool2d(input, _adaptive_sizes(output_size, input, 2))


def adaptive_avg_pool3d(input: Tensor, output_size) -> Tensor:
    """Means over as many windows as ``output_size`` says; None keeps a dimension."""
    return wick.adaptive_avg_pool3d(input, _adaptive_sizes(output_size, input, 3))


def adaptive_max_pool1d_with_indices(input: Tensor, output_size, return_indices: bool = False):
    """adaptive_max_pool1d and where the maxima were."""
    return wick.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(input: Tensor, output_size, return_indices: bool = False):
    """adaptive_max_pool2d and where the maxima were."""
    return wick.adaptive_max_pool2d(input, _adaptive_sizes(output_size, input, 2))


def adaptive_max_pool3d_with_indices(input: Tensor, output_size, return_indices: bool = False):
    """adaptive_max_pool3d and where the maxima were."""
    return wick.adaptive_max_pool3d(input, _adaptive_sizes(output_size, input, 3))


def adaptive_max_pool1d(input: Tensor, output_size, return_indices: bool = False):
    """Maxima over as many windows as ``output_size`` says."""
    result = adaptive_max_pool1d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool2d(input: Tensor, output_size, return_indices: bool = False):
    """Maxima over as many windows as ``output_size`` says; None keeps a dimension."""
    result = adaptive_max_pool2d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool3d(input: Tensor, output_size, return_indices: bool = False):
    """Maxima over as many windows as ``output_size`` says; None keeps a dimension."""
    result = adaptive_max_pool3d_with_indices(input, output_size)
    return result if return_indices else result[0]


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Optional[int] = None,
              ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm over windows."""
    powers = wick.avg_pool1d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return (wick.sign(powers) * wick.relu(wick.abs(powers))).mul(kernel_size).pow(1.0 / norm_type)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm over windows."""
    height, width = _sizes(kernel_size, 2)
    powers = wick.avg_pool2d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return (wick.sign(powers) * wick.relu(wick.abs(powers))).mul(height * width).pow(1.0 / norm_type)


def _fractional_pool(operator, n: int, input: Tensor, kernel_size, output_size, output_ratio, samples):
    if output_size is None and output_ratio is None:
        raise ValueError('fractional_max_pool{}d requires specifying either an output_size or an output_ratio'
                         .format(n))
    if output_size is None:
        ratios = [output_ratio] * n if isinstance(output_ratio, (int, float)) else output_ratio
        output_size = [int(size * ratio) for size, ratio in zip(input.size()[-n:], ratios)]
    if samples is None:
        batches = input.size(0) if input.dim() == n + 2 else 1
        samples = wick.rand(batches, input.size(-n - 1), n, dtype=input.dtype, device=input.device)
    return operator(input, kernel_size, output_size, samples)


def fractional_max_pool2d_with_indices(input: Tensor, kernel_size, output_size=None, output_ratio=None,
                                       return_indices: bool = False,
                                       _random_samples: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """fractional_max_pool2d and where the maxima were."""
    return _fractional_pool(wick.fractional_max_pool2d, 2, input, _sizes(kernel_size, 2),
                            None if output_size is None else _sizes(output_size, 2), output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(input: Tensor, kernel_size, output_size=None, output_ratio=None,
                                       return_indices: bool = False,
                                       _random_samples: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """fractional_max_pool3d and where the maxima were."""
    return _fractional_pool(wick.fractional_max_pool3d, 3, input, _sizes(kernel_size, 3),
                            None if output_size is None else _sizes(output_size, 3), output_ratio, _random_samples)


def fractional_max_pool2d(input: Tensor, kernel_size, output_size=None, output_ratio=None,
                          return_indices: bool = False, _random_samples: Optional[Tensor] = None):
    """Maxima over windows at random places (B. Graham, "Fractional Max-Pooling")."""
    result = fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)
    return result if return_indices else result[0]


def fractional_max_pool3d(input: Tensor, kernel_size, output_size=None, output_ratio=None,
                          return_indices: bool = False, _random_samples: Optional[Tensor] = None):
    """Maxima over windows at random places (B. Graham, "Fractional Max-Pooling")."""
    result = fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)
    return result if return_indices else result[0]


def _unpooled_sizes(input: Tensor, kernel_size: List[int], stride: List[int], padding: List[int],
                    output_size) -> List[int]:
    """The sizes before max pooling: those asked for, when pooling them could have given the input."""
    n = len(kernel_size)
    usual = [(input.size(d - n) - 1) * stride[d] + kernel_size[d] - 2 * padding[d] for d in range(n)]
    if output_size is None:
        return usual
    wanted = list(output_size)
    if len(wanted) == n + 2:
        wanted = wanted[2:]
    if len(wanted) != n:
        raise ValueError("output_size should be a sequence containing {} or {} elements, but it has a length of '{}'"
                         .format(n, n + 2, len(wanted)))
    for d in range(n):
        low, high = usual[d] - stride[d], usual[d] + stride[d]
        if not low < wanted[d] < high:
            raise ValueError('invalid output_size "{}" (dim {} must be between {} and {})'
                             .format(wanted, d, low, high))
    return wanted


def max_unpool1d(input: Tensor, indices: Tensor, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """Puts maxima back where they were, zeros elsewhere."""
    kernel = _sizes(kernel_size, 1)
    sizes = _unpooled_sizes(input, kernel, kernel if stride is None else _sizes(stride, 1), _sizes(padding, 1),
                            output_size)
    return wick.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), sizes + [1]).squeeze(-1)


def max_unpool2d(input: Tensor, indices: Tensor, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """Puts maxima back where they were, zeros elsewhere."""
    kernel = _sizes(kernel_size, 2)
    sizes = _unpooled_sizes(input, kernel, kernel if stride is None else _sizes(stride, 2), _sizes(padding, 2),
                            output_size)
    return wick.max_unpool2d(input, indices, sizes)


def max_unpool3d(input: Tensor, indices: Tensor, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """Puts maxima back where they were, zeros elsewhere."""
    kernel, around = _sizes(kernel_size, 3), _sizes(padding, 3)
    step = kernel if stride is None else _sizes(stride, 3)
    return wick.max_unpool3d(input, indices, _unpooled_sizes(input, kernel, step, around, output_size), step, around)


# ---- images ----
def fold(input: Tensor, output_size, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Adds sliding blocks, columns of the input, up to images."""
    return wick.col2im(input, _sizes(output_size, 2), _sizes(kernel_size, 2), _sizes(dilation, 2), _sizes(padding, 2),
                       _sizes(stride, 2))


def unfold(input: Tensor, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Sliding blocks of images as columns."""
    return wick.im2col(input, _sizes(kernel_size, 2), _sizes(dilation, 2), _sizes(padding, 2), _sizes(stride, 2))


def _number_of(choices, value: str, what: str) -> int:
    if value not in choices:
        listed = "'bilinear', 'nearest' or 'bicubic'" if what == 'mode' else "'zeros', 'border', or 'reflection'"
        raise ValueError("nn.functional.grid_sample(): expected {} to be {}, but got: '{}'"
                         .format(what, listed, value))
    return choices.index(value)


def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros',
                align_corners: Optional[bool] = None) -> Tensor:
    """Samples images at the places that ``grid`` names, from -1 to 1."""
    how = _number_of(('bilinear', 'nearest', 'bicubic'), mode, 'mode')
    outside = _number_of(('zeros', 'border', 'reflection'), padding_mode, 'padding_mode')
    return wick.grid_sampler(input, grid, how, outside, bool(align_corners))


def affine_grid(theta: Tensor, size: List[int], align_corners: Optional[bool] = None) -> Tensor:
    """The grid for ``grid_sample`` of affine maps ``theta``."""
    if not theta.is_floating_point():
        raise ValueError('Expected theta to have floating point type, but got {}'.format(theta.dtype))
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError('affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, '
                                  'respectively. Got size {}.'.format(size))
    if theta.dim() != 3 or tuple(theta.size()[1:]) != (n, n + 1):
        raise ValueError('Expected a batch of {}D affine matrices of shape Nx{}x{} for size {}. Got {}.'
                         .format(n, n, n + 1, size, theta.size()))
    if min(size) <= 0:
        raise ValueError('Expected non-zero, positive output size. Got {}'.format(size))
    return wick.affine_grid_generator(theta, size, bool(align_corners))


_UPSAMPLING = {('nearest', 3): 'upsample_nearest1d', ('nearest', 4): 'upsample_nearest2d',
               ('nearest', 5): 'upsample_nearest3d', ('nearest-exact', 3): '_upsample_nearest_exact1d',
               ('nearest-exact', 4): '_upsample_nearest_exact2d', ('nearest-exact', 5): '_upsample_nearest_exact3d',
               ('linear', 3): 'upsample_linear1d', ('bilinear', 4): 'upsample_bilinear2d',
               ('trilinear', 5): 'upsample_trilinear3d', ('bicubic', 4): 'upsample_bicubic2d'}


def interpolate(input: Tensor, size=None, scale_factor=None, mode: str = 'nearest',
                align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None,
                antialias: bool = False) -> Tensor:
    """Samples (N, C, ...) up or down to ``size``, or by ``scale_factor``.

    ``mode``: nearest, nearest-exact, area, linear (3D), bilinear, bicubic (4D), trilinear (5D).
    """
    n = input.dim() - 2
    corners = mode in ('linear', 'bilinear', 'bicubic', 'trilinear')
    if not corners and align_corners is not None:
        raise ValueError('align_corners option can only be set with the interpolating modes: linear | bilinear | '
                         'bicubic | trilinear')
    if (size is None) == (scale_factor is None):
        raise ValueError('either size or scale_factor should be defined' if size is None else
                         'only one of size or scale_factor should be defined')
    scales = None
    if size is not None:
        size = size if isinstance(size, (list, tuple)) else [size] * n
        if len(size) != n:
            raise ValueError(
                'Input and output must have the same number of spatial dimensions, but got input with spatial '
                'dimensions of {} and output size of {}. Please provide input tensor in (N, C, d1, d2, ...,dK) '
                'format and output size in (o1, o2, ...,oK) format.'.format(list(input.shape[2:]), size))
        if recompute_scale_factor:
            raise ValueError('recompute_scale_factor is not meaningful with an explicit size.')
    else:
        scales = [float(each) for each in scale_factor] if isinstance(scale_factor, (list, tuple)) else \
            [float(scale_factor)] * n
        if len(scales) != n:
            raise ValueError(
                'Input and scale_factor must have the same number of spatial dimensions, but got input with spatial '
                'dimensions of {} and scale_factor of shape {}. Please provide input tensor in (N, C, d1, d2, '
                '...,dK) format and scale_factor in (s1, s2, ...,sK) format.'
                .format(list(input.shape[2:]), scale_factor))
        if recompute_scale_factor or mode == 'area':
            size, scales = [math.floor(float(input.size(d + 2)) * scales[d]) for d in range(n)], None
    if antialias and not (mode in ('bilinear', 'bicubic') and n == 2):
        raise ValueError('Anti-alias option is only supported for bilinear and bicubic modes')
    if mode == 'area' and n in (1, 2, 3):
        return (wick.adaptive_avg_pool1d, wick.adaptive_avg_pool2d, wick.adaptive_avg_pool3d)[n - 1](input, size)
    name = _UPSAMPLING.get((mode, n + 2))
    if name is None:
        if mode in ('linear', 'bilinear', 'trilinear') and n in (1, 2, 3):
            raise NotImplementedError('Got {}D input, but {} mode needs {}D input'.format(
                n + 2, mode, {'linear': 3, 'bilinear': 4, 'trilinear': 5}[mode]))
        raise NotImplementedError('Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the modes: '
                                  'nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {})'
                                  .format(n + 2, mode))
    if antialias:
        name = '_' + name + '_aa'
    operator = getattr(wick, name)
    return operator(input, size, bool(align_corners), scales) if corners else operator(input, size, scales)


def upsample(input: Tensor, size=None, scale_factor=None, mode: str = 'nearest',
             align_corners: Optional[bool] = None) -> Tensor:
    """The older name of interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size=None, scale_factor=None) -> Tensor:
    """interpolate with mode nearest."""
    return interpolate(input, size, scale_factor, 'nearest')


def upsample_bilinear(input: Tensor, size=None, scale_factor=None) -> Tensor:
    """interpolate with mode bilinear and corners aligned."""
    return interpolate(input, size, scale_factor, 'bilinear', True)


# ---- attention ----
def _project(query: Tensor, key: Tensor, value: Tensor, weight: Tensor,
             bias: Optional[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    """Query, key and value through the three matrices that stand one below another in ``weight``."""
    width = query.size(-1)
    if key is value:
        if query is key:
            q, k, v = wick.linear(query, weight, bias).chunk(3, -1)
            return q, k, v
        q_weight, kv_weight = weight.split([width, width * 2])
        if bias is None:
            q_bias, kv_bias = None, None
        else:
            q_bias, kv_bias = bias.split([width, width * 2])
        q = wick.linear(query, q_weight, q_bias)
        k, v = wick.linear(key, kv_weight, kv_bias).chunk(2, -1)
        return q, k, v
    q_weight, k_weight, v_weight = weight.chunk(3)
    if bias is None:
        return wick.linear(query, q_weight), wick.linear(key, k_weight), wick.linear(value, v_weight)
    q_bias, k_bias, v_bias = bias.chunk(3)
    return (wick.linear(query, q_weight, q_bias), wick.linear(key, k_weight, k_bias),
            wick.linear(value, v_weight, v_bias))


def _added_mask(mask: Tensor, like: Tensor, what: str) -> Tensor:
    """A mask as what is added to the weights before softmax: -inf where a bool one is True."""
    if mask.is_floating_point():
        return mask
    assert mask.dtype == wick.bool or mask.dtype == wick.uint8, \
        'only bool and floating types of {} are supported'.format(what)
    added = wick.zeros_like(mask, dtype=like.dtype)
    return added.masked_fill_(mask.to(wick.bool), float('-inf'))


def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Optional[Tensor], in_proj_bias: Optional[Tensor], bias_k: Optional[Tensor],
        bias_v: Optional[Tensor], add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Optional[Tensor], training: bool = True, key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True, attn_mask: Optional[Tensor] = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Optional[Tensor] = None, k_proj_weight: Optional[Tensor] = None,
        v_proj_weight: Optional[Tensor] = None, static_k: Optional[Tensor] = None, static_v: Optional[Tensor] = None,
        average_attn_weights: bool = True) -> Tuple[Tensor, Optional[Tensor]]:
    """Attention of many heads over (L, N, E) or (L, E) queries and (S, N, E) keys and values.

    Returns the result, (L, N, E), and with ``need_weights`` the weights, (N, L, S), or (N, heads, L, S) when they are
    not averaged. A mask is bool (True: not attended to) or floating (added); ``attn_mask`` is (L, S) or
    (N * heads, L, S), ``key_padding_mask`` (N, S).
    """
    batched = query.dim() == 3
    assert batched or query.dim() == 2, \
        'query should be unbatched 2D or batched 3D tensor but received {}-D query tensor'.format(query.dim())
    assert key.dim() == query.dim() and value.dim() == query.dim(), \
        'For {} `query`, expected `key` and `value` to be {}-D but found {}-D and {}-D tensors respectively'.format(
            'batched (3-D)' if batched else 'unbatched (2-D)', query.dim(), key.dim(), value.dim())
    if not batched:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    assert width == embed_dim_to_check, \
        'was expecting embedding dimension of {}, but got {}'.format(embed_dim_to_check, width)
    if isinstance(width, Tensor):  # of a trace
        head = width.div(num_heads, rounding_mode='trunc')
    else:
        head = width // num_heads
    assert head * num_heads == width, 'embed_dim {} not divisible by num_heads {}'.format(width, num_heads)
    if use_separate_proj_weight:
        assert key.shape[:2] == value.shape[:2], \
            "key's sequence and batch dims {} do not match value's {}".format(key.shape[:2], value.shape[:2])
        assert q_proj_weight is not None and k_proj_weight is not None and v_proj_weight is not None, \
            'use_separate_proj_weight needs q_proj_weight, k_proj_weight and v_proj_weight'
        if in_proj_bias is None:
            q, k, v = (wick.linear(query, q_proj_weight), wick.linear(key, k_proj_weight),
                       wick.linear(value, v_proj_weight))
        else:
            q_bias, k_bias, v_bias = in_proj_bias.chunk(3)
            q, k, v = (wick.linear(query, q_proj_weight, q_bias), wick.linear(key, k_proj_weight, k_bias),
                       wick.linear(value, v_proj_weight, v_bias))
    else:
        assert key.shape == value.shape, 'key shape {} does not match value shape {}'.format(key.shape, value.shape)
        assert in_proj_weight is not None, 'use_separate_proj_weight is False but in_proj_weight is None'
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)

    if attn_mask is not None:
        attn_mask = _added_mask(attn_mask, q, 'attn_mask')
        if attn_mask.dim() == 2:
            if attn_mask.size(0) != length or attn_mask.size(1) != key.size(0):
                raise RuntimeError('The shape of the 2D attn_mask is {}, but should be {}.'.format(
                    attn_mask.shape, (length, key.size(0))))
            attn_mask = attn_mask.unsqueeze(0)
        elif attn_mask.dim() == 3:
            if (attn_mask.size(0) != batch * num_heads or attn_mask.size(1) != length
                    or attn_mask.size(2) != key.size(0)):
                raise RuntimeError('The shape of the 3D attn_mask is {}, but should be {}.'.format(
                    attn_mask.shape, (batch * num_heads, length, key.size(0))))
        else:
            raise RuntimeError("attn_mask's dimension {} is not supported".format(attn_mask.dim()))
    added = 0
    if bias_k is not None and bias_v is not None:
        assert static_k is None and static_v is None, 'bias cannot be added to static key or value.'
        k = wick.cat([k, bias_k.repeat(1, batch, 1)])
        v = wick.cat([v, bias_v.repeat(1, batch, 1)])
        added += 1
    q = q.contiguous().view(length, batch * num_heads, head).transpose(0, 1)
    if static_k is None:
        k = k.contiguous().view(k.size(0), batch * num_heads, head).transpose(0, 1)
    else:
        k = static_k
    if static_v is None:
        v = v.contiguous().view(v.size(0), batch * num_heads, head).transpose(0, 1)
    else:
        v = static_v
    if add_zero_attn:
        k = wick.cat([k, wick.zeros(batch * num_heads, 1, head, dtype=k.dtype, device=k.device)], 1)
        v = wick.cat([v, wick.zeros(batch * num_heads, 1, head, dtype=v.dtype, device=v.device)], 1)
        added += 1
    source = k.size(1)
    if added > 0 and attn_mask is not None:
        attn_mask = wick.constant_pad_nd(attn_mask, [0, added])
    if key_padding_mask is not None:
        padding = _added_mask(key_padding_mask, q, 'key_padding_mask')
        if added > 0:
            padding = wick.constant_pad_nd(padding, [0, added])
        assert padding.dim() == 2 and padding.size(0) == batch and padding.size(1) == source, \
            'expecting key_padding_mask shape of {}, but got {}'.format((batch, source), padding.shape)
        padding = padding.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(batch * num_heads, 1, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding

    q = q / math.sqrt(float(head))
    if attn_mask is None:
        weights = wick.bmm(q, k.transpose(-2, -1))
    else:
        weights = wick.baddbmm(attn_mask, q, k.transpose(-2, -1))
    weights = weights.softmax(-1)
    if training and dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    result = wick.bmm(weights, v).transpose(0, 1).contiguous().view(length * batch, width)
    result = wick.linear(result, out_proj_weight, out_proj_bias)
    result = result.view(length, batch, result.size(1))
    if not batched:
        result = result.squeeze(1)
    if not need_weights:
        return result, None
    weights = weights.view(batch, num_heads, length, source)
    if average_attn_weights:
        weights = weights.sum(dim=1) / num_heads
    if not batched:
        weights = weights.squeeze(0)
    return result, weights
