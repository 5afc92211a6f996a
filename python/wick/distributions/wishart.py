"""Wishart."""
import math
import warnings

import wick

from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import cholesky_of_inverse
from .utils import lazy_property

_LOG_2 = math.log(2)


class Wishart(ExponentialFamily):
    """Sums of ``x x^T`` over ``df`` normal vectors with one of ``covariance_matrix``, ``precision_matrix`` and
    ``scale_tril``, the lower Cholesky factor of the covariance."""
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    arg_constraints = {"covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
                       "df": constraints.greater_than(0)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        matrices = {"covariance_matrix": covariance_matrix, "scale_tril": scale_tril,
                    "precision_matrix": precision_matrix}
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        assert len(given) == 1, ("Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                                 "specified.")
        (name, matrix), = given
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, wick.Tensor):
            batch_shape = wick.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        else:
            batch_shape = matrix.shape[:-2]
            self.df = wick.tensor(df, dtype=matrix.dtype, device=matrix.device)
        rows = matrix.shape[-1]
        if (self.df <= rows - 1).any():
            raise ValueError("Value of df={} expected to be greater than ndim - 1 = {}.".format(df, rows - 1))
        setattr(self, name, matrix.expand(tuple(batch_shape) + (-1, -1)))
        if (self.df < rows).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < "
                          "ndim.")
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        if name == "scale_tril":
            self._factor = scale_tril
        elif name == "covariance_matrix":
            self._factor = wick.linalg.cholesky(covariance_matrix)
        else:
            self._factor = cholesky_of_inverse(precision_matrix)
        self._chi2 = self._chi2_of_rows()

    def _chi2_of_rows(self):
        """Chi2 of one degree less for each row."""
        row = wick.arange(self._event_shape[-1], dtype=self._factor.dtype, device=self._factor.device)
        return Chi2(self.df.unsqueeze(-1) - row.expand(tuple(self._batch_shape) + (-1,)))

    def expand(self, batch_shape, _instance=None):
        matrices = {name: 2 for name in ("covariance_matrix", "scale_tril", "precision_matrix")
                    if name in self.__dict__}
        new = self._expanded(_instance, Wishart, batch_shape, dict(matrices, _factor=2, df=0))
        new._chi2 = new._chi2_of_rows()
        return new

    def _matrix(self, matrix):
        return matrix.expand(tuple(self._batch_shape + self._event_shape))

    @lazy_property
    def scale_tril(self):
        return self._matrix(self._factor)

    @lazy_property
    def covariance_matrix(self):
        return self._matrix(self._factor @ self._factor.mT)

    @lazy_property
    def precision_matrix(self):
        identity = wick.eye(self._event_shape[-1], dtype=self._factor.dtype, device=self._factor.device)
        return self._matrix(wick.cholesky_solve(identity.expand(self._factor.shape), self._factor))

    @property
    def mean(self):
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett(self, sample_shape):
        """``L A A^T L^T``, where A has roots of Chi2 numbers on its diagonal and normal numbers below (Bartlett,
        1933)."""
        p = self._event_shape[-1]
        roots = self._chi2.rsample(sample_shape).sqrt()
        roots = roots.clamp(min=wick.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        rows, columns = wick.tril_indices(p, p, offset=-1).unbind()
        below = wick.randn(tuple(sample_shape) + tuple(self._batch_shape) + (p * (p - 1) // 2,), dtype=roots.dtype,
                           device=roots.device)
        roots[..., rows, columns] = below
        factor = self._factor @ roots
        return factor @ factor.mT

    def _is_singular(self, sample):
        """Which samples are, in any element of the batch."""
        return (~self.support.check(sample)).reshape(sample.shape[0], -1).any(-1)

    def rsample(self, sample_shape=(), max_try_correction=10):
        """Samples; those that are singular are drawn anew, at most so many times.

        PyTorch 1.13 takes what is not singular for singular and draws it once more. So that a seed gives its samples,
        the first draw is left here as well.
        """
        sample_shape = wick.Size(sample_shape)
        self._bartlett(sample_shape)
        sample = self._bartlett((sample_shape.numel(),))
        is_singular = self._is_singular(sample)
        if is_singular.any():
            warnings.warn("Singular sample detected.")
        for _ in range(max_try_correction):
            if not is_singular.any():
                break
            again = self._bartlett((int(is_singular.sum()),))
            sample = sample.index_put((is_singular,), again)
            is_singular = is_singular.index_put((is_singular,), self._is_singular(again))
        return sample.reshape(sample_shape + self._batch_shape + self._event_shape)

    def _half_log_det(self):
        return self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        df, p = self.df, self._event_shape[-1]
        trace = wick.cholesky_solve(value, self._factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-df * (p * _LOG_2 / 2 + self._half_log_det()) - wick.mvlgamma(df / 2, p) +
                (df - p - 1) / 2 * wick.linalg.slogdet(value)[1] - trace / 2)

    def entropy(self):
        df, p = self.df, self._event_shape[-1]
        row = wick.arange(p, dtype=df.dtype, device=df.device) / 2
        digammas = wick.digamma((df / 2).unsqueeze(-1) - row).sum(-1)
        return ((p + 1) * (p * _LOG_2 / 2 + self._half_log_det()) + wick.mvlgamma(df / 2, p) -
                (df - p - 1) / 2 * digammas + df * p / 2)

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (_LOG_2 * p - wick.linalg.slogdet(-2 * x)[1]) + wick.mvlgamma(half, p)
