"""NegativeBinomial."""
import wick
from wick.nn.functional import logsigmoid

from . import constraints
from ._odds import Odds
from .distribution import Distribution
from .gamma import Gamma
from .utils import lazy_property


class NegativeBinomial(Odds, Distribution):
    """How many trials succeed, each with probability ``probs``, before ``total_count`` failed."""
    arg_constraints = {"total_count": constraints.greater_than_eq(0),
                       "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        self.total_count, = self._take(probs, logits, total_count)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.total_count * wick.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / wick.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        """The distribution of the rate of Poisson numbers that are distributed so."""
        return Gamma(self.total_count, wick.exp(-self.logits), validate_args=False)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_odds(_instance, NegativeBinomial, batch_shape, "total_count")

    def sample(self, sample_shape=()):
        with wick.no_grad():
            return wick.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        """n log(1 - p) + k log p + log(Gamma(n + k) / (k! Gamma(n)))"""
        if self._validate_args:
            self._validate_sample(value)
        powers = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        normalizer = (-wick.lgamma(self.total_count + value) + wick.lgamma(1.0 + value) +
                      wick.lgamma(self.total_count))
        normalizer = normalizer.masked_fill(self.total_count + value == 0.0, 0.0)
        return powers - normalizer
