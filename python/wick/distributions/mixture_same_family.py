"""MixtureSameFamily."""
import wick

from . import constraints
from .categorical import Categorical
from .distribution import Distribution


class MixtureSameFamily(Distribution):
    """One of the distributions along the last dimension of a batch, drawn by a Categorical."""
    arg_constraints = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distribtutions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of "
                             "torch.distributions.Distribution")
        mine, its = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any(a != 1 and b != 1 and a != b for a, b in zip(reversed(mine), reversed(its))):
            raise ValueError("`mixture_distribution.batch_shape` ({}) is not compatible with "
                             "`component_distribution.batch_shape`({})".format(mine, its))
        self._num_component = mixture_distribution.logits.shape[-1]
        if self._num_component != component_distribution.batch_shape[-1]:
            raise ValueError("`mixture_distribution component` ({}) does not equal "
                             "`component_distribution.batch_shape[-1]` ({})".format(
                                 self._num_component, component_distribution.batch_shape[-1]))
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(its, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, MixtureSameFamily, batch_shape, {})
        new._component_distribution = self._component_distribution.expand(tuple(batch_shape) +
                                                                          (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        return new

    @constraints.dependent_property
    def support(self):
        return self._component_distribution.support

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution

    def _weighted(self, values):
        """The sum of values of components, each times its probability."""
        probs = self.mixture_distribution.probs
        probs = probs.reshape(probs.shape + (1,) * self._event_ndims)
        return (probs * values).sum(-1 - self._event_ndims)

    @property
    def mean(self):
        return self._weighted(self.component_distribution.mean)

    @property
    def variance(self):
        """The mean of variances and the variance of means."""
        away = self.component_distribution.mean - self._pad(self.mean)
        return self._weighted(self.component_distribution.variance) + self._weighted(away.pow(2.0))

    def cdf(self, value):
        return (self.component_distribution.cdf(self._pad(value)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        log_prob = self.component_distribution.log_prob(self._pad(value))
        return (log_prob + wick.log_softmax(self.mixture_distribution.logits, dim=-1)).logsumexp(-1)

    def sample(self, sample_shape=()):
        with wick.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            component = self.mixture_distribution.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            index = component.reshape(component.shape + (1,) * (self._event_ndims + 1))
            index = index.repeat((1,) * component.dim() + (1,) + tuple(self.event_shape))
            return values.gather(dim, index).squeeze(dim)

    def _pad(self, value):
        return value.unsqueeze(-1 - self._event_ndims)

    def __repr__(self):
        return "MixtureSameFamily(\n  {},\n  {})".format(self.mixture_distribution, self.component_distribution)
