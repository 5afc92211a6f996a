"""Pooling and its undoing."""
from typing import List, Optional, Tuple

import wick
from wick import Tensor
from wick.nn.functional._arguments import _sizes


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
