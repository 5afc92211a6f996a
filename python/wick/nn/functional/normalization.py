"""Normalization."""
import math
from typing import List, Optional

import wick
from wick import Tensor


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
        squares = wick.pad(squares, [0, 0, size // 2, (size - 1) // 2])
        mean = wick.avg_pool2d(squares, [size, 1], 1).squeeze(1)
    else:
        sizes = input.size()
        squares = squares.view([sizes[0], 1, sizes[1], sizes[2], -1])
        squares = wick.pad(squares, [0, 0, 0, 0, size // 2, (size - 1) // 2])
        mean = wick.avg_pool3d(squares, [size, 1, 1], 1).squeeze(1).view(sizes)
    return input / (mean * alpha + k).pow(beta)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12,
              out: Optional[Tensor] = None) -> Tensor:
    """Divides by the p-norm along ``dim``, or by ``eps`` where that is larger."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else wick.div(input, length, out=out)
