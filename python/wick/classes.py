"""Classes that libraries bring: `torch.classes.NAMESPACE.NAME(...)`."""

from ._ops import ops as _ops
from .jit._native import ScriptClass


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return ScriptClass(self.name + "." + name)


def load_library(path):
    """Makes what a library brings known, as `torch.ops.load_library`."""
    _ops.load_library(path)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Namespace(name)
