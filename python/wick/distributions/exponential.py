"""Exponential."""
import wick

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all


class Exponential(ExponentialFamily):
    """The density ``rate * exp(-rate * x)`` of positive numbers."""
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate, validate_args=None):
        self.rate, = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def mode(self):
        return wick.zeros_like(self.rate)

    @property
    def stddev(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(_instance, Exponential, batch_shape, {"rate": 0})

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return wick.empty(shape, dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 1 - wick.exp(-self.rate * value)

    def icdf(self, value):
        return -wick.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - wick.log(self.rate)

    @property
    def _natural_params(self):
        return -self.rate,

    def _log_normalizer(self, x):
        return -wick.log(-x)
