"""Geometric."""
import wick

from . import constraints
from ._odds import Odds
from .distribution import Distribution
from .utils import broadcast_all


class Geometric(Odds, Distribution):
    """How many trials fail before one succeeds, each with probability ``probs``."""
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            value = self.probs
            raise ValueError("Expected parameter probs ({} of shape {}) of distribution {!r} to be positive but "
                             "found invalid values:\n{}".format(type(value).__name__, tuple(value.shape), self,
                                                                             value))

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return wick.zeros_like(self.probs)

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def expand(self, batch_shape, _instance=None):
        return self._expanded_odds(_instance, Geometric, batch_shape)

    def sample(self, sample_shape=()):
        with wick.no_grad():
            drawn = wick.empty(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device)
            drawn.uniform_(wick.finfo(self.probs.dtype).tiny, 1)
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        failure = -probs
        failure = wick.where((probs == 1) & (value == 0), wick.zeros_like(failure), failure)
        return value * failure.log1p() + self.probs.log()

    def entropy(self):
        return wick.nn.functional.binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none") / self.probs
