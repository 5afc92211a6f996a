"""fuse_modules: a convolution or linear layer with the normalization and ReLU that follow it, as one."""

import copy

from wick import nn
from wick.nn import intrinsic
from wick.nn.utils.fusion import fuse_conv_bn_eval

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def _fused(modules):
    first, *rest = modules
    if len(rest) and isinstance(first, _CONVOLUTIONS) and isinstance(rest[0], _NORMS):
        if first.training:
            raise NotImplementedError("fuse_modules takes modules in evaluation mode: call eval() first")
        first = fuse_conv_bn_eval(first, rest.pop(0))
    if not rest:
        return first
    if len(rest) == 1 and isinstance(rest[0], nn.ReLU):
        for kind, made in intrinsic.WITH_RELU.items():
            if type(first) is kind:
                return made(first, rest[0])
    raise NotImplementedError("Cannot fuse modules: %s" % (tuple(type(m) for m in modules),))


def _parent(model, name):
    path, _, last = name.rpartition(".")
    return (model.get_submodule(path) if path else model), last


def fuse_modules(model, modules_to_fuse, inplace=False, fuser_func=None, fuse_custom_config_dict=None):
    """The model with the modules of each list of names as the first of them, and Identity in place of the others."""
    if not inplace:
        model = copy.deepcopy(model)
    is_one = isinstance(modules_to_fuse[0], str)
    lists = [modules_to_fuse] if is_one else modules_to_fuse
    for names in lists:
        places = [_parent(model, name) for name in names]
        made = _fused([getattr(parent, last) for parent, last in places])
        for i, (parent, last) in enumerate(places):
            setattr(parent, last, made if i == 0 else nn.Identity().train(made.training))
    return model
