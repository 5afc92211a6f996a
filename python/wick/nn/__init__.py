"""Neural networks: Module, layers, losses, their functions and initial values."""
from wick.nn import functional, init, modules, parallel, parameter, utils
from wick.nn.modules import *
from wick.nn.parallel import DataParallel
from wick.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter


def __getattr__(name):
    if name in ("common_types", "grad", "intrinsic", "quantized"):
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError("module 'wick.nn' has no attribute %r" % name)
