"""Values that layers start from. The functions change their tensor in place, without gradients, and return it."""
import math

import wick

_GAINS = {name: 1.0 for name in ('linear', 'conv1d', 'conv2d', 'conv3d', 'conv_transpose1d', 'conv_transpose2d',
                                 'conv_transpose3d', 'sigmoid')}
_GAINS.update({'tanh': 5.0 / 3, 'relu': math.sqrt(2.0), 'selu': 3.0 / 4})


def calculate_gain(nonlinearity, param=None):
    """By how much to scale weights before an activation; ``param`` is leaky_relu's slope."""
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != 'leaky_relu':
        raise ValueError('Unsupported nonlinearity {}'.format(nonlinearity))
    if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
        raise ValueError('negative_slope {} not a valid number'.format(param))
    slope = 0.01 if param is None else param
    return math.sqrt(2.0 / (1 + slope ** 2))


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError('Fan in and fan out can not be computed for tensor with fewer than 2 dimensions')
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ('fan_in', 'fan_out'):
        raise ValueError("Mode {} not supported, please use one of ['fan_in', 'fan_out']".format(mode))
    return _calculate_fan_in_and_fan_out(tensor)[mode == 'fan_out']


def uniform_(tensor, a=0.0, b=1.0):
    """Uniform between a and b."""
    with wick.no_grad():
        return tensor.uniform_(a, b)


def normal_(tensor, mean=0.0, std=1.0):
    """Normal."""
    with wick.no_grad():
        return tensor.normal_(mean, std)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    """Normal, drawn again outside of a to b: by the inverse of the distribution function."""
    low, high = ((1.0 + math.erf((bound - mean) / std / math.sqrt(2.0))) / 2.0 for bound in (a, b))
    with wick.no_grad():
        tensor.uniform_(2 * low - 1, 2 * high - 1).erfinv_()
        return tensor.mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


def constant_(tensor, val):
    """``val`` everywhere."""
    with wick.no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Zeros."""
    with wick.no_grad():
        return tensor.zero_()


def eye_(tensor):
    """Ones on the diagonal of a matrix, zeros elsewhere."""
    if tensor.dim() != 2:
        raise ValueError('Only tensors with 2 dimensions are supported')
    with wick.no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1.0)
    return tensor


def dirac_(tensor, groups=1):
    """Convolution weights that keep as many channels as they can as they are."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError('Only tensors with 3, 4, or 5 dimensions are supported')
    if tensor.size(0) % groups != 0:
        raise ValueError('dim 0 must be divisible by groups')
    per_group = tensor.size(0) // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with wick.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.size(1))):
                tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def xavier_uniform_(tensor, gain=1.0):
    """Uniform with variance gain² * 2 / (fan in + fan out) (X. Glorot, Y. Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    """Normal with variance gain² * 2 / (fan in + fan out) (X. Glorot, Y. Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)))


def kaiming_uniform_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'):
    """Uniform with variance gain² / fan (K. He et al., 2015)."""
    if 0 in tensor.shape:
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(fan))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'):
    """Normal with variance gain² / fan (K. He et al., 2015)."""
    if 0 in tensor.shape:
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    return normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(fan))


def orthogonal_(tensor, gain=1):
    """Rows or columns, whichever are fewer, orthonormal times gain (A. Saxe et al., 2013)."""
    if tensor.dim() < 2:
        raise ValueError('Only tensors with 2 or more dimensions are supported')
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty(rows, columns).normal_(0, 1)
    if rows < columns:
        flat = flat.t()
    q, r = wick.linalg_qr(flat)
    q = q * r.diagonal().sign()
    if rows < columns:
        q = q.t()
    with wick.no_grad():
        return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)


def sparse_(tensor, sparsity, std=0.01):
    """Normal, with a share ``sparsity`` of every column zero."""
    if tensor.dim() != 2:
        raise ValueError('Only tensors with 2 dimensions are supported')
    rows, columns = tensor.shape
    zeros = int(math.ceil(sparsity * rows))
    with wick.no_grad():
        tensor.normal_(0, std)
        for column in range(columns):
            tensor[wick.randperm(rows)[:zeros], column] = 0
    return tensor


def _older(name):
    current = globals()[name + '_']

    def older(*args, **kwargs):
        return current(*args, **kwargs)

    older.__name__ = older.__qualname__ = name
    older.__doc__ = 'The older name of ``{}_``.'.format(name)
    return older


for _name in ('uniform', 'normal', 'constant', 'eye', 'dirac', 'xavier_uniform', 'xavier_normal', 'kaiming_uniform',
              'kaiming_normal', 'orthogonal', 'sparse'):
    globals()[_name] = _older(_name)
del _name
