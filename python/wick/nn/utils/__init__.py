"""Gradients clipped, parameters as vectors, sequences packed, and weights that are computed from others."""
from wick.nn.utils import rnn
from wick.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_
from wick.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from wick.nn.utils.fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights
from wick.nn.utils.init import skip_init
from wick.nn.utils.memory_format import convert_conv2d_weight_memory_format
from wick.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from wick.nn.utils.weight_norm import remove_weight_norm, weight_norm


def __getattr__(name):
    """What few programs need is imported when it is first named."""
    if name not in ('parametrizations', 'parametrize', 'stateless'):
        raise AttributeError("module 'wick.nn.utils' has no attribute %r" % name)
    import importlib
    return importlib.import_module('wick.nn.utils.' + name)
