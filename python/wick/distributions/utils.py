"""What distributions share: parameters of one size, and probabilities and logits of each other."""
import wick

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """Numbers and tensors as tensors of one size; numbers have the dtype of the first tensor or the default one."""
    if not all(isinstance(value, wick.Tensor) or isinstance(value, (int, float)) for value in values):
        raise ValueError("Input arguments must all be instances of numbers.Number, torch.Tensor or objects "
                         "implementing __torch_function__.")
    like = next((value for value in values if isinstance(value, wick.Tensor)), None)
    dtype, device = (wick.get_default_dtype(), None) if like is None else (like.dtype, like.device)
    return wick.broadcast_tensors(*[value if isinstance(value, wick.Tensor)
                                    else wick.tensor(value, dtype=dtype, device=device) for value in values])


def clamp_probs(probs):
    """Probabilities away from 0 and 1 by the dtype's epsilon."""
    eps = wick.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def clipped_sigmoid(x):
    """The sigmoid, neither 0 nor 1."""
    limits = wick.finfo(x.dtype)
    return wick.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)


def probs_to_logits(probs, is_binary=False):
    """The logarithms of probabilities, of the odds where there are two outcomes."""
    clamped = clamp_probs(probs)
    return wick.log(clamped) - wick.log1p(-clamped) if is_binary else wick.log(clamped)


def logits_to_probs(logits, is_binary=False):
    return wick.sigmoid(logits) if is_binary else wick.nn.functional.softmax(logits, dim=-1)


def sum_rightmost(value, dims):
    """The sum over the last ``dims`` dimensions."""
    return value.flatten(value.dim() - dims).sum(-1) if dims else value


def standard_normal(shape, like):
    """Normal numbers of the dtype of ``like``."""
    return wick.empty(shape, dtype=like.dtype, device=like.device).normal_()


def _lower_indices(n, diag, device):
    """Rows and columns of what ``tril(diag)`` keeps of n rows, row by row."""
    return wick.tril_indices(n, n, offset=diag, device=device).unbind()


def tril_matrix_to_vec(matrix, diag=0):
    """The elements of lower triangles of matrices, row by row."""
    n = matrix.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError("diag ({}) provided is outside [{}, {}].".format(diag, -n, n - 1))
    rows, columns = _lower_indices(n, diag, matrix.device)
    return matrix[..., rows, columns]


def vec_to_tril_matrix(vector, diag=0):
    """Matrices with the elements of vectors in their lower triangles.

    A triangle of n rows has ``n * (n + 1) / 2`` elements with its diagonal, and so on for what ``diag`` adds or cuts
    off; n is the root of that.
    """
    shift = 1 + 2 * diag
    rows = ((shift ** 2 + 8 * vector.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5 - shift) / 2
    n = round(rows)
    if n - rows > wick.finfo(vector.dtype).eps:
        raise ValueError("The size of last dimension is {} which cannot be expressed as the lower triangular part of "
                         "a square D x D matrix.".format(vector.shape[-1]))
    matrix = wick.zeros(vector.shape[:-1] + (n, n), dtype=vector.dtype, device=vector.device)
    rows, columns = _lower_indices(n, diag, vector.device)
    matrix[..., rows, columns] = vector
    return matrix


class lazy_property:
    """An attribute that is computed when it is first read and then kept in the object."""

    def __init__(self, function):
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with wick.enable_grad():
            value = self.function(instance)
        setattr(instance, self.__name__, value)
        return value
