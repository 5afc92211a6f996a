"""Modules whose functions are operators with a prefix: linalg, fft, special."""
import sys

from . import _C


def lazily(module, prefix):
    """The module's __getattr__ and __dir__: NAME is the operator aten::PREFIX_NAME, kept once it was asked for."""

    def get(name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            found = _C.operator("aten::%s_%s" % (prefix, name))
        except AttributeError:
            raise AttributeError("module '%s' has no attribute '%s'" % (module, name)) from None
        setattr(sys.modules[module], name, found)
        return found

    def names():
        begin = "aten::%s_" % prefix
        found = {name[len(begin):] for name in _C.operator_names() if name.startswith(begin)}
        return sorted(found | set(vars(sys.modules[module])))

    return get, names
