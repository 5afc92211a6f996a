"""What programs say of themselves for the compiler: decorators and annotations. To Python they mean little."""

import typing

from ..futures import Future
from . import _later

EXPORT, IGNORE, UNUSED, DEFAULT = "export", "ignore", "unused", "default"
_ATTRIBUTE = "_script_modifier"


def modifier_of(function):
    """EXPORT, IGNORE, UNUSED or DEFAULT. The marks that torch's decorators leave count as well."""
    function = getattr(function, "__func__", function)
    mark = getattr(function, _ATTRIBUTE, None) or getattr(function, "_torchscript_modifier", None) or DEFAULT
    return str(mark).split(" ", 1)[0]


def _mark(function, modifier):
    if isinstance(function, property):
        for accessor in (function.fget, function.fset):
            if accessor is not None:
                setattr(accessor, _ATTRIBUTE, modifier)
    else:
        setattr(function, _ATTRIBUTE, modifier)
    return function


def export(fn):
    """A method that is compiled with its module although nothing that is compiled calls it."""
    return _mark(fn, EXPORT)


def ignore(drop=False, **kwargs):
    """A function or method that stays Python's: compiled code calls it there. With drop=True as `unused`."""
    if callable(drop):
        return _mark(drop, IGNORE)
    return lambda fn: _mark(fn, UNUSED if drop else IGNORE)


def unused(fn):
    """A function, method or property that is not compiled: compiled code that comes to it raises."""
    return _mark(fn, UNUSED)


def is_scripting():
    """True in compiled code. Where it is a condition only the side that is taken is compiled."""
    return False


def is_tracing():
    """True while a program is traced; False in compiled code."""
    import sys
    tracing = sys.modules.get("wick.jit._trace")
    return tracing is not None and tracing.is_tracing()


def annotate(the_type, the_value):
    """The value; to the compiler it is of that type: `wick.jit.annotate(List[int], [])`."""
    return the_value


class Attribute(typing.NamedTuple):
    """A module's attribute with the type that it has in compiled code."""

    value: typing.Any
    type: typing.Any


Final = typing.Final  # on an attribute of a module: its value is a constant of the program


def interface(cls):
    """What modules or objects have in common: the class's methods, whose bodies say nothing, can be called."""
    cls.__script_interface__ = True
    return cls


def check_empty_containers(obj):
    """Warns where a container has no items to tell of what type they are."""
    if obj in ([], {}, ()):
        import warnings
        warnings.warn("An empty %s is of any inner type to torch.jit.isinstance in Python; in a program it is of the "
                      "one that it was annotated with" % type(obj).__name__)


def isinstance(obj, target_type):  # noqa: A001, mirrors the name in torch.jit
    """Python's, with typing's generics: `wick.jit.isinstance(x, List[int])` looks at the items."""
    if not obj and type(obj) in (list, dict, tuple):
        check_empty_containers(obj)
    return _is_of(obj, target_type)


def _is_of(obj, kind):
    import builtins
    if builtins.isinstance(kind, (tuple, list)):
        return any(_is_of(obj, k) for k in kind)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind in (None, type(None)):
        return obj is None
    if origin is typing.Union or type(kind).__name__ == "UnionType":
        return any(_is_of(obj, k) for k in args)
    if kind in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple) and not args:
        name = getattr(kind, "_name", None) or kind.__name__.capitalize()
        raise RuntimeError("Attempted to use %s without a contained type. Please add a contained type, e.g. %s[int]"
                           % (name, name))
    if origin is list:
        return builtins.isinstance(obj, list) and all(_is_of(item, args[0]) for item in obj)
    if origin is dict:
        return builtins.isinstance(obj, dict) and all(_is_of(k, args[0]) and _is_of(v, args[1])
                                                      for k, v in obj.items())
    if origin is tuple:
        args = () if args == ((),) else args
        return builtins.isinstance(obj, tuple) and len(obj) == len(args) and all(map(_is_of, obj, args))
    return builtins.isinstance(obj, kind)


def fork(func, *args, **kwargs):
    """Calls in a task of its own in compiled code; in Python at once. Gives a Future."""
    if is_tracing():
        return _later.fork_traced(func, args, kwargs)
    done = Future()
    done.set_result(func(*args, **kwargs))
    return done


def wait(future):
    """What a Future's call gave."""
    return future.wait()


def unchecked_unwrap_optional(value):
    """The value, which must not be None."""
    if value is None:
        raise RuntimeError("Unwrapping null optional")
    return value


_unwrap_optional = unchecked_unwrap_optional
