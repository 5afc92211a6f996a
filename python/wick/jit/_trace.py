"""trace(): programs from what functions and modules of Python do with example inputs.

While a function is traced its thread records every operator that it calls (docs/tracer.md). What depends on the
values of tensors in Python itself is not recorded: a TracerWarning says where that happens.
"""

import difflib
import functools
import inspect
import re
import threading
import types
import warnings

from .. import _C
from . import _nnc, _program, _recursive, _registry
from ._script import ScriptFunction

_scopes = threading.local()  # .paths: id of a submodule -> its path, while a module is traced
_lock = threading.Lock()
_tracing = 0  # threads that trace modules


class TracerWarning(Warning):
    """Something that a trace does not hold was used to decide or to compute."""

    @staticmethod
    def ignore_lib_warnings():
        """Leaves out warnings whose place is wick's own code."""
        warnings.filterwarnings("ignore", category=TracerWarning, module=r"wick\.(?!jit)")


class TracingCheckError(Exception):
    """Tracing a second time gave another program."""

    def __init__(self, graph_diff_error, tensor_compare_error=None, extra_msg=None):
        parts = [extra_msg, graph_diff_error, tensor_compare_error]
        self.message = "Tracing failed sanity checks!\n" + "\n".join(part for part in parts if part)
        super().__init__(self.message)


_LEAVES = {
    "len": "Using len to get tensor shape might cause the trace to be incorrect",
    "iteration": "Iterating over a tensor might cause the trace to be incorrect",
}


def _warn(kind, message):
    if kind == 0:
        what = _LEAVES.get(message, "Converting a tensor to a %s might cause the trace to be incorrect" % (
            message if message == "NumPy array" else "Python " + message))
        message = what + (": the trace can't follow it there, so that what is computed of it is a constant of the "
                          "program and may be wrong for other inputs")
    warnings.warn(message, TracerWarning, stacklevel=2)


def _warn_not(kind, message):
    """For traces that begin while `_C._jit_set_tracer_state_warn(False)` holds."""


def is_tracing():
    """Whether this thread traces."""
    return _C._trace_is_on()


# ---- arguments ----

def argument_names(function):
    """The names of a callable's positional parameters; none where it takes any number of arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return ()
    return tuple(p.name for p in parameters)


def _as_inputs(example_inputs):
    if isinstance(example_inputs, (_C.Tensor, dict)):
        return (example_inputs,)
    return example_inputs if isinstance(example_inputs, tuple) else tuple(example_inputs)


def _clone(value):
    if isinstance(value, _C.Tensor):
        copy = value.detach().clone()
        return copy.requires_grad_() if value.requires_grad else copy
    if isinstance(value, tuple):
        items = [_clone(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [_clone(item) for item in value]
    if isinstance(value, dict):
        return {key: _clone(item) for key, item in value.items()}
    return value


class _Call:
    """The inputs of a trace, with the names that keywords give them."""

    def __init__(self, function, inputs, keywords):
        if keywords is not None:
            names = tuple(keywords)
            self.inputs, self.keywords, self.names = tuple(keywords.values()), names, names
            return
        self.inputs, self.keywords = _as_inputs(inputs), None
        names = argument_names(function)
        self.names = names[:len(self.inputs)] if len(names) >= len(self.inputs) else None

    def apply(self, function, values):
        """The call with these values in place of the inputs."""
        if self.keywords is None:
            return function(*values)
        return function(**dict(zip(self.keywords, values)))

    def cloned(self):
        """The inputs, sharing no memory with those given."""
        return tuple(_clone(value) for value in self.inputs)


class _Style:
    """How a trace is made: whether lists and dicts are no results, and nothing is recorded as written in place."""

    def __init__(self, strict, outplace):
        self.strict, self.outplace = strict, outplace


def _record(function, call, name, program, style):
    """The program of a traced call: the C tracer between begin and end."""
    warn = _warn if _nnc.tracer_warns() else _warn_not
    stand = _C._trace_begin(call.inputs, name, call.names, program, not style.strict, warn, style.outplace)
    try:
        result = call.apply(function, stand)
        if result is None:
            raise RuntimeError("The traced function didn't return any values! Side-effects are not captured in "
                               "traces, so it would be a no-op.")
    except BaseException:
        _C._trace_abort()
        raise
    return _C._trace_end(result)


# ---- functions ----

def _trace_function(function, call, style):
    name = _registry._identifier(getattr(function, "__name__", type(function).__name__))
    program = _record(function, call, name, None, style)
    return ScriptFunction(program, name, function if isinstance(function, types.FunctionType) else None)


# ---- modules ----

class _ModuleBuild:
    """Classes and objects for a module and all that it holds; each instance has a class of its own, for what it was
    traced to do is its alone."""

    def __init__(self, module):
        self.kinds, self.handles, self.order = {}, {}, []
        self._kind_of(module)
        self._compile()
        self.handle = self._object_of(module)

    def _kind_of(self, module):
        kind = self.kinds.get(id(module))
        if kind is not None:
            return kind
        kind = _recursive.module_type(module) if _recursive._is_compiled(module) else _recursive.ModuleType(module)
        self.kinds[id(module)] = kind
        if kind.compiled is None:
            kind.hooks = ((), ())
            for table, which in ((module._parameters, _recursive.PARAMETER), (module._buffers, _recursive.BUFFER)):
                for name, value in table.items():  # what is a tensor now is one, whatever the annotation allows
                    if value is not None:
                        kind.attributes[name] = (which, "Tensor")
            kind.modules = {name: self._kind_of(inner) for name, inner in module._modules.items()
                            if inner is not None}
        self.order.append((kind, module))
        return kind

    def _compile(self):
        """The classes with the methods that are exported. Properties are theirs, too, but where one can't be compiled
        there are none."""
        names = {id(kind): _registry.unique_name(_registry.program_name(kind.python_class), kind)
                 if kind.compiled is None else kind.compiled.name for kind, _ in self.order}
        fresh = [pair for pair in self.order if pair[0].compiled is None]
        chosen, _ = _recursive._choose_methods(fresh, is_traced=True)
        try:
            program = self._program_of(chosen, names)
        except RuntimeError:
            if not any(methods.properties for methods in chosen):
                raise
            for methods in chosen:
                methods.properties = {}
            program = self._program_of(chosen, names)
        for methods in chosen:
            compiled = _recursive.CompiledType(program, names[id(methods.kind)], set(methods.functions))
            methods.kind.compiled = compiled

    def _program_of(self, chosen, names):
        builder = _program.Builder()
        for kind, _ in self.order:
            if kind.compiled is not None:
                builder.modules["__torch__." + kind.compiled.name] = kind.compiled
        for methods in chosen:
            builder.statements.append(_recursive._class_tree(methods, builder, names[id(methods.kind)], names))
        return builder.compile()

    def _object_of(self, module):
        if _recursive._is_compiled(module):
            return module._script_handle
        handle = self.handles.get(id(module))
        if handle is None:
            kind = self.kinds[id(module)]
            values = {name: self._object_of(module._modules[name]) for name in kind.modules}
            for name in kind.attributes:
                value = _recursive._attribute_value(module, name)
                values[name] = getattr(value, "value", value) if isinstance(value, tuple) else value
            handle = self.handles[id(module)] = kind.compiled.program.new_object(kind.compiled.name, values)
        return handle

    def script_module(self, module, handle, made=None):
        """The ScriptModule of a module that was traced; the handle knows its methods."""
        from . import _module
        made = {} if made is None else made
        if _recursive._is_compiled(module):
            return module
        if id(module) not in made:
            kind = self.kinds[id(module)]
            children = {name: self.script_module(module._modules[name], handle.submodule(name), made)
                        for name in kind.modules}
            made[id(module)] = _traced_class(_module)._of(handle, module, children, kind)
        return made[id(module)]


@functools.lru_cache(maxsize=None)
def _traced_class(module):
    class TopLevelTracedModule(module.RecursiveScriptModule):
        """What tracing a module gives."""

        def _get_name(self):
            return self.original_name
    return TopLevelTracedModule


def _paths(module, prefix="", found=None):
    found = {} if found is None else found
    for name, inner in module._modules.items():
        if inner is not None:
            if id(inner) not in found:  # one that is there twice goes by its first name
                found[id(inner)] = prefix + name
                _paths(inner, prefix + name + ".", found)
    return found


def _call_in_scope(module, args, kwargs):
    """A call of a module while some thread traces one: a scope, where it is a part of what this thread traces."""
    paths = getattr(_scopes, "paths", None)
    path = None if paths is None or not _C._trace_is_on() else paths.get(id(module))
    if path is None:
        return module._call_plain(*args, **kwargs)
    _C._trace_enter(path)
    result = module._call_plain(*args, **kwargs)
    _C._trace_leave()
    return result


class _Scopes:
    """Within it, calls of the module's submodules are scopes of this thread's trace."""

    def __init__(self, module):
        self.paths = _paths(module)

    def __enter__(self):
        global _tracing
        from ..nn.modules import module as modules
        with _lock:
            _tracing += 1
            modules._call_wrapper = _call_in_scope
        _scopes.paths = self.paths

    def __exit__(self, *error):
        global _tracing
        from ..nn.modules import module as modules
        _scopes.paths = None
        with _lock:
            _tracing -= 1
            if not _tracing:
                modules._call_wrapper = None


def _trace_methods(module, calls, style):
    """The traced module; calls: name of a method -> _Call."""
    build = _ModuleBuild(module)
    handle = build.handle
    for name, call in calls.items():
        function = module if name == "forward" else getattr(module, name)
        with _Scopes(module):
            handle = _record(function, call, name, handle, style)
    return build.script_module(module, handle)


# ---- checks ----

_SCALARS = "Byte|Char|Short|Int|Long|Half|Float|Double|ComplexHalf|ComplexFloat|ComplexDouble|Bool|BFloat16"


def _graph_lines(graph):
    """The graph's text with values numbered by their place, so that equal programs have equal text."""
    numbers = {}

    def number(match):
        return "%" + numbers.setdefault(match.group(0), str(len(numbers)))
    lines = []
    for line in graph.text(False).splitlines():
        line = re.sub(r"___torch_mangle_\d+\.", "", line)
        line = re.sub(r"\b(%s)\([^()]*\)" % _SCALARS, "Tensor", line)  # what is known of one call's tensors
        lines.append(re.sub(r"%[\w.]+", number, line))
    return lines


def _first_difference(first, second):
    a, b = _graph_lines(first), _graph_lines(second)
    if a == b:
        return None
    for i in range(max(len(a), len(b))):
        one, other = (lines[i] if i < len(lines) else "(nothing)" for lines in (a, b))
        if one != other:
            break
    diff = "\n".join(difflib.ndiff(a, b))
    diff = "\n".join("\t\t" + line for line in diff.splitlines())
    return ("ERROR: Graphs differed across invocations!\n\tFirst difference, line %d of the graph:\n"
            "\t\t- %s\n\t\t+ %s\n\tGraph diff:\n%s" % (i + 1, one.strip(), other.strip(), diff))


def _tensors_of(value, found=None):
    found = [] if found is None else found
    if isinstance(value, _C.Tensor):
        found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            _tensors_of(item, found)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _tensors_of(item, found)
    return found


def _largest_difference(a, b):
    a, b = a.detach().double(), b.detach().double()
    return float((a - b).abs().max()) if a.numel() else 0.0


def _compare(results, others, what, tolerance):
    """Warns of the first result that is another one than `what` gives; whether there is none."""
    results, others = _tensors_of(results), _tensors_of(others)
    for i, (a, b) in enumerate(zip(results, others), 1):
        same_look = a.dtype == b.dtype and a.shape == b.shape
        one, other = a.detach().double(), b.detach().double()
        if same_look and bool(_aten("allclose")(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)):
            continue
        told = "they differ by up to %g" % _largest_difference(a, b) if same_look else (
            "%s of size %s and %s of size %s" % (a.dtype, tuple(a.shape), b.dtype, tuple(b.shape)))
        warnings.warn("Output nr %d. of the traced function does not match the corresponding output of the %s: %s"
                      % (i, what, told), TracerWarning, stacklevel=4)
        return False
    return True


def _aten(name):
    return _C.operator("aten::" + name)


def _check(function, traced, again, call, inputs, tolerance):
    """Holds the traced function against the one that it was made of, and against one that was traced again."""
    difference = _first_difference(traced.graph, again.graph)
    if difference:
        raise TracingCheckError(difference)
    check = _Call.__new__(_Call)
    check.inputs, check.keywords, check.names = inputs, call.keywords, call.names
    results = check.apply(traced, check.cloned())
    if _compare(results, check.apply(function, check.cloned()), "Python function", tolerance):
        _compare(results, check.apply(again, check.cloned()), "repeated trace", tolerance)


# ---- trace ----

def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5,
          strict=True, _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None):
    """The program of what `func`, a function or module, does with the example inputs.

    It runs once, and every operator that it calls is recorded; loops and branches of Python are in the program as
    they went, calls of scripted functions stay calls. With check_trace it is traced once more and run, and
    differences are told. With strict=False lists and dicts of tensors may be results. Named inputs are given as
    example_kwarg_inputs, a dict, in place of example_inputs. With _force_outplace operators that write to a tensor
    are recorded as those that give a new one.
    """
    from .. import nn
    if isinstance(func, ScriptFunction) or _recursive._is_compiled(func):
        warnings.warn("The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as "
                      "is.", stacklevel=2)
        return func
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("trace() needs example_inputs or example_kwarg_inputs")
    owner, style = getattr(func, "__self__", None), _Style(strict, _force_outplace)
    if isinstance(func, nn.Module) or isinstance(owner, nn.Module) and func.__name__ == "forward":
        module = func if isinstance(func, nn.Module) else owner
        call = _Call(module.forward, example_inputs, example_kwarg_inputs)
        checks = None if check_inputs is None else [_as_inputs(one) for one in check_inputs]
        return _trace_module(module, {"forward": call}, check_trace, {"forward": checks}, check_tolerance, style)
    call = _Call(func, example_inputs, example_kwarg_inputs)
    traced = _trace_function(func, call, style)
    if check_trace:
        for inputs in [call.inputs] if check_inputs is None else [_as_inputs(one) for one in check_inputs]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TracerWarning)
                again = _trace_function(func, _with_inputs(call, inputs, True), style)
            _check(func, traced, again, call, inputs, check_tolerance)
    return traced


def _with_inputs(call, inputs, cloned=False):
    made = _Call.__new__(_Call)
    made.inputs, made.keywords, made.names = inputs, call.keywords, call.names
    return _with_inputs(call, made.cloned()) if cloned else made


def _trace_module(module, calls, check_trace, check_inputs, tolerance, style):
    traced = _trace_methods(module, calls, style)
    if not check_trace:
        return traced
    for name, call in calls.items():
        function = module if name == "forward" else getattr(module, name)
        for inputs in check_inputs.get(name) or [call.inputs]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TracerWarning)
                again = _trace_methods(module, {name: _with_inputs(call, inputs, True)}, style)
            _check(function, getattr(traced, name), getattr(again, name), call, inputs, tolerance)
    return traced


def trace_module(mod, inputs, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True,
                 _force_outplace=False, _module_class=None, _compilation_unit=None, example_inputs_is_kwarg=False):
    """As trace, for several methods of a module: inputs maps their names to example inputs."""
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    calls = {}
    for name, given in inputs.items():
        function = getattr(mod, name)
        calls[name] = _Call(function, None, given) if example_inputs_is_kwarg else _Call(function, given, None)
    checks = {}
    for one in check_inputs or ():
        for name, given in one.items():
            checks.setdefault(name, []).append(_as_inputs(given))
    return _trace_module(mod, calls, check_trace, checks, check_tolerance, _Style(strict, _force_outplace))


def script_if_tracing(fn):
    """A function that is compiled when a trace comes to it, for its control flow to be kept."""
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        from . import _script
        return (_script.script(fn) if is_tracing() else fn)(*args, **kwargs)
    wrapper.__original_fn, wrapper.__script_if_tracing_wrapper = fn, True
    return wrapper


_script_if_tracing = script_if_tracing  # its name before


# ---- forks ----

class TracedFuture:
    """What a call that was forked while tracing gives."""

    def __init__(self, future, result):
        self._future, self._result = future, result

    def wait(self):
        """Its result."""
        return _C._trace_wait(self._future) if _C._trace_is_on() else self._result

    value = wait

    def done(self):
        """True: what is traced runs at once."""
        return True


def fork(function, args, kwargs):
    """A call as a fork of the trace that is on."""
    _C._trace_fork()
    result = function(*args, **kwargs)
    return TracedFuture(_C._trace_join(result), result)
