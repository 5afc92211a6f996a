"""StudentT."""
import math

import wick

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all, standard_normal


class StudentT(Distribution):
    """``loc + scale * n / sqrt(c / df)`` of a standard normal n and c of Chi2(df)."""
    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        df = self.df
        finite = self.scale.pow(2) * df / (df - 2)
        return finite.masked_fill(df <= 2, math.inf).masked_fill(df <= 1, math.nan)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, StudentT, batch_shape, {"df": 0, "loc": 0, "scale": 0})
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    def rsample(self, sample_shape=()):
        drawn = standard_normal(self._extended_shape(sample_shape), self.df)
        return self.loc + self.scale * (drawn * wick.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        away = (value - self.loc) / self.scale
        normalizer = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) +
                      wick.lgamma(0.5 * self.df) - wick.lgamma(0.5 * (self.df + 1.0)))
        return -0.5 * (self.df + 1.0) * wick.log1p(away ** 2.0 / self.df) - normalizer

    def entropy(self):
        half, next_half = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = wick.lgamma(half) + math.lgamma(0.5) - wick.lgamma(next_half)
        return (self.scale.log() + next_half * (wick.digamma(next_half) - wick.digamma(half)) +
                0.5 * self.df.log() + log_beta)
