"""Dirichlet."""
import wick

from . import constraints
from ._implicit import standard_dirichlet
from .exp_family import ExponentialFamily


class Dirichlet(ExponentialFamily):
    """Points of a simplex, whose density is the product of ``x_i ** (concentration_i - 1)`` over a constant."""
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        reduced = (self.concentration - 1).clamp(min=0.0)
        mode = reduced / reduced.sum(-1, True)
        is_at_corner = (self.concentration < 1).all(-1)
        mode[is_at_corner] = wick.nn.functional.one_hot(mode[is_at_corner].argmax(-1),
                                                         self.concentration.shape[-1]).to(mode)
        return mode

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def expand(self, batch_shape, _instance=None):
        return self._expanded(_instance, Dirichlet, batch_shape, {"concentration": 1})

    def rsample(self, sample_shape=()):
        return standard_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (wick.xlogy(self.concentration - 1.0, value).sum(-1) + wick.lgamma(self.concentration.sum(-1)) -
                wick.lgamma(self.concentration).sum(-1))

    def entropy(self):
        count, total = self.concentration.size(-1), self.concentration.sum(-1)
        return (wick.lgamma(self.concentration).sum(-1) - wick.lgamma(total) - (count - total) * wick.digamma(total) -
                ((self.concentration - 1.0) * wick.digamma(self.concentration)).sum(-1))

    @property
    def _natural_params(self):
        return self.concentration,

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - wick.lgamma(x.sum(-1))
