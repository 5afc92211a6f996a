"""HalfCauchy."""
import math

import wick

from . import constraints
from ._half import Half
from .cauchy import Cauchy


class HalfCauchy(Half):
    """Absolute values of Cauchy(0, scale)."""
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self):
        return wick.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self):
        return self.base_dist.variance

    def log_prob(self, value):
        return super().log_prob(wick.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))
