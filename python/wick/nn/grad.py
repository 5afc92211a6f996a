"""Gradients of convolutions with respect to what they take in and to their weights."""
import wick

from .modules.utils import _pair, _single, _triple


def _gradient(which, expand, input, weight, grad_output, stride, padding, dilation, groups):
    mask = [i == which for i in range(3)]
    return wick.ops.aten.convolution_backward(
        grad_output, input, weight, None, expand(stride), expand(padding), expand(dilation), False, [0], groups,
        mask)[which]


def _of_input(expand, name):
    def of_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        input = wick.empty(1, dtype=grad_output.dtype, device=grad_output.device).expand(input_size)
        return _gradient(0, expand, input, weight, grad_output, stride, padding, dilation, groups)
    of_input.__name__ = of_input.__qualname__ = name
    of_input.__doc__ = "The gradient of what a convolution of size ``input_size`` takes in, from that of its result."
    return of_input


def _of_weight(expand, name):
    def of_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        weight = wick.empty(1, dtype=grad_output.dtype, device=grad_output.device).expand(weight_size)
        return _gradient(1, expand, input, weight, grad_output, stride, padding, dilation, groups)
    of_weight.__name__ = of_weight.__qualname__ = name
    of_weight.__doc__ = "The gradient of a convolution's weight of size ``weight_size``, from that of its result."
    return of_weight


conv1d_input, conv1d_weight = _of_input(_single, "conv1d_input"), _of_weight(_single, "conv1d_weight")
conv2d_input, conv2d_weight = _of_input(_pair, "conv2d_input"), _of_weight(_pair, "conv2d_weight")
conv3d_input, conv3d_weight = _of_input(_triple, "conv3d_input"), _of_weight(_triple, "conv3d_weight")
