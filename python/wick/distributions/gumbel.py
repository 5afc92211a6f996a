"""Gumbel."""
import math

import wick

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant


class Gumbel(TransformedDistribution):
    """``loc - scale * log(-log(u))`` of uniform numbers: the limit of the largest of many."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = wick.finfo(self.loc.dtype)
        base = Uniform(wick.full_like(self.loc, limits.tiny), wick.full_like(self.loc, 1 - limits.eps))
        super().__init__(base, [
            ExpTransform().inv, AffineTransform(0, -wick.ones_like(self.scale)), ExpTransform().inv,
            AffineTransform(loc, -self.scale)], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = Gumbel.__new__(type(self)) if _instance is None else _instance
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return super().expand(batch_shape, new)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        away = (self.loc - value) / self.scale
        return away - away.exp() - self.scale.log()

    @property
    def mean(self):
        return self.loc + self.scale * euler_constant

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def entropy(self):
        return self.scale.log() + (1 + euler_constant)
