"""Tensors of random numbers to test with."""
import math

import wick
from wick import rand, randn  # noqa: F401

_INTEGRAL = (wick.uint8, wick.int8, wick.int16, wick.int32, wick.int64)
_FLOATING = (wick.float16, wick.bfloat16, wick.float32, wick.float64)
_PARTS = {wick.complex32: wick.float16, wick.complex64: wick.float32, wick.complex128: wick.float64}


def _bounds(low, high, dtype):
    """What numbers lie between: within the dtype's limits, from -9 to 9 where nothing is said."""
    is_integral = dtype in _INTEGRAL
    limits = wick.iinfo(dtype) if is_integral else wick.finfo(dtype)
    low = (0 if dtype is wick.uint8 else -9) if low is None else low
    high = (10 if is_integral else 9) if high is None else high
    if low != low or high != high:
        raise ValueError("make_tensor: one of low or high was NaN!")
    if low > high:
        raise ValueError("make_tensor: low must be weakly less than high!")
    low, high = (min(max(bound, limits.min), limits.max) for bound in (low, high))
    return (math.floor(low), math.ceil(high)) if is_integral else (low, high)


def _uniform(shape, low, high, dtype, device):
    drawn = wick.rand(shape, device=device, dtype=dtype)
    return high * drawn + low * (1 - drawn)


def _drawn(shape, low, high, dtype, device):
    if dtype is wick.bool:
        return wick.randint(0, 2, shape, device=device, dtype=dtype)
    if dtype in _INTEGRAL:
        return wick.randint(*_bounds(low, high, dtype), shape, device=device, dtype=dtype)
    if dtype in _FLOATING:
        return _uniform(shape, *_bounds(low, high, dtype), dtype, device)
    if dtype not in _PARTS:
        raise TypeError("The requested dtype '{}' is not supported by torch.testing.make_tensor(). To request "
                        "support, file an issue at: https://github.com/pytorch/pytorch/issues".format(dtype))
    part = _PARTS[dtype]
    low, high = _bounds(low, high, part)
    drawn = [wick.rand(shape, device=device, dtype=part) for _ in range(2)]
    return wick.complex(*(high * one + low * (1 - one) for one in drawn))


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False,
                exclude_zero=False):
    """A tensor of random numbers from ``low`` up to ``high``; with ``exclude_zero`` zeros become the least positive
    number that is normal, with ``noncontiguous`` every other element of the memory is left out."""
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else tuple(shape)
    has_gradients = dtype in _FLOATING or dtype in _PARTS
    if requires_grad and not has_gradients:
        raise ValueError("make_tensor: requires_grad must be False for integral dtype")
    result = _drawn(shape, low, high, dtype, device)
    if noncontiguous and result.numel() > 1:
        result = result.repeat_interleave(2, dim=-1)[..., ::2]
    if exclude_zero:
        least = wick.finfo(_PARTS.get(dtype, dtype)).tiny if has_gradients else 1
        result[result == 0] = complex(least, least) if dtype in _PARTS else least
    return result.requires_grad_(requires_grad) if has_gradients else result


def make_non_contiguous(tensor):
    """A copy in memory that is larger than it; of one element it is contiguous all the same."""
    if tensor.numel() <= 1:
        return tensor.clone()
    wide = wick.empty(tuple(size + 4 for size in tensor.shape) + (2,), dtype=tensor.dtype, device=tensor.device)
    view = wide.select(-1, 1)
    for dim, size in enumerate(tensor.shape):
        view = view.narrow(dim, 2, size)
    return view.copy_(tensor).detach()
