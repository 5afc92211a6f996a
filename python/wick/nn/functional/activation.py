"""Activations."""
from typing import Optional

import wick
from wick import Tensor
from wick.nn.functional._arguments import _default_softmax_dim


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
