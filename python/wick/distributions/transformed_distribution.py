"""TransformedDistribution."""
import wick

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import sum_rightmost


class TransformedDistribution(Distribution):
    """What ``base_distribution`` becomes under ``transforms``, one or a list."""
    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = self._checked(transforms)
        whole, base_dims = ComposeTransform(self.transforms), len(base_distribution.event_shape)
        shape, needed = base_distribution.batch_shape + base_distribution.event_shape, whole.domain.event_dim
        if len(shape) < needed:
            raise ValueError("base_distribution needs to have shape with size at least {}, but got {}.".format(
                needed, shape))
        forward = whole.forward_shape(shape)
        before = whole.inverse_shape(forward)
        if before != shape:
            base_distribution = base_distribution.expand(before[:len(before) - base_dims])
        missing = needed - base_dims
        self.base_dist = Independent(base_distribution, missing) if missing > 0 else base_distribution
        cut = len(forward) - whole.codomain.event_dim - max(-missing, 0)
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    @staticmethod
    def _checked(transforms):
        if isinstance(transforms, Transform):
            return [transforms]
        if not isinstance(transforms, list):
            raise ValueError("transforms must be a Transform or list, but was {}".format(transforms))
        if not all(isinstance(transform, Transform) for transform in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        return transforms

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, TransformedDistribution, batch_shape, {})
        new.transforms = self.transforms
        shape = ComposeTransform(self.transforms).inverse_shape(wick.Size(batch_shape) + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
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
            dims += transform.domain.event_dim - transform.codomain.event_dim
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
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._upper(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._forward(self.base_dist.icdf(self._upper(value)))
