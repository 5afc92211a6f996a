"""Programs: functions, classes and modules of Python compiled, saved, loaded and run by wick."""

import importlib

from ._modifiers import (Attribute, Final, Future, annotate, export, fork, ignore, is_scripting, is_tracing,
                         isinstance, unused, wait)
from ._modifiers import fork as _fork, wait as _wait, unchecked_unwrap_optional as _unwrap_optional
from ._script import CompilationUnit, ScriptFunction, interface, script
from . import frontend  # noqa: F401
from ._frontend import FrontendError

from .._C import JITException as Error  # noqa: F401
from .._jit_internal import _overload, _overload_method
# What needs wick.nn, by the file that has it.
_LATER = {"ScriptModule": "_module", "RecursiveScriptModule": "_module", "script_method": "_module",
          "save": "_archive", "load": "_archive", "freeze": "_archive", "optimize_for_inference": "_archive",
          "run_frozen_optimizations": "_archive", "from_torch": "_archive", "trace": "_trace",
          "trace_module": "_trace", "TracerWarning": "_trace", "TracingCheckError": "_trace",
          "script_if_tracing": "_trace", "_script_if_tracing": "_trace",
          "export_opnames": "_archive", "set_fusion_strategy": "_executors",
          "enable_onednn_fusion": "_executors", "onednn_fusion_enabled": "_executors",
          "optimized_execution": "_executors", "strict_fusion": "_executors", "fuser": "_executors",
          "last_executed_optimized_graph": "_debug", "_get_trace_graph": "_debug", "_ScriptProfile": "_debug",
          "_hide_source_ranges": "_debug", "TopLevelTracedModule": "_trace", "_flatten": "_flat_names",
          "_unique_state_dict": "_flat_names", "set_module": "_flat_names",
          "_register_decomposition": "_decompositions"}
_MODULES = ("_builtins", "_logging", "_recursive", "_state", "_trace", "annotations")


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    file = _LATER.get(name)
    if file is None:
        raise AttributeError("module 'wick.jit' has no attribute '%s'" % name)
    found = getattr(importlib.import_module("." + file, __name__), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted(set(globals()) | set(_LATER))
