"""Weights that are orthogonal, or have a spectral norm of one."""
import wick
from wick import Tensor
from wick.nn import functional as F
from wick.nn.modules.module import Module
from wick.nn.utils import parametrize

__all__ = ['orthogonal', 'spectral_norm']

_MAPS = ('matrix_exp', 'cayley', 'householder')


def _is_orthogonal(matrix):
    identity = wick.eye(matrix.size(-1), dtype=matrix.dtype, device=matrix.device)
    return wick.allclose(matrix.mH @ matrix, identity, atol=10.0 * matrix.size(-2) * wick.finfo(matrix.dtype).eps)


def _make_orthogonal(matrix):
    """The Q of a QR decomposition whose R has a positive diagonal."""
    reflectors, tau = wick.geqrf(matrix)
    q = wick.linalg.householder_product(reflectors, tau)
    return q * reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix as an orthogonal one, by the exponential or the Cayley map of a skew-symmetric matrix or as a product
    of Householder reflections (Lezcano-Casado, "Trivializations for gradient-based optimization on manifolds", 2019).

    With ``use_trivialization`` the map starts from ``base``, what the weight was when it was assigned last.
    """

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == 'householder':
            raise ValueError('The householder parametrization does not support complex tensors.')
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer('base', None)

    def _of_skew(self, lower, columns):
        """The map of the skew-symmetric matrix whose lower triangle is given."""
        lower = lower.tril()
        rows = lower.size(-2)
        if rows != columns:
            zeros = wick.zeros(lower.shape[:-1] + (rows - columns,), dtype=lower.dtype, device=lower.device)
            lower = wick.cat([lower, zeros], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map == 'matrix_exp':
            return wick.matrix_exp(skew)[..., :columns]
        identity = wick.eye(rows, dtype=skew.dtype, device=skew.device)
        return wick.linalg.solve(identity - skew / 2, identity + skew / 2)[..., :columns]

    def forward(self, x):
        """The orthogonal matrix of x; a wide x counts as its transpose."""
        is_wide = x.size(-2) < x.size(-1)
        x = x.mT if is_wide else x
        if self.orthogonal_map == 'householder':
            reflectors = x.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (reflectors * reflectors).sum(dim=-2))
            # the diagonal holds the signs of columns
            q = wick.linalg.householder_product(reflectors, tau) * \
                x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            q = self._of_skew(x, x.size(-1))
        if hasattr(self, 'base'):
            q = self.base @ q
        return q.mT if is_wide else q

    @wick.no_grad()
    def right_inverse(self, q):
        """What gives q, or the orthogonal matrix nearest to its columns in order."""
        if q.shape != self.shape:
            raise ValueError('Expected a matrix or batch of matrices of shape {}. Got a tensor of shape {}.'.format(
                self.shape, q.shape))
        is_wide = q.size(-2) < q.size(-1)
        tall = q.mT if is_wide else q
        rows, columns = tall.size(-2), tall.size(-1)
        if not hasattr(self, 'base'):
            if self.orthogonal_map != 'householder':
                raise NotImplementedError('It is not possible to assign to the matrix exponential or the Cayley '
                                          'parametrizations when use_trivialization=False.')
            reflectors, tau = wick.geqrf(tall)
            diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal[tau == 0.0] *= -1
            return reflectors.mT if is_wide else reflectors
        if rows != columns:
            more = wick.randn(*(tall.shape[:-2] + (rows, rows - columns)), dtype=tall.dtype, device=tall.device)
            tall = _make_orthogonal(wick.cat([tall, more], dim=-1))
        else:
            tall = tall.clone() if _is_orthogonal(tall) else _make_orthogonal(tall)
        self.base = tall
        # nothing below the diagonal gives the base: of Householder's, reflections that turn each column around,
        # which the signs undo
        start = wick.zeros_like(q)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _weight_of(module, name):
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError("Module '{}' has no parameter or buffer with name '{}'".format(module, name))
    return weight


def orthogonal(module, name='weight', orthogonal_map=None, *, use_trivialization=True):
    """Has the module's tensor be orthogonal; of more columns than rows, have orthonormal rows. Returns the module.

    ``orthogonal_map``: 'matrix_exp' (the default of square and complex matrices), 'cayley' or 'householder'.
    """
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError('Expected a matrix or batch of matrices. Got a tensor of {} dimensions.'.format(weight.ndim))
    if orthogonal_map is None:
        is_square = weight.size(-2) == weight.size(-1)
        orthogonal_map = 'matrix_exp' if is_square or weight.is_complex() else 'householder'
    if orthogonal_map not in _MAPS:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {}'.format(
            orthogonal_map))
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


class _SpectralNorm(Module):
    """A tensor over its largest singular value, which power iterations find: one or more with each call in training
    (Miyato, Kataoka, Koyama and Yoshida, "Spectral normalization for generative adversarial networks", 2018)."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError('Dimension out of range (expected to be in range of [-{}, {}] but got {})'.format(
                ndim, ndim - 1, dim))
        if n_power_iterations <= 0:
            raise ValueError('Expected n_power_iterations to be positive, but got n_power_iterations={}'.format(
                n_power_iterations))
        self.dim, self.eps = dim if dim >= 0 else dim + ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            for name, size in zip(('_u', '_v'), matrix.size()):
                drawn = wick.empty(size, dtype=matrix.dtype, device=matrix.device).normal_(0, 1)
                self.register_buffer(name, F.normalize(drawn, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight):
        """With the dimension of rows first and all others as columns."""
        return weight.movedim(self.dim, 0).flatten(1)

    @wick.no_grad()
    def _iterate(self, matrix, count):
        for _ in range(count):
            self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        """The tensor over its norm."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        # copies: another call before backward changes the vectors
        return weight / self._u.clone().dot(matrix.mv(self._v.clone()))

    def right_inverse(self, value):
        """The value, which has been normalized before."""
        return value


def spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None):
    """Has the module's tensor be divided by its largest singular value. Returns the module.

    ``dim``: that of rows; 1 for transposed convolutions, else 0.
    """
    weight = _weight_of(module, name)
    if dim is None:
        nn = wick.nn
        dim = 1 if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, made)
