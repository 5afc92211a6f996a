"""LogitRelaxedBernoulli, RelaxedBernoulli."""
import wick

from . import constraints
from ._odds import Odds
from .distribution import Distribution
from ._relaxed import Relaxed
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(Odds, Distribution):
    """Log-odds of relaxed Bernoulli numbers: ``(logits + logistic noise) / temperature`` (Maddison, Mnih and Teh,
    "The concrete distribution", 2017)."""
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded_odds(_instance, LogitRelaxedBernoulli, batch_shape)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape=()):
        probs = clamp_probs(self.probs.expand(self._extended_shape(sample_shape)))
        drawn = clamp_probs(wick.rand(probs.shape, dtype=probs.dtype, device=probs.device))
        return (drawn.log() - (-drawn).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        away = logits - value.mul(self.temperature)
        return self.temperature.log() + away - 2 * away.exp().log1p()


class RelaxedBernoulli(Relaxed):
    """Numbers between 0 and 1 that tend to Bernoulli(probs) as ``temperature`` tends to 0."""
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(),
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, RelaxedBernoulli.__new__(type(self)) if _instance is None else _instance)
