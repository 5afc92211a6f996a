"""ContinuousBernoulli."""
import math

import wick

from . import constraints
from ._odds import Odds
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs


class ContinuousBernoulli(Odds, ExponentialFamily):
    """Numbers from 0 to 1 of density ``C(p) * p ** x * (1 - p) ** (1 - x)`` (Loaiza-Ganem and Cunningham, "The
    continuous Bernoulli", 2019).

    C, the mean and the variance are differences that vanish at p = 1/2; between ``lims`` their Taylor series stand.
    """
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._take(probs, logits)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def expand(self, batch_shape, _instance=None):
        new = self._expanded_odds(_instance, ContinuousBernoulli, batch_shape)
        new._lims = self._lims
        return new

    def _is_far(self, value, middle=0.0):
        """Where formulas are used, not series."""
        return (value <= self._lims[0] - middle) | (value > self._lims[1] - middle)

    def _far(self):
        """Where the formulas hold, and probabilities for them: nothing that gradients would make NaN elsewhere."""
        is_far = self._is_far(self.probs)
        return is_far, wick.where(is_far, self.probs, self._lims[0] * wick.ones_like(self.probs))

    @staticmethod
    def _log_ratio(probs):
        return wick.log1p(-probs) - wick.log(probs)

    def _cont_bern_log_norm(self):
        """log C: of ``(log(1 - p) - log p) / (1 - 2 p)``"""
        is_far, probs = self._far()
        is_low = probs <= 0.5
        low = wick.log1p(-2.0 * wick.where(is_low, probs, wick.zeros_like(probs)))
        high = wick.log(2.0 * wick.where(probs >= 0.5, probs, wick.ones_like(probs)) - 1.0)
        formula = wick.log(wick.abs(self._log_ratio(probs))) - wick.where(is_low, low, high)
        square = (self.probs - 0.5) ** 2
        return wick.where(is_far, formula, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square)

    @property
    def mean(self):
        is_far, probs = self._far()
        formula = probs / (2.0 * probs - 1.0) + 1.0 / self._log_ratio(probs)
        away = self.probs - 0.5
        return wick.where(is_far, formula, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * away ** 2) * away)

    @property
    def stddev(self):
        return self.variance.sqrt()

    @property
    def variance(self):
        is_far, probs = self._far()
        formula = probs * (probs - 1.0) / (1.0 - 2.0 * probs) ** 2 + 1.0 / self._log_ratio(probs) ** 2
        square = (self.probs - 0.5) ** 2
        return wick.where(is_far, formula, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(wick.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        cross = wick.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - cross

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        is_far, probs = self._far()
        formula = (probs ** value * (1.0 - probs) ** (1.0 - value) + probs - 1.0) / (2.0 * probs - 1.0)
        inside = wick.where(is_far, formula, value)
        return wick.where(value <= 0.0, wick.zeros_like(value),
                          wick.where(value >= 1.0, wick.ones_like(value), inside))

    def icdf(self, value):
        is_far, probs = self._far()
        formula = (wick.log1p(-probs + value * (2.0 * probs - 1.0)) - wick.log1p(-probs)) / -self._log_ratio(probs)
        return wick.where(is_far, formula, value)

    def entropy(self):
        return self.mean * self._log_ratio(self.probs) - self._cont_bern_log_norm() - wick.log1p(-self.probs)

    @property
    def _natural_params(self):
        return self.logits,

    def _log_normalizer(self, x):
        """log((exp(x) - 1) / x)"""
        is_far = self._is_far(x, 0.5)
        cut = wick.where(is_far, x, (self._lims[0] - 0.5) * wick.ones_like(x))
        formula = wick.log(wick.abs(wick.exp(cut) - 1.0)) - wick.log(wick.abs(cut))
        return wick.where(is_far, formula, 0.5 * x + x ** 2 / 24.0 - x ** 4 / 2880.0)
