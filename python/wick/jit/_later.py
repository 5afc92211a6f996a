"""What modules need of those after them, all in one table: each imports only what stands before it, and asks here for
the rest, which is imported when it is first used. scripts/check_python_layers.py has the order."""

import importlib

_PLACES = {  # name: (module, what it is called there)
    "CompilationUnit": ("_script", "CompilationUnit"),
    "ExecutorState": ("_debug", "ExecutorState"),
    "NativeObject": ("_native", "NativeObject"),
    "RecursiveScriptModule": ("_module", "RecursiveScriptModule"),
    "ScriptFunction": ("_script", "ScriptFunction"),
    "ScriptObject": ("_internals", "ScriptObject"),
    "class_entry": ("_classes", "class_entry"),
    "compile_module": ("_recursive", "create"),
    "compiled_function": ("_script", "compiled_function"),
    "fork_traced": ("_trace", "fork"),
    "load_archive": ("_archive", "load"),
    "module_kinds": ("_recursive", "kinds"),
    "prepare_module": ("_recursive", "prepared"),
    "save_archive": ("_archive", "save"),
    "wrap_module": ("_module", "wrap_module"),
}


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError("module 'wick.jit._later' has no attribute %r" % name)
    module, called = _PLACES[name]
    found = getattr(importlib.import_module("." + module, __package__), called)
    globals()[name] = found
    return found
