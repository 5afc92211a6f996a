"""torch.jit._state: whether functions are compiled at all."""

import os


class EnabledProxy:
    """Whether script compiles; PYTORCH_JIT=0 in the environment: it gives back what it is given."""

    def __init__(self):
        self.enabled = os.environ.get("PYTORCH_JIT", "1").lower() not in ("0", "false", "no", "off")

    def __bool__(self):
        return self.enabled


_enabled = EnabledProxy()
inline_everything = False  # whether functions that are compiled have calls inlined in their graph
emit_hooks = (None, None)  # for modules, called by run_emit_module_hook, and for functions that were compiled


def disable():
    """From now on script gives back what it is given."""
    _enabled.enabled = False


def enable():
    """From now on script compiles."""
    _enabled.enabled = True


def __getattr__(name):
    from . import _later, _registry
    if name == "_python_cu":
        found = _later.CompilationUnit()
    elif name == "_try_get_jit_cached_function":
        found = _registry.functions.get
    elif name == "_get_script_class":
        found = _registry.classes.get
    else:
        raise AttributeError("module 'wick.jit._state' has no attribute %r" % name)
    globals()[name] = found
    return found
