"""Cauchy."""
import math

import wick

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all


class Cauchy(Distribution):
    """The density ``1 / (pi * scale * (1 + ((x - loc) / scale) ** 2))``; it has no mean."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self):
        return wick.full(self._extended_shape(), math.nan, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return wick.full(self._extended_shape(), math.inf, dtype=self.loc.dtype, device=self.loc.device)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(_instance, Cauchy, batch_shape, {"loc": 0, "scale": 0})

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        drawn = wick.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (1 + ((value - self.loc) / self.scale) ** 2).log()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return wick.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return wick.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()
