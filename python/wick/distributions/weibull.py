"""Weibull."""
import wick

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant


class Weibull(TransformedDistribution):
    """Positive numbers above x with probability ``exp(-(x / scale) ** concentration)``."""
    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self._build(Exponential(wick.ones_like(self.scale), validate_args=validate_args), validate_args)

    def _build(self, base, validate_args):
        self.concentration_reciprocal = self.concentration.reciprocal()
        TransformedDistribution.__init__(self, base, [
            PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)],
            validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = Weibull.__new__(type(self)) if _instance is None else _instance
        new.scale, new.concentration = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
        new._build(self.base_dist.expand(batch_shape), False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self):
        return self.scale * wick.lgamma(1 + self.concentration_reciprocal).exp()

    @property
    def mode(self):
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self):
        one, two = 1 + self.concentration_reciprocal, 1 + 2 * self.concentration_reciprocal
        return self.scale.pow(2) * (wick.lgamma(two).exp() - (2 * wick.lgamma(one)).exp())

    def entropy(self):
        return (euler_constant * (1 - self.concentration_reciprocal) +
                wick.log(self.scale * self.concentration_reciprocal) + 1)
