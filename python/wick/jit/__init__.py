"""Programs: functions, classes and modules of Python compiled, saved, loaded and run by wick."""

import importlib

from ._modifiers import (Attribute, Final, Future, _overload, _overload_method, annotate, export, fork, ignore,
                         is_scripting, is_tracing, isinstance, unused, wait)
from ._modifiers import fork as _fork, wait as _wait, unchecked_unwrap_optional as _unwrap_optional
from ._script import CompilationUnit, ScriptFunction, interface, script
from . import frontend  # noqa: F401
from ._frontend import FrontendError

from .._C import JITException as Error  # noqa: F401
# What needs wick.nn, by the file that has it.
_LATER = {"ScriptModule": "_module", "RecursiveScriptModule": "_module", "script_method": "_module",
          "save": "_archive", "load": "_archive", "freeze": "_archive", "optimize_for_inference": "_archive",
          "run_frozen_optimizations": "_archive", "from_torch": "_archive", "trace": "_trace",
          "trace_module": "_trace", "TracerWarning": "_trace", "TracingCheckError": "_trace",
          "script_if_tracing": "_trace", "export_opnames": "_archive"}


def __getattr__(name):
    file = _LATER.get(name)
    if file is None:
        raise AttributeError("module 'wick.jit' has no attribute '%s'" % name)
    found = getattr(importlib.import_module("." + file, __name__), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted(set(globals()) | set(_LATER))


def set_fusion_strategy(strategy):
    """Takes what torch takes; wick fuses what it finds worth while."""
    return strategy


def enable_onednn_fusion(enabled):
    """Takes what torch takes; there is no such fuser."""


def onednn_fusion_enabled():
    """False: there is no such fuser."""
    return False


class optimized_execution:
    """A context that changes nothing: what runs is what was written, whatever it was optimized to."""

    def __init__(self, should_optimize):
        self.should_optimize = should_optimize

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class strict_fusion(optimized_execution):
    """A context that changes nothing: `wick.jit.ScriptFunction.graph_for` shows what was fused."""

    def __init__(self):
        super().__init__(True)
