"""What layers and libraries ask of the compiler, without the weight of wick.jit; that comes with the rest of torch's
names."""

import inspect
import typing

Final = typing.Final
_ELSEWHERE = {
    "_isinstance": ("_modifiers", "isinstance"), "export": ("_modifiers", "export"),
    "ignore": ("_modifiers", "ignore"), "is_tracing": ("_modifiers", "is_tracing"),
    "check_empty_containers": ("_modifiers", "check_empty_containers"), "Future": ("_modifiers", "Future"),
}
_ELSEWHERE.update(("BroadcastingList%d" % count, ("_types", "BroadcastingList%d" % count)) for count in range(1, 7))


class FunctionModifiers:
    """How functions can be marked."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = "if this method is not scripted, copy the python method onto the scripted model"


def is_scripting():
    """True in compiled code, where a condition on it compiles only the side that is taken; False here."""
    return False


def unused(fn):
    """A function or method that is not compiled: compiled code that comes to it raises."""
    fn._torchscript_modifier = FunctionModifiers.UNUSED
    return fn


def _copy_to_script_wrapper(fn):
    """A method that stays Python's, and that compiled modules have, too."""
    fn._torchscript_modifier = FunctionModifiers.COPY_TO_SCRIPT_WRAPPER
    return fn


overloads = {}  # "module.name" -> declarations


def full_name(function):
    """The name of a function or method, with its module's."""
    function = getattr(function, "__func__", function)
    return "%s.%s" % (getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function)))


def _overload(fn):
    """A signature of the function of that name that follows: the body is compiled for each."""
    declared = overloads.setdefault(full_name(fn), [])
    if declared and declared[0].__code__.co_filename == fn.__code__.co_filename and any(
            other.__code__.co_firstlineno == fn.__code__.co_firstlineno for other in declared):
        declared.clear()  # the module was run again
    declared.append(fn)
    return fn


def _overload_method(fn):
    """The same for a method."""
    return _overload(fn)


def get_torchscript_modifier(fn):
    """How a function is marked: a member of FunctionModifiers, or None of what is no function."""
    if not callable(fn):
        return None
    from .jit import _modifiers
    found = getattr(getattr(fn, "__func__", fn), "_torchscript_modifier", None)
    return found or getattr(FunctionModifiers, _modifiers.modifier_of(fn).upper(), FunctionModifiers.DEFAULT)


def is_ignored_fn(fn):
    """Whether it is marked as unused or ignored."""
    return get_torchscript_modifier(fn) in (FunctionModifiers.UNUSED, FunctionModifiers.IGNORE)


def should_drop(fn):
    """Whether it is marked as unused."""
    return get_torchscript_modifier(fn) == FunctionModifiers.UNUSED


def copy_torchscript_modifier(orig, new):
    """Marks a function as another one is."""
    found = get_torchscript_modifier(orig)
    if found is not None:
        new._torchscript_modifier = found


def module_has_exports(mod):
    """Whether a method of a module is marked as exported."""
    return any(get_torchscript_modifier(getattr(mod, name)) == FunctionModifiers.EXPORT
               for name in dir(mod) if callable(getattr(mod, name, None)))


def can_compile_class(cls):
    """Whether the methods of a class have source."""
    if is_ignored_fn(cls) or issubclass(cls, (tuple, list)):
        return False
    functions = [getattr(cls, name) for name in vars(cls) if inspect.isroutine(getattr(cls, name, None))]
    return all(hasattr(function, "__code__") for function in functions)


def get_callable_argument_names(fn):
    """The names of the parameters that can be given by place; none where there are others."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [one.name for one in parameters] if all(one.kind == plain for one in parameters) else []


# ---- names that a definition sees ----

def createResolutionCallbackFromEnv(lookup_base):
    """Finds what a dotted name stands for, its first part being an attribute of `lookup_base`."""
    def find(name):
        found = lookup_base
        for part in name.split("."):
            found = getattr(found, part, None)
        return found
    return find


class _Names:
    def __init__(self, *dicts):
        self._dicts = dicts

    def __getattr__(self, name):
        import builtins
        for known in self._dicts:
            if name in known:
                return known[name]
        return getattr(builtins, name, None) or getattr(typing, name, None)


def createResolutionCallbackFromFrame(frames_up=0):
    """Finds names as the caller sees them, or the frame so many above."""
    frame = inspect.currentframe()
    for _ in range(frames_up + 1):
        frame = frame.f_back
    return createResolutionCallbackFromEnv(_Names(frame.f_locals, frame.f_globals))


def get_closure(fn):
    """The names that a function sees from outside of it."""
    return {**fn.__globals__, **inspect.getclosurevars(fn).nonlocals}


def createResolutionCallbackFromClosure(fn):
    """Finds names as a function sees them."""
    return createResolutionCallbackFromEnv(_Names(get_closure(fn)))


# ---- annotations ----

def _is(origin):
    def is_it(ann):
        """Whether an annotation is of that kind."""
        return typing.get_origin(ann) is origin or ann is origin
    return is_it


is_tuple, is_list, is_dict, is_union, is_final = _is(tuple), _is(list), _is(dict), _is(typing.Union), _is(Final)


def is_optional(ann):
    """Whether an annotation is of something or None."""
    return is_union(ann) and type(None) in typing.get_args(ann) and len(typing.get_args(ann)) == 2


def is_future(ann):
    """Whether an annotation is of a Future."""
    from .futures import Future
    if ann is Future:
        raise RuntimeError("Attempted to use Future without a contained type. Please add a contained type, e.g. "
                           "Future[int]")
    return typing.get_origin(ann) is Future


def _qualified_name(obj):
    """The name that a class or function has in programs, `__torch__` before it."""
    from .jit import _registry
    return "__torch__." + _registry.program_name(obj)


def __getattr__(name):
    if name not in _ELSEWHERE:
        raise AttributeError("module 'wick._jit_internal' has no attribute %r" % name)
    import importlib
    file, own = _ELSEWHERE[name]
    found = globals()[name] = getattr(importlib.import_module(".jit." + file, "wick"), own)
    return found
