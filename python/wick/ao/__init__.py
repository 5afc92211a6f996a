"""torch.ao: quantization under its newer name."""

import importlib
import sys


def __getattr__(name):
    if name not in ("quantization", "nn"):
        raise AttributeError("module 'wick.ao' has no attribute %r" % name)
    found = sys.modules[__name__ + "." + name] = importlib.import_module("wick." + name)
    return found
