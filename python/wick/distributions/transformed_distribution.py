"""TransformedDistribution and those that are one."""
import wick

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .normal import Normal
from .transforms import ComposeTransform, ExpTransform, Transform
from .utils import sum_rightmost


class TransformedDistribution(Distribution):
    """What ``base_distribution`` becomes under ``transforms``, one or a list."""
    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(transform, Transform) for transform in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms, but was {}".format(transforms))
        shape = base_distribution.batch_shape + base_distribution.event_shape
        forward = shape
        for transform in self.transforms:
            forward = transform.forward_shape(forward)
        whole, base_dims = ComposeTransform(self.transforms), len(base_distribution.event_shape)
        missing = max(0, whole.domain.event_dim - base_dims)
        batch = forward[:len(forward) - base_dims]
        base_distribution = base_distribution.expand(batch) if forward != shape else base_distribution
        self.base_dist = Independent(base_distribution, missing) if missing else base_distribution
        event_dim = max(whole.codomain.event_dim, len(self.base_dist.event_shape))
        cut = len(forward) - event_dim
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, TransformedDistribution, batch_shape, {})
        new.transforms = self.transforms
        dims = len(self.event_shape) - len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(tuple(batch_shape) + tuple(self.event_shape[:dims]))
        return new

    def _forward(self, value):
        for transform in self.transforms:
            value = transform(value)
        return value

    def sample(self, sample_shape=()):
        with wick.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        log_prob, dims = 0.0, len(self.event_shape)
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            log_prob = log_prob - sum_rightmost(transform.log_abs_det_jacobian(before, value),
                                                dims - transform.domain.event_dim)
            value = before
        return log_prob + sum_rightmost(self.base_dist.log_prob(value), dims - len(self.base_dist.event_shape))

    def _upper(self, value):
        """Where the base's probability is counted from above: an odd number of falling transforms."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._upper(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._forward(self.base_dist.icdf(self._upper(value)))


class LogNormal(TransformedDistribution):
    """Numbers whose logarithm is Normal(loc, scale)."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, LogNormal.__new__(type(self)) if _instance is None else _instance)

    @property
    def loc(self):
        return self.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        return (self.scale.pow(2).exp() - 1) * (2 * self.loc + self.scale.pow(2)).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc
