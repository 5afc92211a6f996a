"""The base class of distributions."""
import math

import wick

from . import constraints
from .utils import lazy_property


class Distribution:
    """A distribution for each element of ``batch_shape``, over values of ``event_shape``.

    ``sample`` and ``log_prob`` work on ``sample_shape + batch_shape + event_shape``. ``validate_args``: whether
    parameters are compared with ``arg_constraints`` and values with ``support``; a ValueError tells what is outside.
    """
    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = wick.Size(batch_shape), wick.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_arguments()

    def _check_arguments(self):
        for name, constraint in self.arg_constraints.items():
            is_computed = name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property)
            if constraints.is_dependent(constraint) or is_computed:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    "Expected parameter {} ({} of shape {}) of distribution {!r} to satisfy the constraint {!r}, but "
                    "found invalid values:\n{}".format(name, type(value).__name__, tuple(value.shape), self,
                                                       constraint, value))

    def _validate_sample(self, value):
        if not isinstance(value, wick.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.size()[start:] != self._event_shape:
            raise ValueError("The right-most size of value must match event_shape: {} vs {}.".format(
                value.size(), self._event_shape))
        for i, j in zip(reversed(value.size()), reversed(self._batch_shape + self._event_shape)):
            if i != 1 and j != 1 and i != j:
                raise ValueError("Value is not broadcastable with batch_shape+event_shape: {} vs {}.".format(
                    value.size(), self._batch_shape + self._event_shape))
        try:
            support = self.support
        except NotImplementedError:
            return
        if not support.check(value).all():
            raise ValueError(
                "Expected value argument ({} of shape {}) to be within the support ({!r}) of the distribution {!r}, "
                "but found invalid values:\n{}".format(type(value).__name__, tuple(value.shape), support, self,
                                                             value))

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def support(self):
        raise NotImplementedError

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError("{} does not implement mode".format(type(self)))

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def expand(self, batch_shape, _instance=None):
        """The distribution with ``batch_shape``; parameters are views."""
        raise NotImplementedError

    def sample(self, sample_shape=()):
        """Values without gradients."""
        with wick.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Values with gradients to the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density or probability at ``value``."""
        raise NotImplementedError

    def cdf(self, value):
        raise NotImplementedError

    def icdf(self, value):
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def perplexity(self):
        return wick.exp(self.entropy())

    def _extended_shape(self, sample_shape=()):
        return wick.Size(tuple(sample_shape)) + self._batch_shape + self._event_shape

    def _expanded(self, instance, cls, batch_shape, parameters, event_shape=None):
        """What ``expand`` gives: ``parameters`` of this one, expanded to the batch and their own last dimensions."""
        new = cls.__new__(type(self)) if instance is None else instance
        for name, dims in parameters.items():
            value = self.__dict__[name]
            setattr(new, name, value.expand(tuple(batch_shape) + tuple(value.shape[value.dim() - dims:])))
        Distribution.__init__(new, batch_shape, self.event_shape if event_shape is None else event_shape,
                              validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _enumerated(self, values, expand):
        """``values`` along a first dimension, over the batch."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

    def __repr__(self):
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = ((name, self.__dict__[name]) for name in names)
        return type(self).__name__ + "(" + ", ".join(
            "{}: {}".format(name, value if value.numel() == 1 else value.size()) for name, value in shown) + ")"


LOG_SQRT_2_PI = math.log(math.sqrt(2 * math.pi))
