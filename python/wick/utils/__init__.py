"""What is neither operators nor layers."""
import importlib

_MODULES = frozenset(('_pytree', 'checkpoint', 'data', 'dlpack', 'hooks', 'mobile_optimizer', 'model_zoo'))


def __getattr__(name):
    """Its modules, imported when they are first named."""
    if name in _MODULES:
        return importlib.import_module('.' + name, __name__)
    raise AttributeError("module '{}' has no attribute '{}'".format(__name__, name))


def __dir__():
    return sorted({*globals(), *_MODULES})
