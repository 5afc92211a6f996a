"""Binomial."""
import wick

from . import constraints
from ._odds import Odds
from .distribution import Distribution


class Binomial(Odds, Distribution):
    """How many of ``total_count`` trials succeed, each with probability ``probs``."""
    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
                       "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self.total_count, = self._take(probs, logits, total_count)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_odds(_instance, Binomial, batch_shape, "total_count")

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with wick.no_grad():
            return wick.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        """log(n! / (k! (n - k)!)) + k logits - n log(1 + exp(logits)), the last written for large logits.

        The part ``max(logits, 0)`` is the mean of two forms so that its gradient at 0 is a half.
        """
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        positive = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        normalizer = n * positive + n * wick.log1p(wick.exp(-wick.abs(logits))) - wick.lgamma(n + 1)
        return value * logits - wick.lgamma(value + 1) - wick.lgamma(n - value + 1) - normalizer

    def _one_count(self, what):
        count = int(self.total_count.max())
        if self.total_count.min() != count:
            raise NotImplementedError("Inhomogeneous total count not supported by `{}`.".format(what))
        return count

    def entropy(self):
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        count = self._one_count("enumerate_support")
        return self._enumerated(wick.arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand)
