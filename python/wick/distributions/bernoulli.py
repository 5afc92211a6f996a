"""Bernoulli."""
import wick

from . import constraints
from ._odds import Odds
from .exp_family import ExponentialFamily
from .utils import broadcast_all


class Bernoulli(Odds, ExponentialFamily):
    """1 with probability ``probs``, whose log-odds are ``logits``; give one of the two."""
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return wick.where(self.probs == 0.5, float("nan"), (self.probs >= 0.5).to(self.probs))

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_odds(_instance, Bernoulli, batch_shape)

    def sample(self, sample_shape=()):
        with wick.no_grad():
            return wick.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -wick.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return wick.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        return self._enumerated(wick.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self):
        return wick.log(self.probs / (1 - self.probs)),

    def _log_normalizer(self, x):
        return wick.log(1 + wick.exp(x))
