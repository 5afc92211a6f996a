"""Regions that parameters and samples lie in: ``constraint.check(value)`` says where they do.

``check`` gives a bool tensor with a number for each event, that is without the last ``event_dim`` dimensions of the
value. The names are those of ``torch.distributions.constraints``.
"""
import wick


class Constraint:
    """A region. ``is_discrete``: of whole numbers; ``event_dim``: how many dimensions are one point of it."""
    is_discrete = False
    event_dim = 0
    _bounds = ()  # attributes that printing shows

    def check(self, value):
        raise NotImplementedError

    def __repr__(self):
        name = type(self).__name__
        return (name[1:] if name.startswith("_") else name) + "(" + ", ".join(
            "{}={}".format(bound, getattr(self, bound)) for bound in self._bounds) + ")"


class _Dependent(Constraint):
    """A region that other parameters decide about; only objects know it."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self):
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """One of which more is known."""
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, value):
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):
    """A property of a distribution that gives a region; read from the class it stands for one that is not known."""

    def __init__(self, function=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        property.__init__(self, function)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, function):
        """The decorator that ``dependent_property(is_discrete=..., event_dim=...)`` is."""
        return type(self)(function, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint):
    return isinstance(constraint, _Dependent)


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value):
        is_boolean = (value == 0) | (value == 1)
        return is_boolean.all(-1) & (value.sum(-1) == 1)


class _IntegerInterval(Constraint):
    is_discrete = True
    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerGreaterThan(Constraint):
    is_discrete = True
    _bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(Constraint):
    _bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(Constraint):
    _bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(Constraint):
    _bounds = ("upper_bound",)

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return value < self.upper_bound


class _Interval(Constraint):
    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts whose sum is not above a bound. That it is the bound is not asked, as torch does not."""
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value):
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Factors of correlation matrices: their rows have length one, up to ten roundings for each column."""

    def check(self, value):
        allowed = wick.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = wick.linalg.norm(value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1).abs() <= allowed).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        return wick.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=wick.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value):
        is_square = super().check(value)
        if not is_square.all():
            return is_square
        return wick.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value):
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        return (wick.linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value):
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        return wick.linalg.cholesky_ex(value).info == 0


class _Parts(Constraint):
    """Regions of the parts that a dimension is made of."""

    def __init__(self, cseq, dim=0):
        assert all(isinstance(part, Constraint) for part in cseq)
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self):
        return any(part.is_discrete for part in self.cseq)

    @property
    def event_dim(self):
        return max(part.event_dim for part in self.cseq)


class _Cat(_Parts):
    """The parts of what ``wick.cat`` puts together, each as long as ``lengths`` says."""

    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.cseq)

    def check(self, value):
        assert -value.dim() <= self.dim < value.dim()
        parts = value.split(self.lengths, self.dim)
        return wick.cat([part.check(its) for part, its in zip(self.cseq, parts)], self.dim)


class _Stack(_Parts):
    """The parts of what ``wick.stack`` puts together."""

    @property
    def event_dim(self):
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        assert -value.dim() <= self.dim < value.dim()
        return wick.stack([part.check(its) for part, its in zip(self.cseq, value.unbind(self.dim))], self.dim)


class _IndependentConstraint(Constraint):
    """``base`` with its last ``reinterpreted_batch_ndims`` dimensions taken as part of a point."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        if value.dim() < self.event_dim:
            raise ValueError("Expected value.dim() >= {} but got {}".format(self.event_dim, value.dim()))
        result = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        return result.flatten(result.dim() - n).all(-1) if n else result

    def __repr__(self):
        return "IndependentConstraint({!r}, {})".format(self.base_constraint, self.reinterpreted_batch_ndims)


dependent = _Dependent()
independent = _IndependentConstraint
real = _Real()
real_vector = independent(real, 1)
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
interval = _Interval
half_open_interval = _HalfOpenInterval
unit_interval = _Interval(0.0, 1.0)
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
