"""Gamma."""
import wick

from . import constraints
from ._implicit import standard_gamma
from .exp_family import ExponentialFamily
from .utils import broadcast_all


class Gamma(ExponentialFamily):
    """The density ``rate ** c * x ** (c - 1) * exp(-rate * x) / gamma(c)``, where c is ``concentration``."""
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(_instance, Gamma, batch_shape, {"concentration": 0, "rate": 0})

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        drawn = value.detach()  # 0 is outside of what log_prob can take; gradients are those of what was drawn
        return value + (drawn.clamp(min=wick.finfo(drawn.dtype).tiny) - drawn)

    def log_prob(self, value):
        value = wick.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (wick.xlogy(self.concentration, self.rate) + wick.xlogy(self.concentration - 1, value) -
                self.rate * value - wick.lgamma(self.concentration))

    def entropy(self):
        return (self.concentration - wick.log(self.rate) + wick.lgamma(self.concentration) +
                (1.0 - self.concentration) * wick.digamma(self.concentration))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return wick.special.gammainc(self.concentration, self.rate * value)

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return wick.lgamma(x + 1) + (x + 1) * wick.log(-y.reciprocal())
