"""quantize_dynamic, prepare and convert: modules exchanged for quantized ones, in a copy of the network."""

import copy

import wick
from wick import nn
from wick.nn import intrinsic, quantized

from . import qconfig as _qconfig
from .observer import ObserverBase
from .stubs import DeQuantStub, QuantStub, QuantWrapper

_DYNAMIC = {nn.Linear: quantized.dynamic.Linear, nn.LSTM: quantized.dynamic.LSTM, nn.GRU: quantized.dynamic.GRU}
_STATIC = {
    nn.Linear: quantized.Linear, nn.Conv1d: quantized.Conv1d, nn.Conv2d: quantized.Conv2d,
    nn.Conv3d: quantized.Conv3d, intrinsic.LinearReLU: intrinsic.quantized.LinearReLU,
    intrinsic.ConvReLU1d: intrinsic.quantized.ConvReLU1d, intrinsic.ConvReLU2d: intrinsic.quantized.ConvReLU2d,
    intrinsic.ConvReLU3d: intrinsic.quantized.ConvReLU3d, QuantStub: quantized.Quantize,
    DeQuantStub: quantized.DeQuantize,
}


def get_default_dynamic_quant_module_mappings():
    """Which module becomes which."""
    return dict(_DYNAMIC)


def get_default_static_quant_module_mappings():
    """Which module becomes which."""
    return dict(_STATIC)


def _exchange(module, change, prefix=""):
    """Puts change(child, its path) in the place of each descendant for which that is not None."""
    for name, child in list(module.named_children()):
        path = prefix + name
        made = change(child, path)
        if made is None:
            _exchange(child, change, path + ".")
        else:
            setattr(module, name, made)


def quantize_dynamic(model, qconfig_spec=None, dtype=wick.qint8, mapping=None, inplace=False):
    """A copy whose linear and recurrent layers have weights of 8 bits; activations are quantized as they come.

    `qconfig_spec`: classes of modules or their names, as a set, or as a dict with a QConfig for each.
    """
    if dtype != wick.qint8:
        raise NotImplementedError("quantize_dynamic makes weights of qint8, not %s" % dtype)
    mapping = dict(_DYNAMIC if mapping is None else mapping)
    if qconfig_spec is None:
        qconfig_spec = set(_DYNAMIC)
    if not isinstance(qconfig_spec, dict):
        qconfig_spec = dict.fromkeys(qconfig_spec, _qconfig.default_dynamic_qconfig)
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()

    def change(child, path):
        config = qconfig_spec.get(path, qconfig_spec.get(type(child)))
        made = mapping.get(type(child))
        if config is None or made is None:
            return None
        child.qconfig = config
        return made.from_float(child)
    top = change(model, "")
    if top is not None:
        return top
    _exchange(model, change)
    return model


def propagate_qconfig_(module, qconfig_dict=None, prepare_custom_config_dict=None):
    """Hands a module's `qconfig` to its descendants that have none."""
    _propagate(module, getattr(module, "qconfig", None), qconfig_dict or {}, "")


def _propagate(module, config, table, path):
    config = table.get(path, table.get(type(module), getattr(module, "qconfig", config)))
    module.qconfig = config
    for name, child in module.named_children():
        _propagate(child, config, table, path + "." + name if path else name)


def add_quant_dequant(module):
    """Wraps descendants that have a `qconfig` and nothing inside in QuantWrapper."""
    if getattr(module, "qconfig", None) and not list(module.children()):
        return QuantWrapper(module)
    for name, child in module.named_children():
        setattr(module, name, add_quant_dequant(child))
    return module


def _observe(module, inputs, output):
    return module.activation_post_process(output)


def _add_observers(module):
    for child in module.children():
        if isinstance(child, ObserverBase):
            continue
        config = getattr(child, "qconfig", None)
        if type(child) in _STATIC and type(child) is not DeQuantStub and config is not None:
            child.add_module("activation_post_process", config.activation())
            child.register_forward_hook(_observe)
        elif type(child) not in _STATIC:
            _add_observers(child)


def prepare(model, inplace=False, allow_list=None, observer_non_leaf_module_list=None,
            prepare_custom_config_dict=None):
    """A copy with observers after the layers that `convert` will quantize; run examples through it."""
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model)
    if not any(getattr(module, "qconfig", None) for module in model.modules()):
        import warnings
        warnings.warn("None of the submodule got qconfig applied. Make sure you passed correct configuration through "
                      "`qconfig_dict` or by assigning the `.qconfig` attribute directly on submodules")
    _add_observers(model)
    return model


def convert(module, mapping=None, inplace=False, remove_qconfig=True, is_reference=False,
            convert_custom_config_dict=None):
    """A copy in which the layers that were observed compute with 8 bits."""
    if is_reference:
        raise NotImplementedError("convert makes no reference modules")
    if not inplace:
        module = copy.deepcopy(module)
    mapping = _STATIC if mapping is None else mapping

    def change(child, path):
        if type(child) is DeQuantStub and getattr(child, "qconfig", None) is not None:
            return quantized.DeQuantize()
        if type(child) not in mapping or not hasattr(child, "activation_post_process"):
            return None
        return mapping[type(child)].from_float(child)
    _exchange(module, change)
    if remove_qconfig:
        for each in module.modules():
            each.__dict__.pop("qconfig", None)
    return module


def quantize(model, run_fn, run_args, mapping=None, inplace=False):
    """prepare, run_fn(model, *run_args), convert."""
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True)
    run_fn(model, *run_args)
    return convert(model, mapping, inplace=True)
