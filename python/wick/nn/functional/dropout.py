"""Dropout of elements and of channels."""
import wick
from wick import Tensor
from wick.nn.functional._arguments import _check_probability


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
