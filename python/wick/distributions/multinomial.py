"""Multinomial."""
import math

import wick

from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import broadcast_all


class Multinomial(Distribution):
    """How often each category comes in ``total_count`` draws of a Categorical."""
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def param_shape(self):
        return self._categorical.param_shape

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, Multinomial, batch_shape, {})
        new.total_count, new._categorical = self.total_count, self._categorical.expand(batch_shape)
        return new

    def sample(self, sample_shape=()):
        drawn = self._categorical.sample((self.total_count,) + tuple(sample_shape)).movedim(0, -1)
        counts = wick.zeros(self._extended_shape(sample_shape), dtype=wick.long, device=drawn.device)
        return counts.scatter_add_(-1, drawn, wick.ones_like(drawn)).type_as(self.probs)

    def entropy(self):
        """n H(categorical) - log n! + the means of log k!, of counts that are binomial one by one."""
        n = self.total_count
        binomial = Binomial(total_count=n, probs=self.probs)
        counts = binomial.enumerate_support(expand=False)[1:]
        log_factorials = (binomial.log_prob(counts).exp() * wick.lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - math.lgamma(n + 1) + log_factorials

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)  # 0 * -inf counts nothing
        return wick.lgamma(value.sum(-1) + 1) - wick.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)
