"""ExpRelaxedCategorical, RelaxedOneHotCategorical."""
import wick

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from ._relaxed import Relaxed
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs


class ExpRelaxedCategorical(Distribution):
    """Logarithms of points of a simplex: log-softmax of ``(logits + Gumbel noise) / temperature`` (Maddison, Mnih and
    Teh, "The concrete distribution", 2017; Jang, Gu and Poole, 2017)."""
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, ExpRelaxedCategorical, batch_shape, {})
        new.temperature, new._categorical = self.temperature, self._categorical.expand(batch_shape)
        return new

    @property
    def param_shape(self):
        return self._categorical.param_shape

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def probs(self):
        return self._categorical.probs

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        drawn = clamp_probs(wick.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-drawn.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        """(K - 1)! T ** (K - 1) times the product of softmax(logits - T x), in logarithms."""
        if self._validate_args:
            self._validate_sample(value)
        count = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        scale = wick.full_like(self.temperature, float(count)).lgamma() + self.temperature.log() * (count - 1)
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(Relaxed):
    """Points of a simplex that tend to OneHotCategorical(probs) as ``temperature`` tends to 0."""
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args),
                         ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = RelaxedOneHotCategorical.__new__(type(self)) if _instance is None else _instance
        return super().expand(batch_shape, new)
