"""What relaxed distributions have in common."""
from .transformed_distribution import TransformedDistribution


class Relaxed(TransformedDistribution):
    """One whose parameters are those of the distribution that is transformed."""

    @property
    def temperature(self):
        return self.base_dist.temperature

    @property
    def logits(self):
        return self.base_dist.logits

    @property
    def probs(self):
        return self.base_dist.probs
