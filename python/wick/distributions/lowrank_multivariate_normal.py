"""LowRankMultivariateNormal."""
import math

import wick

from . import constraints
from .distribution import Distribution
from .multivariate_normal import square_distance
from .utils import lazy_property, standard_normal


def _plus_identity(matrix):
    return matrix + wick.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def _times(matrix, vector):
    return wick.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


class LowRankMultivariateNormal(Distribution):
    """Vectors with mean ``loc`` and covariance ``W W^T + D``, where W is ``cov_factor``, of few columns, and D has
    the diagonal ``cov_diag``.

    Nothing of the covariance's size is factored but ``scale_tril``: with C = I + W^T D^-1 W, the capacitance, its
    determinant is that of C times that of D, and its inverse ``D^-1 - D^-1 W C^-1 W^T D^-1`` (Woodbury, 1950).
    """
    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError("cov_factor must be a batch of matrices with shape {} x m".format(event_shape[0]))
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError("cov_diag must be a batch of vectors with shape {}".format(event_shape))
        try:
            batch_shape = wick.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError("Incompatible batch shapes: loc {}, cov_factor {}, cov_diag {}".format(
                loc.shape, cov_factor.shape, cov_diag.shape)) from error
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        self.cov_factor = cov_factor.expand(tuple(batch_shape) + (-1, -1))
        self.cov_diag = cov_diag.expand(tuple(batch_shape) + (-1,))
        self._factor, self._diag = cov_factor, cov_diag
        self._capacitance = wick.linalg.cholesky(_plus_identity(self._scaled() @ cov_factor))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(_instance, LowRankMultivariateNormal, batch_shape,
                             {"loc": 1, "cov_factor": 2, "cov_diag": 1})
        new._factor, new._diag, new._capacitance = self._factor, self._diag, self._capacitance
        return new

    def _scaled(self):
        """W^T D^-1"""
        return self._factor.mT / self._diag.unsqueeze(-2)

    def _solved(self):
        """C^-1/2 W^T D^-1"""
        return wick.linalg.solve_triangular(self._capacitance, self._scaled(), upper=False)

    def _log_det(self):
        return 2 * self._capacitance.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self._diag.log().sum(-1)

    def _square(self, difference):
        """The squared Mahalanobis distance."""
        inside = square_distance(self._capacitance, _times(self._scaled(), difference))
        return (difference.pow(2) / self._diag).sum(-1) - inside

    def _matrix(self, matrix):
        return matrix.expand(tuple(self._batch_shape + self._event_shape + self._event_shape))

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        variance = self._factor.pow(2).sum(-1) + self._diag
        return variance.expand(tuple(self._batch_shape + self._event_shape))

    @lazy_property
    def scale_tril(self):
        root = self._diag.sqrt().unsqueeze(-1)
        scaled = self._factor / root
        return self._matrix(root * wick.linalg.cholesky(_plus_identity(scaled @ scaled.mT)))

    @lazy_property
    def covariance_matrix(self):
        return self._matrix(self._factor @ self._factor.mT + self._diag.diag_embed())

    @lazy_property
    def precision_matrix(self):
        solved = self._solved()
        return self._matrix(self._diag.reciprocal().diag_embed() - solved.mT @ solved)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        of_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        of_diag = standard_normal(shape, self.loc)
        return self.loc + _times(self._factor, of_factor) + self._diag.sqrt() * of_diag

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        square = self._square(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + square)

    def entropy(self):
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
