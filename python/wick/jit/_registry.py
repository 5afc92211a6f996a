"""What was compiled: names that classes have in programs, overloads that were declared, classes and functions."""

import keyword
import sys
import weakref

from .._jit_internal import full_name, overloads

functions = weakref.WeakKeyDictionary()  # a function of Python -> ScriptFunction
classes = {}  # a class of Python -> ClassEntry; held, as operators and types are, for the process
python_classes = {}  # "__torch__.Foo" -> a class of Python
python_users = weakref.WeakKeyDictionary()  # a program that calls Python -> the name of the function that it calls
_taken = {}  # name -> key
_functions_by_name = {}  # name in programs -> a weak reference to the function of Python


class ClassEntry:
    """A class that was compiled: `name` in `program`, of the kind "class", "enum", "tuple" or "interface"."""

    def __init__(self, program, name, kind):
        self.program, self.name, self.kind = program, name, kind


def overloads_of(function):
    """The declarations for a function or method, without itself. Those that torch's decorators keep count as well."""
    found = overloads.get(full_name(function)) or _torch_overloads(function)
    return [f for f in found if f is not function]


def _torch_overloads(function):
    kept = sys.modules.get("torch._jit_internal")
    if kept is None:
        return ()
    name = "__torch__.%s.%s" % (function.__module__, function.__name__)
    *_, owner, _ = ["", ""] + function.__qualname__.split(".")
    if owner:
        return getattr(kept, "_overloaded_methods", {}).get(name, {}).get(owner, ())
    return getattr(kept, "_overloaded_fns", {}).get(name, ())


def program_name(thing):
    """The dotted name that a class or function of Python has in programs, as torch would call it."""
    module = getattr(thing, "__module__", None) or "__main__"
    if module == "wick" or module.startswith("wick."):
        module = "torch" + module[4:]
    parts = [] if module == "__main__" else module.split(".")
    parts.append(thing.__name__ if isinstance(thing, type) else thing.__qualname__)
    return ".".join(_identifier(part) for part in ".".join(parts).split(".") if part != "<locals>")


def _identifier(part):
    made = "".join(c if c.isalnum() or c == "_" else "_" for c in part) or "_"
    return "_" + made if made[0].isdigit() or keyword.iskeyword(made) else made


def function_name(function):
    """The name of a function in programs: its own, with a mark in it where another function has that."""
    name, count = _identifier(function.__name__), 0
    made = name
    while made in _functions_by_name and _functions_by_name[made]() not in (None, function):
        made = "__torch__.___torch_mangle_%d.%s" % (count, name)
        count += 1
    _functions_by_name[made] = weakref.ref(function)
    return made


def unique_name(name, key):
    """The name, or the name with a mark in it where another thing has it."""
    if _taken.setdefault(name, key) is key:
        return name
    count = 0
    while _taken.setdefault(mangled(name, count), key) is not key:
        count += 1
    return mangled(name, count)


def mangled(name, count):
    """The name with a mark in it."""
    outer, _, last = name.rpartition(".")
    return "%s%s___torch_mangle_%d.%s" % (outer, "." if outer else "", count, last)
