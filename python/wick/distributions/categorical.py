"""Categorical."""
import wick

from . import constraints
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits


class Categorical(Distribution):
    """One of K categories, numbered from 0: ``probs`` or ``logits`` with K as their last dimension.

    ``probs`` are divided by their sum, ``logits`` normalized so that their exponentials sum to 1.
    """
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if logits is None else logits
        if given.dim() < 1:
            raise ValueError("`{}` parameter must be at least one-dimensional.".format(
                "probs" if logits is None else "logits"))
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._given = "probs" if logits is None else "logits"
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @property
    def _param(self):
        return self.__dict__[self._given]

    @constraints.dependent_property
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits)

    @property
    def param_shape(self):
        return self._param.size()

    @property
    def mean(self):
        return wick.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    @property
    def variance(self):
        return wick.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, Categorical, batch_shape,
                             {name: 1 for name in ("probs", "logits") if name in self.__dict__})
        new._given, new._num_events = self._given, self._num_events
        return new

    def sample(self, sample_shape=()):
        sample_shape = wick.Size(tuple(sample_shape))
        drawn = wick.multinomial(self.probs.reshape(-1, self._num_events), sample_shape.numel(), True)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, logits = wick.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=wick.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        return self._enumerated(wick.arange(self._num_events, dtype=wick.long, device=self._param.device), expand)
