"""MultivariateNormal."""
import math

import wick

from . import constraints
from .distribution import Distribution
from .utils import lazy_property


def cholesky_of_inverse(precision):
    """The lower factor of the inverse of a positive definite matrix, from the factor of the matrix turned around."""
    flipped = wick.linalg.cholesky(wick.flip(precision, (-2, -1)))
    upper = wick.transpose(wick.flip(flipped, (-2, -1)), -2, -1)
    identity = wick.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return wick.linalg.solve_triangular(upper, identity, upper=False)


def square_distance(factor, difference):
    """The squared Mahalanobis distance: that of ``L ** -1 (x - loc)``."""
    solved = wick.linalg.solve_triangular(factor, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


class MultivariateNormal(Distribution):
    """Vectors with mean ``loc`` and one of ``covariance_matrix``, ``precision_matrix`` and ``scale_tril``, the lower
    Cholesky factor of the covariance, which is what the others become."""
    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {"covariance_matrix": covariance_matrix, "scale_tril": scale_tril,
                    "precision_matrix": precision_matrix}
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given
        if matrix.dim() < 2:
            raise ValueError("{} must be at least two-dimensional, with optional leading batch dimensions".format(
                name))
        batch_shape = wick.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(tuple(batch_shape) + (-1, -1)))
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._factor = scale_tril
        elif name == "covariance_matrix":
            self._factor = wick.linalg.cholesky(covariance_matrix)
        else:
            self._factor = cholesky_of_inverse(precision_matrix)

    @lazy_property
    def scale_tril(self):
        return self._factor.expand(tuple(self._batch_shape + self._event_shape + self._event_shape))

    @lazy_property
    def covariance_matrix(self):
        product = wick.matmul(self._factor, self._factor.mT)
        return product.expand(tuple(self._batch_shape + self._event_shape + self._event_shape))

    @lazy_property
    def precision_matrix(self):
        return wick.cholesky_inverse(self._factor).expand(
            tuple(self._batch_shape + self._event_shape + self._event_shape))

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._factor.pow(2).sum(-1).expand(tuple(self._batch_shape + self._event_shape))

    def expand(self, batch_shape, _instance=None):
        matrices = {name: 2 for name in ("covariance_matrix", "scale_tril", "precision_matrix")
                    if name in self.__dict__}
        new = self._expanded(_instance, MultivariateNormal, batch_shape, dict(matrices, loc=1))
        new._factor = self._factor
        return new

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        zeros = wick.zeros(shape, dtype=self.loc.dtype, device=self.loc.device)
        drawn = wick.normal(zeros, wick.ones_like(zeros))
        return self.loc + wick.matmul(self._factor, drawn.unsqueeze(-1)).squeeze(-1)

    def _square(self, difference):
        return square_distance(self._factor, difference)

    def _half_log_det(self):
        return self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        square = self._square(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + square) - self._half_log_det()

    def entropy(self):
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
