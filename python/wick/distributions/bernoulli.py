"""Bernoulli."""
import wick

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class Bernoulli(Distribution):
    """1 with probability ``probs``, whose log-odds are ``logits``; give one of the two."""
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            self.probs, = broadcast_all(probs)
        else:
            self.logits, = broadcast_all(logits)
        self._given = "logits" if probs is None else "probs"
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def _param(self):
        return self.__dict__[self._given]

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        return self._param.size()

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
        new = self._expanded(_instance, Bernoulli, batch_shape,
                             {name: 0 for name in ("probs", "logits") if name in self.__dict__})
        new._given = self._given
        return new

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
