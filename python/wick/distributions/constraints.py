"""Regions that parameters and samples lie in: ``constraint.check(value)`` says where they do.

``check`` gives a bool tensor with a number for each event, that is without the last ``event_dim`` dimensions of the
value. The names are those of ``torch.distributions.constraints``.
"""
import wick


class Constraint:
    """A region. ``is_discrete``: of whole numbers; ``event_dim``: how many dimensions are one point of it."""
    is_discrete = False
    event_dim = 0

    def check(self, value):
        raise NotImplementedError

    def __repr__(self):
        name = type(self).__name__
        return (name[1:] if name.startswith("_") else name) + "()"


class _Dependent(Constraint):
    """A region that other parameters decide about; only objects know it."""

    def __init__(self, is_discrete=False, event_dim=0):
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def check(self, value):
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):
    """A property of a distribution that gives a region; read from the class it stands for one that is not known."""

    def __init__(self, function, is_discrete=False, event_dim=0):
        property.__init__(self, function)
        _Dependent.__init__(self, is_discrete, event_dim)


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

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)

    def __repr__(self):
        return "IntegerInterval(lower_bound={}, upper_bound={})".format(self.lower_bound, self.upper_bound)


class _IntegerGreaterThan(Constraint):
    is_discrete = True

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)

    def __repr__(self):
        return "IntegerGreaterThan(lower_bound={})".format(self.lower_bound)


class _GreaterThan(Constraint):
    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return self.lower_bound < value

    def __repr__(self):
        return "GreaterThan(lower_bound={})".format(self.lower_bound)


class _GreaterThanEq(Constraint):
    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return self.lower_bound <= value

    def __repr__(self):
        return "GreaterThanEq(lower_bound={})".format(self.lower_bound)


class _Interval(Constraint):
    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)

    def __repr__(self):
        return "Interval(lower_bound={}, upper_bound={})".format(self.lower_bound, self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value):
        is_lower = (value.tril() == value).flatten(-2).all(-1)
        return is_lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _PositiveDefinite(Constraint):
    event_dim = 2

    def check(self, value):
        is_symmetric = wick.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)
        if not is_symmetric.all():
            return is_symmetric
        return wick.linalg.cholesky_ex(value).info == 0


class independent(Constraint):
    """``base`` with its last ``reinterpreted_batch_ndims`` dimensions taken as part of a point."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value):
        if value.dim() < self.event_dim:
            raise ValueError("Expected value.dim() >= {} but got {}".format(self.event_dim, value.dim()))
        result = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        return result.flatten(result.dim() - n).all(-1) if n else result

    def __repr__(self):
        return "Independent({!r}, {})".format(self.base_constraint, self.reinterpreted_batch_ndims)


dependent = _Dependent()
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
interval = _Interval
unit_interval = _Interval(0.0, 1.0)
simplex = _Simplex()
lower_cholesky = _LowerCholesky()
positive_definite = _PositiveDefinite()
