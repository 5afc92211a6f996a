"""What distributions share: parameters of one size, and probabilities and logits of each other."""
import wick


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


def probs_to_logits(probs, is_binary=False):
    """The logarithms of probabilities, of the odds where there are two outcomes."""
    clamped = clamp_probs(probs)
    return wick.log(clamped) - wick.log1p(-clamped) if is_binary else wick.log(clamped)


def logits_to_probs(logits, is_binary=False):
    return wick.sigmoid(logits) if is_binary else wick.nn.functional.softmax(logits, dim=-1)


def sum_rightmost(value, dims):
    """The sum over the last ``dims`` dimensions."""
    return value.flatten(value.dim() - dims).sum(-1) if dims else value


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
