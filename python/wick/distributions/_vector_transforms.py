"""Transforms of vectors and matrices into simplices and Cholesky factors."""
import math

import wick
from wick.nn.functional import logsigmoid, pad, softplus

from . import constraints
from ._transform import Transform
from .utils import clipped_sigmoid, tril_matrix_to_vec, vec_to_tril_matrix


def _checked(shape, dims=1):
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")
    return shape


class _Stateless(Transform):
    def __eq__(self, other):
        return type(self) is type(other)

    __hash__ = Transform.__hash__


class SoftmaxTransform(_Stateless):
    """``softmax(x)`` along the last dimension; the inverse is one of many, the logarithm."""
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x):
        powers = (x - x.max(-1, True)[0]).exp()
        return powers / powers.sum(-1, True)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        return _checked(shape)

    inverse_shape = forward_shape


class StickBreakingTransform(_Stateless):
    """A vector of K - 1 numbers as K parts of one: each takes its share of what those before it left over.

    The share of the k-th is ``sigmoid(x_k - log(K - k))``, so that zeros give equal parts.
    """
    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _left(like, count):
        """How many parts come after each."""
        return count - wick.ones(like.shape[-1], dtype=like.dtype, device=like.device).cumsum(-1)

    def _call(self, x):
        share = clipped_sigmoid(x - self._left(x, x.shape[-1] + 1).log())
        return pad(share, [0, 1], value=1) * pad((1 - share).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y):
        first = y[..., :-1]
        rest = (1 - first.cumsum(-1)).clamp(min=wick.finfo(y.dtype).tiny)
        return first.log() - rest.log() + self._left(first, y.shape[-1]).log()

    def log_abs_det_jacobian(self, x, y):
        x = x - self._left(x, x.shape[-1] + 1).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return _checked(shape)[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        return _checked(shape)[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_Stateless):
    """The lower triangle of a matrix, with the exponential of its diagonal."""
    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class CorrCholeskyTransform(Transform):
    """D * (D - 1) / 2 numbers as the Cholesky factor of a correlation matrix of D rows.

    Tanh makes canonical partial correlations of the numbers; along a row each element is one of them times the length
    that those before it left (Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines
    and extended onion method", 2009).
    """
    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        eps = wick.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial ** 2).sqrt().cumprod(-1)
        identity = wick.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return (partial + identity) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return ((1 + partial) / (1 - partial)).log() / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * left.log().sum(-1) + of_tanh

    def forward_shape(self, shape):
        n = _checked(shape)[-1]
        dim = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if dim * (dim - 1) // 2 != n:
            raise ValueError("Input is not a flattend lower-diagonal number")
        return shape[:-1] + (dim, dim)

    def inverse_shape(self, shape):
        if _checked(shape, 2)[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)
