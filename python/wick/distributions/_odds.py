"""What distributions of two outcomes share: a probability, or the logarithm of the odds."""
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class Odds:
    """Part of a distribution that is given by ``probs`` or by ``logits``; the other one follows."""

    def _take(self, probs, logits, *others):
        """Keep what is given, broadcast with ``others``, which are returned."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._given = "logits" if probs is None else "probs"
        *others, value = broadcast_all(*others, logits if probs is None else probs)
        setattr(self, self._given, value)
        return [other.type_as(value) for other in others]

    @property
    def _param(self):
        return self.__dict__[self._given]

    @property
    def param_shape(self):
        return self._param.size()

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    def _expanded_odds(self, instance, cls, batch_shape, *others):
        """What ``expand`` gives, of both and of the parameters named ``others``."""
        names = [name for name in ("probs", "logits") if name in self.__dict__]
        new = self._expanded(instance, cls, batch_shape, dict.fromkeys(names + list(others), 0))
        new._given = self._given
        return new
