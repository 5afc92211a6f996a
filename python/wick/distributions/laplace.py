"""Laplace."""
import wick

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all


class Laplace(Distribution):
    """The density ``exp(-|x - loc| / scale) / (2 * scale)``."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        return 2 ** 0.5 * self.scale

    def expand(self, batch_shape, _instance=None):
        return self._expanded(_instance, Laplace, batch_shape, {"loc": 0, "scale": 0})

    def rsample(self, sample_shape=()):
        eps = wick.finfo(self.loc.dtype).eps
        drawn = wick.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype,
                           device=self.loc.device).uniform_(eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * wick.log1p(-drawn.abs())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -wick.log(2 * self.scale) - wick.abs(value - self.loc) / self.scale

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * wick.expm1(-away.abs() / self.scale)

    def icdf(self, value):
        away = value - 0.5
        return self.loc - self.scale * away.sign() * wick.log1p(-2 * away.abs())

    def entropy(self):
        return 1 + wick.log(2 * self.scale)
