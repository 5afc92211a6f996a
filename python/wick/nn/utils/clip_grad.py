"""Gradients kept from growing too large."""
import math
import warnings

import wick


def _with_grads(parameters):
    parameters = [parameters] if isinstance(parameters, wick.Tensor) else parameters
    return [parameter for parameter in parameters if parameter.grad is not None]


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients, in place, so that their norm as one vector is at most ``max_norm``; returns it as it was.

    ``error_if_nonfinite``: raises RuntimeError when the norm is nan or infinite.
    """
    grads = [parameter.grad.detach() for parameter in _with_grads(parameters)]
    max_norm, norm_type = float(max_norm), float(norm_type)
    if not grads:
        return wick.tensor(0.)
    if norm_type == math.inf:
        norms = [grad.abs().max() for grad in grads]
        total = norms[0] if len(norms) == 1 else wick.max(wick.stack(norms))
    else:
        total = wick.norm(wick.stack([wick.norm(grad, norm_type) for grad in grads]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError('The total norm of order {} for gradients from `parameters` is non-finite, so it cannot '
                           'be clipped. To disable this error and scale the gradients by the non-finite norm anyway, '
                           'set `error_if_nonfinite=False`'.format(norm_type))
    scale = wick.clamp(max_norm / (total + 1e-6), max=1.0)
    for grad in grads:
        grad.mul_(scale)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """The older name of ``clip_grad_norm_``."""
    warnings.warn('torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.',
                  stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Brings every element of all gradients between -clip_value and clip_value, in place."""
    clip_value = float(clip_value)
    for parameter in _with_grads(parameters):
        parameter.grad.data.clamp_(min=-clip_value, max=clip_value)
