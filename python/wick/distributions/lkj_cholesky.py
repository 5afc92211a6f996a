"""LKJCholesky."""
import math

import wick

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices M of ``dim`` rows, in proportion to ``det(M) ** (eta - 1)``,
    where eta is ``concentration`` (Lewandowski, Kurowicka and Joe, 2009).

    Samples by their onion method (section 3): each row is a random direction as long as the root of a Beta number.
    """
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError("Expected dim to be an integer greater than or equal to 2. Found dim={}.".format(dim))
        self.dim = dim
        self.concentration, = broadcast_all(concentration)
        eta = self.concentration
        before = wick.arange(dim - 1, dtype=eta.dtype, device=eta.device)
        before = wick.cat([wick.zeros_like(before[:1]), before])
        self._beta = Beta(before + 0.5, (eta + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * before)
        super().__init__(eta.size(), (dim, dim), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, LKJCholesky, batch_shape, {"concentration": 0})
        new.dim, new._beta = self.dim, self._beta.expand(tuple(batch_shape) + (self.dim,))
        return new

    def sample(self, sample_shape=()):
        square = self._beta.sample(sample_shape).unsqueeze(-1)
        drawn = wick.randn(self._extended_shape(sample_shape), dtype=square.dtype, device=square.device).tril(-1)
        direction = drawn / drawn.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)  # the first row has nothing below the diagonal
        rows = square.sqrt() * direction
        rest = (1 - (rows ** 2).sum(-1)).clamp(min=wick.finfo(rows.dtype).tiny).sqrt()
        return rows + rest.diag_embed()

    def log_prob(self, value):
        """Theirs for the factor: the product of ``L_ii ** (2 (eta - 1) + dim - i)``, over a constant that is a
        multivariate gamma function."""
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        row = wick.arange(2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - row
        others = self.dim - 1
        alpha = self.concentration + 0.5 * others
        normalizer = (0.5 * others * math.log(math.pi) + wick.mvlgamma(alpha - 0.5, others) -
                      wick.lgamma(alpha) * others)
        return (powers * diagonal.log()).sum(-1) - normalizer
