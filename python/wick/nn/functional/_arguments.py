"""What the functions make of their arguments before operators see them."""
import warnings
from typing import List, Optional, Tuple

import wick
from wick import Tensor


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
