"""Kumaraswamy."""
import math

import wick

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant


class Kumaraswamy(TransformedDistribution):
    """Numbers between 0 and 1 up to x with probability ``1 - (1 - x ** a) ** b`` (Kumaraswamy, 1980): a is
    ``concentration1``, b ``concentration0``."""
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(wick.zeros_like(self.concentration0), wick.ones_like(self.concentration0),
                       validate_args=validate_args)
        super().__init__(base, [
            PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal())], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = Kumaraswamy.__new__(type(self)) if _instance is None else _instance
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, new)

    def _moment(self, n):
        """The mean of ``x ** n``: b * Beta(1 + n / a, b)."""
        upper, b = 1 + n / self.concentration1, self.concentration0
        return b * wick.exp(wick.lgamma(upper) + wick.lgamma(b) - wick.lgamma(upper + b))

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        """As torch has it, which is NaN where a concentration is 1 or more."""
        a, b = self.concentration1, self.concentration0
        logarithm = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return logarithm.masked_fill((b < 1) | (a < 1), math.nan).exp()

    @property
    def variance(self):
        return self._moment(2) - self.mean ** 2

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = wick.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
