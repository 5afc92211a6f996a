"""Invertible functions that make one distribution of another."""
import math

import wick

from . import constraints
from .utils import broadcast_all, sum_rightmost


class Transform:
    """``y = transform(x)``, ``x = transform.inv(y)``, and the logarithm of the derivative's determinant.

    ``domain`` and ``codomain`` are regions (``constraints``); ``sign``: whether it rises (1) or falls (-1).
    """
    bijective = True
    domain = codomain = constraints.real
    sign = 1

    def __call__(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        raise NotImplementedError

    @property
    def inv(self):
        return _Inverse(self)

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def forward_shape(self, shape):
        return shape

    def __repr__(self):
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, transform):
        self._transform = transform
        self.domain, self.codomain, self.sign = transform.codomain, transform.domain, transform.sign

    @property
    def inv(self):
        return self._transform

    def __call__(self, x):
        return self._transform._inverse(x)

    def _inverse(self, y):
        return self._transform(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._transform.log_abs_det_jacobian(y, x)

    def __eq__(self, other):
        return isinstance(other, _Inverse) and self._transform == other._transform

    __hash__ = Transform.__hash__

    def __repr__(self):
        return "_InverseTransform({!r})".format(self._transform)


class ComposeTransform(Transform):
    """Several, the first one first."""

    def __init__(self, parts, cache_size=0):
        self.parts = list(parts)

    @property
    def domain(self):
        return self.parts[0].domain if self.parts else constraints.real

    @property
    def codomain(self):
        return self.parts[-1].codomain if self.parts else constraints.real

    @property
    def sign(self):
        return math.prod(part.sign for part in self.parts)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
        for part in self.parts:
            then = part(x)
            total = total + part.log_abs_det_jacobian(x, then)
            x = then
        return total if self.parts else wick.zeros_like(x)

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def __repr__(self):
        return "ComposeTransform(\n    " + ",\n    ".join(repr(part) for part in self.parts) + "\n)"


class _Stateless(Transform):
    def __eq__(self, other):
        return type(self) is type(other)

    __hash__ = Transform.__hash__


class ExpTransform(_Stateless):
    """``exp(x)``"""
    codomain = constraints.positive

    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform(_Stateless):
    """``1 / (1 + exp(-x))``"""
    codomain = constraints.unit_interval

    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        limits = wick.finfo(x.dtype)
        return wick.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y):
        limits = wick.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -wick.nn.functional.softplus(-x) - wick.nn.functional.softplus(x)


class TanhTransform(_Stateless):
    """``tanh(x)``"""
    codomain = constraints.interval(-1.0, 1.0)

    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        return x.tanh()

    def _inverse(self, y):
        return wick.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        """log(1 - tanh(x) ** 2), written so that large x lose nothing: 2 (log 2 - x - softplus(-2 x))."""
        return 2.0 * (math.log(2.0) - x - wick.nn.functional.softplus(-2.0 * x))


class AffineTransform(Transform):
    """``loc + scale * x``; ``event_dim`` dimensions are one value."""

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        region = constraints.independent(constraints.real, event_dim) if event_dim else constraints.real
        self.domain = self.codomain = region

    @property
    def sign(self):
        return self.scale.sign() if isinstance(self.scale, wick.Tensor) else (self.scale > 0) - (self.scale < 0)

    def __call__(self, x):
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


class SoftplusTransform(_Stateless):
    """``log(1 + exp(x))``"""
    codomain = constraints.positive

    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        return wick.nn.functional.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -wick.nn.functional.softplus(-x)


identity_transform = ComposeTransform([])
