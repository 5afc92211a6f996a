"""One act of compiling: definitions of Python gathered as trees, and what the names in them stand for.

A `Builder` takes functions and classes and gives every free name of theirs to a `_C` resolver. Two definitions that
mean different things by one name get names of their own. Functions of Python that a program calls are compiled as
they are met, each as a program of its own; what must stand in the same program (overloads, a class that its functions
mention) is included in it.
"""

import ast
import builtins
import collections
import enum
import functools
import inspect
import types
import typing
import weakref

from . import _frontend, _later, _modifiers, _registry, _types

_MISSING = object()
_LANGUAGE_MODULES = ("math", "cmath", "warnings", "typing", "numbers")


class Scope:
    """The names that a function of Python sees beyond its own."""

    def __init__(self, function):
        function = inspect.unwrap(function)
        self.globals = function.__globals__
        self.closure = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                self.closure[name] = cell.cell_contents
            except ValueError:  # not bound yet
                pass
        code = function.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.locals |= set(constant.co_varnames) | set(constant.co_cellvars)

    def know_class(self, cls):
        """A class that is being decorated has no name in its module yet, but its methods mean it by one."""
        self.closure[cls.__name__] = cls

    def get(self, name):
        """The thing of that name, or _MISSING."""
        for names in (self.closure, self.globals, vars(builtins)):
            if name in names:
                return names[name]
        return _MISSING

    def evaluate(self, node):
        """The value of an expression outside of the function, for annotations and defaults."""
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<annotation>", "eval")
        return eval(code, dict(self.globals), dict(self.closure))  # noqa: S307, as Python did when it was defined


class ModuleScope(Scope):
    """The names of a class's body: those of its module."""

    def __init__(self, cls):
        import sys
        self.globals = vars(sys.modules.get(cls.__module__, builtins))
        self.closure, self.locals = {}, set()
        for member in vars(cls).values():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, types.FunctionType):
                self.closure.update(Scope(function).closure)
                self.globals = function.__globals__


def _language_path(module):
    """The dotted name of a module that the language has itself; None: it is an ordinary one."""
    name = getattr(module, "__name__", "")
    if name == "wick" or name.startswith("wick."):
        return "torch" + name[4:]
    if name == "torch" or name.startswith("torch."):
        return name
    return name if name in _LANGUAGE_MODULES else None


@functools.lru_cache(maxsize=None)
def language_has(path):
    """Whether the language itself knows a dotted name."""
    from .. import _C
    try:
        _C.compile_text("def probe():\n    %s\n" % path)
    except RuntimeError:
        return False
    return True


def _searched_modules():
    import sys
    names = ["wick", "wick.nn.functional", "wick.jit", "wick.special", "wick.linalg", "wick.fft", "wick.nn.init",
             "math", "cmath", "warnings", "torch", "torch.overrides", "torch.nn.functional", "torch.jit",
             "torch._C._nn", "torch._VF",
             "torch.special", "torch.linalg", "torch.fft"]
    return [sys.modules[name] for name in names if name in sys.modules]


def language_name(thing):
    """The dotted name by which the language knows a function; None: it does not."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", None)
    qualified = getattr(thing, "qualified_name", None)
    if isinstance(qualified, str) and "::" in qualified:
        return "torch.ops." + qualified.replace("::", ".")
    if isinstance(module, str) and isinstance(name, str):
        owner = module.split(".")[0]
        if owner in ("math", "cmath", "warnings"):
            return "%s.%s" % (owner if owner != "_warnings" else "warnings", name)
        if owner in ("wick", "torch") and getattr(thing, "__qualname__", name) == name:
            found = _public_name(thing, name)
            if found:
                return found
            return "torch" + module[len(owner):] + "." + name
    return _public_name(thing, name) if callable(thing) else None


def _public_names(thing, name):
    for searched in _searched_modules():
        if name is not None and vars(searched).get(name) is thing:
            yield "%s.%s" % (_language_path(searched), name)
    for searched in _searched_modules():
        for other, value in list(vars(searched).items()):
            if value is thing:
                yield "%s.%s" % (_language_path(searched), other)


def _public_name(thing, name):
    """The name of a thing in the modules that the language has as well; one that it knows where there are several."""
    first = None
    for found in _public_names(thing, name):
        if language_has(found):
            return found
        first = first or found
    return first


def is_module_class(cls):
    """Whether it derives from nn.Module, wick's or torch's."""
    return any(base.__name__ == "Module" and base.__module__ in ("wick.nn.modules.module", "torch.nn.modules.module")
               for base in cls.__mro__)


def is_exception(thing):
    """Whether it is a class of exceptions that programs raise by a name of their own."""
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def _attribute(thing, name):
    try:
        return getattr(thing, name)
    except (AttributeError, ImportError):
        return _MISSING


_in_progress = []  # functions and classes that are being compiled, the outermost first


class Builder:
    """A program that is being put together."""

    def __init__(self, owner=None):
        self.owner = owner  # the class that the program is of, or None
        self.statements = []
        self.things = {}  # name in the program -> what it stands for
        self.included = {}  # id of a thing -> its name in the program
        self.calls_python = None  # the name of a function that stays Python's
        self.refused = set()  # messages about what programs can't have
        self.unreadable = []  # (what stands in a method's place, the error of reading it)
        self.modules = {}  # "__torch__.Net" -> CompiledType of another program

    # ---- names ----

    def name_for(self, name, thing):
        """The name by which the program calls a thing that a definition calls `name`."""
        is_hidden = vars(builtins).get(name, thing) is not thing  # the language would take its own of that name
        made, count = "%s__1" % name if is_hidden else name, 1
        while self.things.setdefault(made, thing) is not thing:
            count += 1
            made = "%s__%d" % (name, count)
        if is_exception(thing) and vars(builtins).get(thing.__name__) is not thing:
            self._include_exception(made, thing)
        elif isinstance(thing, types.FunctionType) and _is_users(thing):
            if _registry.overloads_of(thing):
                self._include_overloads(made, thing)
            elif self.owner is not None and _mentions(thing, self.owner, set()):
                self._include_function(made, thing)
        return made

    def _include_function(self, name, function):
        if id(function) not in self.included:
            self.included[id(function)] = name
            self.statements.append(self.function_tree(function, name))

    def _include_exception(self, name, thing):
        if id(thing) not in self.included:
            self.included[id(thing)] = name
            self.statements.append(_frontend.class_definition(name, ["Exception"], []))

    def _include_overloads(self, name, function):
        if id(function) in self.included:
            return
        self.included[id(function)] = name
        for declared in _registry.overloads_of(function):
            self.statements.append(self.function_tree(declared, name, decorators=("_overload",)))
        self.statements.append(self.function_tree(function, name))

    def resolve(self, dotted):
        """What `_C.compile` asks: see there."""
        first, *rest = dotted.split(".")
        if first == "__torch__":
            return self._named_class(dotted)
        thing = self.things.get(first, _MISSING)
        if thing is _MISSING:
            return None
        path, name = None, first
        for part in rest:
            path = _language_path(thing) if isinstance(thing, types.ModuleType) else path
            path = path and path + "." + part
            name, thing = part, _attribute(thing, part)
        if isinstance(thing, types.ModuleType):
            return ("namespace",)
        if path is not None and (thing is _MISSING or language_has(path)):
            return ("alias", path)
        return None if thing is _MISSING else self.answer(thing, name)

    def _named_class(self, dotted):
        compiled = self.modules.get(dotted)
        if compiled is not None:
            return ("class", compiled.program, compiled.name)
        cls = _registry.python_classes.get(dotted)
        entry = None if cls is None else _registry.classes.get(cls)
        if entry is None:
            known = list(_registry.python_classes) + list(self.modules)
            return ("namespace",) if any(n.startswith(dotted + ".") for n in known) else None
        return ("class", entry.program, entry.name) if entry.program is not None else ("alias", entry.name)

    def answer(self, thing, name):
        """The answer of the resolver for a thing of Python."""
        known = self.included.get(id(thing))
        if known is not None:
            return ("alias", known)
        if isinstance(thing, types.ModuleType):
            return ("namespace",)
        if isinstance(thing, _Default):
            return ("value", thing.value)
        if thing is None or isinstance(thing, (bool, int, float, complex, str, enum.Enum)) or _is_setting(thing):
            return ("value", thing)
        if isinstance(thing, (tuple, list)):
            return ("value", thing) if _is_constant(thing) else None
        if isinstance(thing, _later.ScriptFunction):
            return ("function", thing.program, thing.name)
        if not inspect.isclass(thing) and getattr(type(thing), "_is_compiled", None) is not None:
            return ("value", thing)
        if inspect.isclass(thing):
            return ("namespace",) if is_module_class(thing) else self._answer_class(thing)
        path = language_name(thing) if callable(thing) else None
        if path and not _is_users(thing) and (language_has(path) or not isinstance(thing, types.FunctionType)):
            return ("alias", path)
        if isinstance(thing, types.FunctionType):
            scripted = _later.compiled_function(thing)
            self.calls_python = self.calls_python or _registry.python_users.get(scripted.program)
            return ("function", scripted.program, scripted.name)
        if not inspect.isclass(thing) and hasattr(thing, "_parameters") and hasattr(thing, "_modules"):
            program = _program_of_free_module(thing)
            self.calls_python = self.calls_python or name
            return ("function", program, "forward")
        if isinstance(thing, functools.partial) or callable(thing):
            return None
        from .. import Tensor
        return ("value", thing) if isinstance(thing, Tensor) else None

    def _answer_class(self, thing):
        if vars(builtins).get(thing.__name__) is thing or thing.__module__ in _LANGUAGE_MODULES:
            return None
        if thing is collections.OrderedDict:
            return ("alias", "dict")  # a program's dict keeps its order
        path = _public_name(thing, thing.__name__)
        if path and not _is_users(thing):
            return ("alias", path)
        entry = _later.class_entry(thing)
        return ("class", entry.program, entry.name) if entry.program is not None else ("alias", entry.name)

    # ---- definitions ----

    def translator(self, source, scope, attribute=None):
        """A Translator whose free names go through this program."""
        return _ProgramTranslator(source, self, scope, attribute)

    def function_tree(self, function, name=None, decorators=(), attribute=None, self_name=None):
        """The TK_DEF of a function of Python, with its source; its free names are known to the resolver."""
        plain = inspect.unwrap(getattr(function, "__func__", function))
        source, node = _frontend.parsed(plain)
        if attribute is not None and isinstance(node, ast.FunctionDef) and not (
                node.args.args or node.args.posonlyargs or node.args.vararg):
            raise ValueError("invalid method signature")
        if plain.__name__ == "<lambda>":
            raise _frontend.FrontendError("Lambda aren't supported: %s can't be compiled" % plain.__qualname__)
        if not isinstance(node, ast.FunctionDef):
            raise _frontend.FrontendError("%s is no function that a def statement made: it can't be compiled"
                                          % getattr(function, "__qualname__", function))
        scope = Scope(plain)
        if self.owner is not None and plain.__qualname__ == "%s.%s" % (self.owner.__qualname__, plain.__name__):
            scope.know_class(self.owner)
        translator = self.translator(source, scope, attribute)
        _put_defaults(node, plain, self, translator)
        modifier = _modifiers.modifier_of(function)
        if modifier == _modifiers.UNUSED:
            text = "This Python function is annotated to be ignored and cannot be run: " + plain.__qualname__
            error = _frontend.apply(_frontend.var("RuntimeError"), [_frontend.string(text)])
            body = [("TK_RAISE", (error,), 0, 0)]
            tree = translator.function(node, name, body=body)
        elif modifier == _modifiers.IGNORE:
            tree = translator.function(node, name, body=foreign_body(plain, node, scope, translator))
        else:
            tree = translator.function(node, name)
        kind, children, begin, end = tree
        if decorators:
            children += (_frontend.items([_frontend.var(d) for d in decorators]),)
        return (kind, children, begin, end, source)

    def method_on_demand(self, function, name, attribute):
        """The tree of a method that is compiled where another calls it. What can't be read is an error there."""
        try:
            return self.function_tree(function, name, ("_on_demand",), attribute)
        except _frontend.FrontendError as error:
            what = "method '%s' (%d)" % (name, len(self.unreadable))
            self.unreadable.append((what, error))
            body = [("TK_UNSUPPORTED", what, 0, 0)]
            return _frontend.definition(name, [("self", None)], None, body, ("_on_demand",))

    def text_trees(self, text, names):
        """The trees of the definitions that a text of TorchScript has; its free names are those of `names`."""
        self.things.update(names)
        source = _frontend.text_source(text, "<define>")
        translator = _frontend.Translator(source)
        return [translator.function(node) + (source,) for node in source.parse_all()]

    def compile(self):
        """The `_C.Program` of what was added."""
        from .. import _C
        try:
            program = _C.compile(_frontend.items(self.statements), self.resolve)
        except RuntimeError as error:
            for what, unreadable in self.unreadable:
                if what in str(error):
                    raise unreadable from None
            kind = _frontend.kind_of_refusal(str(error), self.refused)
            if kind is not None:
                raise kind(str(error)) from None
            raise
        calls_python = self.calls_python or next(
            (name.split("_", 2)[-1] for name, _, _ in program.operators() if name.startswith("wick_python::")), None)
        if calls_python is not None:
            _registry.python_users[program] = calls_python
        return program


def _mentions(function, cls, seen):
    """Whether a function, or one that it calls, names the class: they are compiled as one program then."""
    if function in seen or function in _registry.functions:
        return False
    seen.add(function)
    try:
        _, node = _frontend.parsed(inspect.unwrap(function))
    except _frontend.FrontendError:
        return False
    scope = Scope(function)
    for inner in ast.walk(node):
        name = inner.id if isinstance(inner, ast.Name) else getattr(inner, "value", None)
        thing = scope.get(name) if isinstance(name, str) else _MISSING
        if thing is cls:
            return True
        if isinstance(thing, types.FunctionType) and _is_users(thing) and _mentions(thing, cls, seen):
            return True
    return False


def _is_users(thing):
    """Whether it is neither wick's nor torch's own."""
    return (getattr(thing, "__module__", None) or "").split(".")[0] not in ("wick", "torch")


def _is_setting(thing):
    from .. import _C
    return isinstance(thing, (_C.dtype, _C.layout, _C.memory_format, _C.device))


def _is_constant(thing):
    if isinstance(thing, (tuple, list)):
        return all(_is_constant(item) for item in thing)
    return thing is None or isinstance(thing, (bool, int, float, complex, str, enum.Enum)) or _is_setting(thing)


class _ProgramTranslator(_frontend.Translator):
    """A Translator that tells its Builder of free names, and takes types for what they are in Python."""

    def __init__(self, source, builder, scope, attribute):
        super().__init__(source, attribute=attribute)
        self.builder, self.scope = builder, scope

    def unsupported(self, node, what, word=" "):
        """What is an error if it is compiled, which its Builder is told."""
        self.builder.refused.add(what)
        return super().unsupported(node, what, word)

    def annotation(self, node):
        """The tree of the type that an annotation means."""
        begin, end = self.place(node)
        text = self.annotation_text(node)
        if text is None:
            return self.tree_of(node)
        return _types.tree_of_text(text, begin, end)

    def annotation_text(self, node):
        """The text of the type, or None where it has to be read as it stands."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return None
        if "BroadcastingList" in ast.dump(node):
            return None
        try:
            kind = self.scope.evaluate(node)
        except Exception:  # noqa: BLE001, a name that only the language knows; it says what is wrong
            return None
        if isinstance(kind, str):
            return self.annotation_text(ast.Constant(kind))
        try:
            return _types.type_text(_evaluated(kind, self.scope))
        except _types.TypeUnknown:
            return None

    def _Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id not in self.scope.locals:
            thing = self.scope.get(node.value.id)
            member = inspect.getattr_static(thing, node.attr, None) if inspect.isclass(thing) else None
            if isinstance(member, staticmethod) and is_module_class(thing):  # the class has it in Python only
                name = self.builder.name_for(node.attr, member.__func__)
                return self.make("TK_VAR", node, self.text("TK_IDENT", node, name))
        return super()._Attribute(node)

    def _Name(self, node):
        name = node.id
        if name not in self.scope.locals:
            thing = self.scope.get(name)
            if thing is not _MISSING and vars(builtins).get(name, _MISSING) is not thing:
                name = self.builder.name_for(name, thing)
        return self.make("TK_VAR", node, self.text("TK_IDENT", node, name))


def _evaluated(kind, scope):
    """A type in whose arguments strings are types as well: List["Foo"]."""
    args = typing.get_args(kind)
    if isinstance(kind, typing.ForwardRef):
        return _evaluated(scope.evaluate(ast.parse(kind.__forward_arg__, mode="eval").body), scope)
    if not args or not any(isinstance(a, typing.ForwardRef) or typing.get_args(a) for a in args):
        return kind
    made = tuple(_evaluated(a, scope) if isinstance(a, typing.ForwardRef) or typing.get_args(a) else a for a in args)
    if made == args:
        return kind
    origin = typing.get_origin(kind)
    if origin is typing.Union:
        return typing.Union[made]
    if hasattr(kind, "copy_with"):
        return kind.copy_with(made)
    return origin[made]


class _Default:
    """The default value of a parameter, as a name of its own has it."""

    def __init__(self, value):
        self.value = value


def _put_defaults(node, function, builder, translator):
    """Defaults as they are: the expressions that made them may be anything."""
    def put(argument, default, value):
        if _is_mutable(value):
            raise _frontend.FrontendError(translator.message(
                node, "Mutable default parameters are not supported because Python binds them to the function and "
                "they persist across function calls.\n As a workaround, make the default None and instantiate the "
                "default parameter within the body of the function. Found %s on parameter %s"
                % (type(value), argument.arg)))
        if isinstance(default, ast.Constant):
            return default
        if type(value) in (int, float, bool, str, type(None)) and value == value and value not in (_INF, -_INF):
            made = ast.Constant(value)
            if type(value) in (int, float) and value < 0:
                made = ast.UnaryOp(ast.USub(), ast.copy_location(ast.Constant(-value), default))
            return ast.copy_location(made, default)
        if _holds_tensors(value):
            name = "__default_%d_%s" % (len(builder.things), argument.arg)
            builder.things[name] = _Default(value)
            return ast.copy_location(ast.Name(name, ast.Load()), default)
        return default
    arguments = node.args
    values = function.__defaults__ or ()
    if len(values) == len(arguments.defaults):
        parameters = arguments.args[len(arguments.args) - len(values):]
        arguments.defaults = list(map(put, parameters, arguments.defaults, values))
    words = function.__kwdefaults__ or {}
    for i, (argument, default) in enumerate(zip(arguments.kwonlyargs, arguments.kw_defaults)):
        if default is not None and argument.arg in words:
            arguments.kw_defaults[i] = put(argument, default, words[argument.arg])


_INF = float("inf")


def _is_mutable(value):
    return isinstance(value, (list, dict)) or type(value) is tuple and any(map(_is_mutable, value))


def _holds_tensors(value):
    from .. import Tensor
    return isinstance(value, Tensor) or type(value) is tuple and any(map(_holds_tensors, value))


# ---- functions that stay Python's ----

_foreign = {}  # id of a function -> (function, name of its operator, types of its parameters, type of its result)


def _schema_type(text):
    """A type's text as schemas have it; Any where they have none."""
    simple = {"Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str", "complex": "complex",
              "Device": "Device", "None": "()"}
    if text in simple:
        return simple[text]
    for head, form in (("List[", "%s[]"), ("Optional[", "%s?")):
        if text.startswith(head):
            inner = _schema_type(text[len(head):-1])
            return "Any" if inner in ("Any", "()") else form % inner
    return "Any"


def foreign_body(function, node, scope, translator):
    """The body of a def that calls the function in Python."""
    names = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
    if node.args.vararg or node.args.kwarg:
        raise _frontend.FrontendError(translator.message(
            node, "a function that is ignored can't take any number of arguments"))
    result = "Tensor"
    if node.returns is not None:
        result = translator.annotation_text(node.returns) or "Any"
    known = _foreign.get(id(function))
    if known is None:
        kinds = []
        for argument in node.args.args + node.args.kwonlyargs:
            text = "Tensor" if argument.annotation is None else translator.annotation_text(argument.annotation)
            is_self = argument is node.args.args[0] and argument.annotation is None and argument.arg == "self"
            kinds.append("Any" if is_self or text is None else _schema_type(text))
        known = _register(function, kinds, _schema_type(result))
        _foreign[id(function)] = known
    call = _frontend.apply(_frontend.var("torch.ops." + known[1].replace("::", ".")),
                           [_frontend.var(name) for name in names])
    if result == "None":
        return [("TK_EXPR_STMT", (call,), 0, 0)]
    if _schema_type(result) != "Any" or result == "Any":
        return [("TK_RETURN", (call,), 0, 0)]
    value = _frontend.var("result_of_python")
    check = _frontend.apply(_frontend.var("isinstance"), [value, _types.tree_of_text(result)])
    return [_frontend.assign("result_of_python", call), ("TK_ASSERT", (check, _frontend.NOTHING), 0, 0),
            ("TK_RETURN", (value,), 0, 0)]


_free_modules = weakref.WeakKeyDictionary()  # a module of Python -> the program that calls it


def _program_of_free_module(module):
    """What calls, in Python, a module that a program names and that is no part of it."""
    program = _free_modules.get(module)
    if program is None:
        called = weakref.ref(module)

        def call(*args):
            return called()(*args)
        forward = type(module).forward
        source, node = _frontend.parsed(forward)
        node.args.args = node.args.args[1:]
        builder, scope = Builder(), Scope(forward)
        translator = builder.translator(source, scope)
        _put_defaults(node, forward, builder, translator)
        body = foreign_body(call, node, scope, translator)
        builder.statements.append(translator.function(node, "forward", body=body) + (source,))
        program = _free_modules[module] = builder.compile()
    return program


def _register(function, kinds, result):
    from .. import _C
    name = "wick_python::f%d_%s" % (len(_foreign), "".join(c if c.isalnum() else "_" for c in function.__name__))
    parameters = ", ".join("%s a%d" % (kind, i) for i, kind in enumerate(kinds))
    _C.register_operator("%s(%s) -> %s" % (name, parameters, result), function, result != "()")
    return function, name
