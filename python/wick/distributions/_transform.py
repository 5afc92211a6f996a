"""What transforms have in common, and those that are made of other transforms."""
import math
import weakref

import wick

from . import constraints
from .utils import lazy_property, sum_rightmost


class Transform:
    """``y = transform(x)``, ``x = transform.inv(y)``, and the logarithm of the derivative's determinant.

    ``domain`` and ``codomain`` are regions (``constraints``); ``sign``: whether it rises (1) or falls (-1). Derived
    classes have ``_call``, ``_inverse`` and ``log_abs_det_jacobian``. With ``cache_size=1`` the last pair of values
    is kept, so that the inverse of what was just computed is what it was computed of, to the last bit.
    """
    bijective = False

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size, self._last, self._inv = cache_size, (None, None), None

    def __getstate__(self):
        return dict(self.__dict__, _inv=None)

    @property
    def event_dim(self):
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def sign(self):
        raise NotImplementedError

    @property
    def inv(self):
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = self._make_inverse()
            self._inv = weakref.ref(inverse)
        return inverse

    def _make_inverse(self):
        return _InverseTransform(self)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError("{}.with_cache is not implemented".format(type(self)))

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x):
        if self._cache_size == 0:
            return self._call(x)
        if self._last[0] is not x:
            self._last = x, self._call(x)
        return self._last[1]

    def _inv_call(self, y):
        if self._cache_size == 0:
            return self._inverse(y)
        if self._last[1] is not y:
            self._last = self._inverse(y), y
        return self._last[0]

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        raise NotImplementedError

    def forward_shape(self, shape):
        """The sizes of ``y`` for those of ``x``."""
        return shape

    def inverse_shape(self, shape):
        """The sizes of ``x`` for those of ``y``."""
        return shape

    def __repr__(self):
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    def __init__(self, transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self):
        return self.__dict__

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self._inv.domain

    @property
    def bijective(self):
        return self._inv.bijective

    @property
    def sign(self):
        return self._inv.sign

    @property
    def inv(self):
        return self._inv

    def with_cache(self, cache_size=1):
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = Transform.__hash__

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __repr__(self):
        return "_InverseTransform({!r})".format(self._inv)


def _widened(region, event_dim):
    """``region`` with ``event_dim`` dimensions to a point."""
    return constraints.independent(region, event_dim - region.event_dim) if event_dim > region.event_dim else region


class ComposeTransform(Transform):
    """Several, the first one first."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The first one's, over as many dimensions as any of those after it needs."""
        if not self.parts:
            return constraints.real
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = max(event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _widened(self.parts[0].domain, event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, event_dim)

    @lazy_property
    def bijective(self):
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self):
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def _make_inverse(self):
        inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
        inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        return self.inv(y)

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return wick.zeros_like(x)
        total, event_dim = None, self.domain.event_dim
        for i, part in enumerate(self.parts):
            then = y if i == len(self.parts) - 1 else part(x)
            term = sum_rightmost(part.log_abs_det_jacobian(x, then), event_dim - part.domain.event_dim)
            total = term if total is None else total + term
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = then
        return total

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def __repr__(self):
        return "ComposeTransform(\n    " + ",\n    ".join(repr(part) for part in self.parts) + "\n)"


class IndependentTransform(Transform):
    """``base_transform`` with ``reinterpreted_batch_ndims`` more dimensions to a point: the logarithm of the
    determinant is the sum over them."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else IndependentTransform(
            self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self):
        return self.base_transform.bijective

    @property
    def sign(self):
        return self.base_transform.sign

    def _call(self, x):
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y):
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)

    def __repr__(self):
        return "IndependentTransform({!r}, {})".format(self.base_transform, self.reinterpreted_batch_ndims)


class ReshapeTransform(Transform):
    """The last dimensions, ``in_shape``, as ``out_shape``."""
    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = wick.Size(in_shape), wick.Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self):
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _call(self, x):
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    @staticmethod
    def _replaced(shape, tail, new):
        cut = len(shape) - len(tail)
        if cut < 0:
            raise ValueError("Too few dimensions on input")
        if shape[cut:] != tail:
            raise ValueError("Shape mismatch: expected {} but got {}".format(shape[cut:], tail))
        return shape[:cut] + new

    def forward_shape(self, shape):
        return self._replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return self._replaced(shape, self.out_shape, self.in_shape)


class _Parts(Transform):
    """Transforms of the parts of a dimension."""

    def __init__(self, tseq, dim=0, cache_size=0):
        assert all(isinstance(transform, Transform) for transform in tseq)
        super().__init__(cache_size=cache_size)
        self.transforms = [transform.with_cache(cache_size) for transform in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self):
        return all(transform.bijective for transform in self.transforms)

    def _each(self, value, inverse):
        """The results of the parts of ``value``."""
        return [transform.inv(part) if inverse else transform(part)
                for transform, part in zip(self.transforms, self._split(value))]

    def _call(self, x):
        return self._joined(self._each(x, inverse=False))

    def _inverse(self, y):
        return self._joined(self._each(y, inverse=True))


class CatTransform(_Parts):
    """Of the parts that ``wick.cat`` puts together, each as long as ``lengths`` says."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.transforms)

    @lazy_property
    def event_dim(self):
        return max(transform.event_dim for transform in self.transforms)

    @lazy_property
    def length(self):
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths,
                                                                        cache_size)

    def _split(self, value):
        assert -value.dim() <= self.dim < value.dim() and value.size(self.dim) == self.length
        return value.split(self.lengths, self.dim)

    def _joined(self, parts):
        return wick.cat(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        terms = [sum_rightmost(transform.log_abs_det_jacobian(part, then), self.event_dim - transform.event_dim)
                 for transform, part, then in zip(self.transforms, self._split(x), self._split(y))]
        dim = (self.dim if self.dim < 0 else self.dim - x.dim()) + self.event_dim
        return wick.cat(terms, dim=dim) if dim < 0 else sum(terms)

    @constraints.dependent_property
    def domain(self):
        return constraints.cat([transform.domain for transform in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat([transform.codomain for transform in self.transforms], self.dim, self.lengths)


class StackTransform(_Parts):
    """Of the parts that ``wick.stack`` puts together."""

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _split(self, value):
        assert -value.dim() <= self.dim < value.dim() and value.size(self.dim) == len(self.transforms)
        return value.unbind(self.dim)

    def _joined(self, parts):
        return wick.stack(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        return self._joined([transform.log_abs_det_jacobian(part, then) for transform, part, then in
                             zip(self.transforms, self._split(x), self._split(y))])

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([transform.domain for transform in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([transform.codomain for transform in self.transforms], self.dim)


identity_transform = ComposeTransform([])
