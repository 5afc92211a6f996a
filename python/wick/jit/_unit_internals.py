"""torch._C's names around units, traces and compiling: functions of traces, modules of archives, hooks."""

import os

from .. import _C
from . import _later, _registry, _state
from ._script import CompilationUnit, ScriptFunction


# ---- archives ----

def _load(data, map_location, extra_files):
    from . import _archive
    return _later.ScriptObject(_archive.load_handle(data, map_location, extra_files))


def import_ir_module(cu, filename, map_location=None, extra_files=None):
    """The module of an archive; `cu` is not asked for names: every archive has a unit of its own."""
    return _load(os.fspath(filename), map_location, extra_files)


def import_ir_module_from_buffer(cu, buffer, map_location=None, extra_files=None):
    """The module of an archive that is there as bytes."""
    return _load(bytes(buffer), map_location, extra_files)


# ---- what compiling does besides ----

def set_inline_everything_mode(enabled):
    """Whether functions that are compiled from now on have no calls in their `graph`."""
    _state.inline_everything = bool(enabled)


def get_inline_everything_mode():
    """What was set."""
    return _state.inline_everything


def set_emit_hooks(module_hook, function_hook):
    """Functions that are called with modules by run_emit_module_hook and with each function that was compiled; None:
    nothing is called."""
    _state.emit_hooks = module_hook, function_hook


def get_emit_hooks():
    """What was set."""
    return _state.emit_hooks


def run_emit_module_hook(module):
    """Calls what was set with a module."""
    if _state.emit_hooks[0] is not None:
        _state.emit_hooks[0](module)


def clear_class_registry():
    """Forgets which classes of Python were compiled."""
    _registry.classes.clear()
    _registry.python_classes.clear()


# ---- traces ----

class TracingState:
    """That a trace is on."""


_tracing = TracingState()


def get_tracing_state():
    """A TracingState while a program is traced, else None."""
    return _tracing if _C._trace_is_on() else None


def set_tracing_state(state):
    """None: what follows is not recorded. A state that get_tracing_state gave: it is again."""
    (_C._trace_pause if state is None else _C._trace_resume)()


def create_function_from_trace(qualname, func, input_tuple, var_lookup_fn=None, strict=True, force_outplace=False,
                               argument_names=()):
    """The ScriptFunction of what a function does with such inputs."""
    from . import _trace
    call = _trace._Call(func, tuple(input_tuple), None)
    if argument_names:
        call.names = tuple(argument_names)
    name = _registry._identifier(qualname.rpartition(".")[2])
    return ScriptFunction(_trace._record(func, call, name, None, _trace._Style(strict, force_outplace)), name)


# ---- types ----

def unify_type_list(types):
    """The type that several types have in common."""
    from . import _graph_types
    found = types[0]
    for other in types[1:]:
        if other.isSubtypeOf(found):
            continue
        if found.isSubtypeOf(other):
            found = other
        elif isinstance(found, _graph_types.NoneType) or isinstance(other, _graph_types.NoneType):
            found = _graph_types.OptionalType(found if isinstance(other, _graph_types.NoneType) else other)
        else:
            raise RuntimeError("Could not unify type list: %s and %s" % (found, other))
    return found


def parse_type_comment(comment):
    """The parameters' types and the result's of a comment `# type: (int, Tensor) -> int`."""
    from . import annotations
    return annotations.parse_type_line(comment)


# ---- values ----

def is_script_object(value):
    """Whether it is an object of a program."""
    return getattr(value, "_script_handle", None) is not None and not isinstance(value, ScriptFunction)


class IODescriptor:
    """How tensors stand in a structure that was taken apart."""

    def __init__(self, shape):
        self._shape = shape


def flatten(value):
    """The tensors of nested tuples, lists and dicts, and how they stood."""
    tensors = []

    def walk(one):
        if isinstance(one, _C.Tensor):
            tensors.append(one)
            return len(tensors) - 1
        if isinstance(one, (tuple, list)):
            return type(one), [walk(item) for item in one]
        if isinstance(one, dict):
            return dict, [(key, walk(one[key])) for key in sorted(one)]
        if one is None or isinstance(one, str):
            return type(None), one
        raise RuntimeError("Only tuples, lists and Variables are supported as JIT inputs/outputs. Dictionaries and "
                           "strings are also accepted, but their usage is not recommended. Here, received an input "
                           "of unsupported type: %s" % type(one).__name__)
    return tuple(tensors), IODescriptor(walk(value))


def unflatten(tensors, descriptor):
    """The structure with these tensors in it."""
    def build(shape):
        if isinstance(shape, int):
            return tensors[shape]
        kind, items = shape
        if kind is dict:
            return {key: build(item) for key, item in items}
        if kind is type(None):
            return items
        return kind(map(build, items))
    return build(descriptor._shape)


NAMES = {
    "CompilationUnit": CompilationUnit, "IODescriptor": IODescriptor, "TracingState": TracingState,
    "_create_function_from_trace": create_function_from_trace, "_get_tracing_state": get_tracing_state,
    "_jit_clear_class_registry": clear_class_registry, "_jit_flatten": flatten,
    "_jit_get_emit_hooks": get_emit_hooks, "_jit_get_inline_everything_mode": get_inline_everything_mode,
    "_jit_is_script_object": is_script_object, "_jit_set_emit_hooks": set_emit_hooks,
    "_jit_set_inline_everything_mode": set_inline_everything_mode, "_jit_unflatten": unflatten,
    "_run_emit_module_hook": run_emit_module_hook, "_set_tracing_state": set_tracing_state,
    "import_ir_module": import_ir_module,
    "import_ir_module_from_buffer": import_ir_module_from_buffer, "parse_type_comment": parse_type_comment,
    "unify_type_list": unify_type_list,
}
