"""script(): functions, classes and modules compiled; ScriptFunction, which stands for a function."""

import functools
import inspect
import io
import os
import tempfile
import types

from .. import _C
from . import _classes, _later, _modifiers, _program, _registry, _state

GRAPH, PLACES, CODE, BYTECODE, PLANS = range(5)


class ScriptFunction(_C.Method):
    """A compiled function: called as the function of Python that it was made of, or a module's method."""

    def __init__(self, program, name, function=None):
        self.program = program
        if function is not None:
            functools.update_wrapper(self, function, assigned=("__module__", "__qualname__", "__doc__"), updated=())

    @property
    def graph(self):
        """As it was compiled: one object, which passes may change; the function runs as it was compiled."""
        graph = self.__dict__.get("_graph")
        if graph is None:
            graph = self._graph = self._named(self.program.graph(self.name))
        return graph

    @property
    def inlined_graph(self):
        """With the functions that it calls in their places."""
        return self._named(self.program.graph(self.name, True))

    def _named(self, graph):
        """A graph of a module that was compiled here: its object is `self`, as no variable of the program is."""
        if self.program.class_name in _later.module_kinds:
            first = next(graph.inputs())
            if first.debugName() == "self.1":
                first.set_name("self")
        return graph

    @property
    def code(self):
        """As the text of Python that archives have."""
        return self.print(CODE)

    @property
    def code_with_constants(self):
        """The code, and the constants that it names CONSTANTS.c0, c1..."""
        return self.code, ConstMap(self)

    @property
    def schema(self):
        """Its name, parameters and results: a FunctionSchema, whose text str() gives."""
        from ._function_schema import FunctionSchema
        head, bracket, rest = super().schema.partition("(")
        return FunctionSchema(head.rpartition(".")[2] + bracket + rest)

    def python_function(self):
        """The function of Python that it was made of, or None."""
        if hasattr(self, "__wrapped__"):
            return self.__wrapped__
        kind = _later.module_kinds.get(self.program.class_name)
        member = getattr(kind.python_class, self.name, None) if kind is not None else None
        return member if inspect.isfunction(member) else None

    def graph_for(self, *args, **kwargs):
        """The graphs that run for such arguments, the newest plan first."""
        for _ in range(3):
            self(*args, **kwargs)
            _C.wait_for_plans()
        return self.print(PLANS)

    def last_graph(self):
        """The graph that calls run in: of the newest plan, or with calls inlined where there is none."""
        _C.wait_for_plans()
        plan = self.plan_graph()
        return self.inlined_graph if plan is None else plan

    def get_debug_state(self):
        """What its executor has made: graph, execution_plans, fallback."""
        return _later.ExecutorState(self)

    def save(self, f, _extra_files=None):
        """To a file by its name, or to one that is open for bytes."""
        save_program(self.program, f, _extra_files, self.name)

    def save_to_buffer(self, _extra_files=None):
        """What save writes, as bytes."""
        buffer = io.BytesIO()
        self.save(buffer, _extra_files)
        return buffer.getvalue()

    def __repr__(self):
        return "<wick.jit.ScriptFunction %s>" % self.name


class ConstMap:
    """The tensors that a function's code names as constants."""

    def __init__(self, function):
        values = [node.output().toIValue() for node in function.graph.findAllNodes("prim::Constant")]
        self._tensors = [value for value in values if isinstance(value, _C.Tensor)]

    def __getitem__(self, name):
        return self._tensors[int(name[1:])]

    def __getattr__(self, name):
        if name[:1] != "c" or not name[1:].isdigit():
            raise AttributeError(name)
        return self[name]


def save_program(program, f, extra_files, entry=None):
    if hasattr(f, "write") or extra_files and not hasattr(program, "set_extra_file"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "archive.pt")
            save_program(program, path, extra_files, entry)
            with open(path, "rb") as file:
                f.write(file.read())
        return
    foreign = _registry.python_users.get(program) or next(
        (name.split("_", 2)[-1] for name, _, _ in program.operators() if name.startswith("wick_python::")), None)
    if foreign is not None:
        raise RuntimeError("Could not export Python function call '%s'. Remove calls to Python functions before "
                           "export." % foreign)
    for name, data in (extra_files or {}).items():
        program.set_extra_file(name, data.encode() if isinstance(data, str) else bytes(data))
    program.save(f, entry)


def _wrap(kind, *parts):
    """What `_C.set_wrap` is given."""
    if kind == "module":
        return _later.wrap_module(*parts)
    if kind in ("arguments", "refused"):
        from . import _arguments
        return (_arguments.call if kind == "arguments" else _arguments.refuse)(*parts)
    if kind == "autocast":
        from ..amp import programs
        return programs.call(*parts[:3])
    if kind == "native":
        return _later.NativeObject(*parts)
    if kind == "future":
        from ..futures import Future
        return Future(_kept=parts[0])
    if kind == "enum class":
        return _classes.class_entry(*parts)
    return _classes.wrap_parts(kind, *parts)


_C.set_wrap(_wrap)


# ---- script ----

def compiled_function(function):
    """The ScriptFunction of a function of Python, made once."""
    function = getattr(function, "__func__", function)
    try:
        known = _registry.functions.get(function)
    except TypeError:
        known = None
    if known is not None:
        return known
    if function in _program._in_progress:
        raise RuntimeError("function '%s' is called recursively. Recursive calls are not supported"
                           % function.__name__)
    _program._in_progress.append(function)
    try:
        builder = _program.Builder()
        name = _registry.function_name(function)
        builder.statements.append(builder.function_tree(function, name))
        made = ScriptFunction(builder.compile(), name, function)
        if _state.inline_everything:
            made._graph = made.inlined_graph
    except RuntimeError as error:
        raise _told(error, function) from None
    finally:
        _program._in_progress.pop()
    _registry.functions[function] = made
    if _state.emit_hooks[1] is not None:
        _state.emit_hooks[1](made)
    return made


def _told(error, function):
    """An error with the place where the function that failed was called from."""
    place = getattr(error, "_script_place", None)
    if place:
        lines = place.splitlines()
        lines[0] = "'%s' is being compiled since it was called from '%s'" % (
            getattr(error, "_script_name", "it"), function.__name__)
        error.args = ("\n".join([str(error).rstrip()] + lines),) + error.args[1:]
        error._script_place = None
    if hasattr(error, "__dict__"):
        error._script_name = function.__name__
    return error


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Compiles a function, a class or a module.

    Of a function: a ScriptFunction. Of a class: the class, whose objects compiled code makes and takes from then on.
    Of a module: a RecursiveScriptModule with the same tensors; forward is compiled, what is marked `export`, and what
    they call. Fails with RuntimeError, which shows the place in the source.
    """
    if not _state._enabled:
        return obj
    is_compiled = not inspect.isclass(obj) and getattr(obj, "_script_handle", None) is not None
    if is_compiled or isinstance(obj, ScriptFunction):
        return obj
    if not inspect.isclass(obj) and hasattr(obj, "_parameters") and hasattr(obj, "_modules"):
        return _later.compile_module(_later.prepare_module(obj))
    if not inspect.isclass(obj) and _program.is_module_class(type(obj)):
        raise RuntimeError("'%s.%s' has not been initialized, did you forget to call 'super()'?" % (
            type(obj).__module__, type(obj).__qualname__))
    if isinstance(obj, (dict, list)):
        from ._containers import script_container
        return script_container(obj)
    if inspect.isclass(obj):
        if _program.is_module_class(obj):
            raise RuntimeError("Type '%s' cannot be compiled since it inherits from nn.Module, pass an instance "
                               "instead" % obj)
        _classes.class_entry(obj)
        return obj
    if isinstance(obj, types.MethodType) or inspect.isfunction(obj) or hasattr(obj, "__wrapped__"):
        return compiled_function(obj)
    if callable(obj) and hasattr(type(obj), "__call__") and isinstance(type(obj).__call__, types.FunctionType):
        return compiled_function(type(obj).__call__)
    raise RuntimeError("%r can't be compiled: it is no function, class or module" % (obj,))


def interface(cls):
    """Compiles an interface: what modules or objects have in common."""
    _modifiers.interface(cls)
    _classes.class_entry(cls)
    return cls


def names_above(count):
    """The names that the frame sees which is so many above the caller's."""
    frame = inspect.currentframe().f_back
    for _ in range(count):
        frame = frame.f_back
    return {**frame.f_globals, **frame.f_locals}


class CompilationUnit:
    """The functions of a text of TorchScript, as attributes."""

    def __init__(self, lang=None, _frames_up=0):
        self._program, self._added = None, {}
        if lang is not None:
            self._define(lang, names_above(_frames_up + 1))

    def define(self, lang, rcb=None, _frames_up=0):
        """Adds the functions and classes of a text, which sees the caller's names, or those so many frames above."""
        return self._define(lang, names_above(_frames_up + 1))

    def _define(self, lang, names):
        import textwrap
        builder = _program.Builder()
        builder.things.update(names)
        self._program = _C.compile_text(textwrap.dedent(lang), "<string>", builder.resolve, self._program)
        return self

    def create_function(self, qualified_name, graph, shouldMangle=False):
        """Adds a function that does what a graph does; with shouldMangle under another name where that is taken."""
        name, count = qualified_name, 0
        while self.find_function(name) is not None:
            if not shouldMangle:
                raise RuntimeError("method '%s' already defined." % qualified_name)
            name = _registry.mangled(qualified_name, count)
            count += 1
        made = self._added[name] = ScriptFunction(graph.compile(qualified_name), qualified_name)
        return made

    def find_function(self, name):
        """A function by its name; None: there is none."""
        if name in self._added:
            return self._added[name]
        if self._program is None or name not in self._program.names():
            return None
        return ScriptFunction(self._program, name)

    def get_functions(self):
        """All its functions."""
        names = [] if self._program is None else self._program.names()
        return [ScriptFunction(self._program, name) for name in names] + list(self._added.values())

    def set_optimized(self, enabled):
        """Nothing to do: how programs run is no matter of one unit."""

    def __getattr__(self, name):
        found = None if name.startswith("__") else self.find_function(name)
        if found is None:
            raise AttributeError("'CompilationUnit' has no attribute '%s'" % name)
        return found
