"""Batch normalization with fixed statistics made part of the convolution or linear map before it."""
import copy

import wick
from wick.nn.parameter import Parameter


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of ``conv`` that computes what ``bn(conv(x))`` does; both must be in eval mode."""
    assert not (conv.training or bn.training), 'Fusion only for eval!'
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps,
                                                    bn.weight, bn.bias, transpose)
    return fused


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """The weight and bias of a convolution with a batch normalization after it."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear, bn):
    """A copy of ``linear`` that computes what ``bn(linear(x))`` does; both must be in eval mode."""
    assert not (linear.training or bn.training), 'Fusion only for eval!'
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var,
                                                      bn.eps, bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """The weight and bias of a linear map with a batch normalization after it."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _fused(weight, bias, mean, var, eps, bn_weight, bn_bias, shape):
    scale = wick.rsqrt(var + eps)
    if bn_weight is not None:
        scale = bn_weight * scale
    shift = -mean if bias is None else bias - mean
    shift = shift * scale
    if bn_bias is not None:
        shift = shift + bn_bias
    return (Parameter((weight * scale.reshape(shape)).detach(), weight.requires_grad),
            Parameter(shift.detach(), weight.requires_grad if bias is None else bias.requires_grad))
