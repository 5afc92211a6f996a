"""Invertible functions that make one distribution of another."""
import math

import wick

from . import constraints
from ._transform import (  # noqa: F401
    CatTransform, ComposeTransform, IndependentTransform, ReshapeTransform, StackTransform, Transform,
    identity_transform,
)
from ._vector_transforms import (  # noqa: F401
    CorrCholeskyTransform, LowerCholeskyTransform, SoftmaxTransform, StickBreakingTransform,
)
from .utils import broadcast_all, clipped_sigmoid, sum_rightmost

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform",
    "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]


class _Rising(Transform):
    """A rising function of each number, without parameters."""
    domain = constraints.real
    bijective = True
    sign = 1

    def __eq__(self, other):
        return type(self) is type(other)

    __hash__ = Transform.__hash__


class ExpTransform(_Rising):
    """``exp(x)``"""
    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform(_Rising):
    """``1 / (1 + exp(-x))``"""
    codomain = constraints.unit_interval

    def _call(self, x):
        return clipped_sigmoid(x)

    def _inverse(self, y):
        limits = wick.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -wick.nn.functional.softplus(-x) - wick.nn.functional.softplus(x)


class SoftplusTransform(_Rising):
    """``log(1 + exp(x))``"""
    codomain = constraints.positive

    def _call(self, x):
        return wick.nn.functional.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -wick.nn.functional.softplus(-x)


class TanhTransform(_Rising):
    """``tanh(x)``"""
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return wick.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        """log(1 - tanh(x) ** 2), written so that large x lose nothing: 2 (log 2 - x - softplus(-2 x))."""
        return 2.0 * (math.log(2.0) - x - wick.nn.functional.softplus(-2.0 * x))


class AbsTransform(Transform):
    """``|x|``; of the two numbers that give ``y`` the inverse is the positive one."""
    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other):
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class PowerTransform(Transform):
    """``x ** exponent`` of positive numbers."""
    domain = codomain = constraints.positive
    bijective = True
    sign = 1

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.exponent, = broadcast_all(exponent)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    def __eq__(self, other):
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return wick.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """``loc + scale * x``; ``event_dim`` dimensions are one value."""
    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self):
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else AffineTransform(self.loc, self.scale, self.event_dim,
                                                                           cache_size=cache_size)

    @property
    def sign(self):
        return self.scale.sign() if isinstance(self.scale, wick.Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale, = broadcast_all(self.scale)
        return sum_rightmost(scale.abs().log().to(x.dtype).expand(x.shape), self.event_dim)

    def __eq__(self, other):
        def same(mine, its):
            return bool(wick.as_tensor(mine == its).all())
        return isinstance(other, AffineTransform) and same(self.loc, other.loc) and same(self.scale, other.scale)

    __hash__ = Transform.__hash__

    def forward_shape(self, shape):
        return wick.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """The probability, by ``distribution``, of numbers up to x."""
    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self):
        return self.distribution.support

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CumulativeDistributionTransform(self.distribution,
                                                                                           cache_size)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)
