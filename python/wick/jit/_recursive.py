"""Modules of Python as modules of programs: what their classes become, whose instances share one, and the objects.

A `ModuleType` says all that compiling depends on: the class, names and types of attributes, constants, submodules'
types, hooks. Modules whose ModuleTypes are equal have one class in programs. The classes of a module and of all it
holds are compiled as one program, with the methods that are called: forward, what is exported, and what compiled
methods name.
"""

import ast
import copy
import functools
import inspect
import re
import types

from .. import _C
from . import _from_torch, _frontend, _later, _modifiers, _program, _registry, _types
from . import _hooks as _hooks_of
from ._script import ScriptFunction

PARAMETER, BUFFER, ATTRIBUTE = "parameter", "buffer", "attribute"

kinds = {}  # "__torch__.Net" -> ModuleType


class CompiledType:
    """The class `name` of `program`, with the methods that are there whoever calls them."""

    def __init__(self, program, name, methods):
        self.program, self.name, self.methods = program, name, methods


class ModuleType:
    """What the class of a module in programs depends on."""

    def __init__(self, module):
        self.python_class = type(module)
        self.attributes = {}  # name -> (kind, text of the type)
        self.constants = {}  # name -> value
        self.functions = {}  # name -> function of Python that is called as an attribute
        self.modules = {}  # name -> ModuleType, or the text of an interface's type
        self.failed = {}  # name -> its class in Python, and why it is no attribute in programs
        self.hooks = ((), ())  # functions before and after forward
        self.compiled = None
        self.name_key = self  # of its name in programs
        self.defined = vars(module).get("_defined", ())  # (text, names) of methods that it alone has
        self.tag = object() if self.defined else None
        self._read(module)

    def key(self):
        """Equal for types that are the same."""
        return (self.python_class, tuple(self.attributes.items()),
                tuple((name, repr(value), type(value)) for name, value in self.constants.items()),
                tuple((name, id(function)) for name, function in self.functions.items()),
                tuple((name, inner if isinstance(inner, str) else id(inner)) for name, inner in self.modules.items()),
                tuple(tuple(map(id, hooks)) for hooks in self.hooks), self.tag, _C.torch_version())

    # ---- reading a module ----

    def _read(self, module):
        annotations = _annotations(self.python_class)
        ignored = set(getattr(module, "__jit_ignored_attributes__", ()) or ())
        self._read_parameters(module, annotations)
        self._read_modules(module, annotations)
        self._read_constants(module, annotations)
        for name in _names(module):
            if name in ignored or name in self.attributes or name in self.constants or name in self.modules \
                    or name in _RESERVED or name.startswith("__"):
                continue
            if isinstance(inspect.getattr_static(type(module), name, None), property):
                continue
            self._read_attribute(module, name, annotations)
        self.attributes.setdefault("training", (ATTRIBUTE, "bool"))
        self.hooks = (_hooks(module, "_forward_pre_hooks"), _hooks(module, "_forward_hooks"))

    def _read_parameters(self, module, annotations):
        for table, kind in ((module._parameters, PARAMETER), (module._buffers, BUFFER)):
            for name, value in table.items():
                text = _annotation_text(annotations, name, self.python_class)
                if value is None:
                    self.attributes[name] = (ATTRIBUTE, text or "None")
                elif text is not None and text.startswith("Optional["):
                    self.attributes[name] = (kind, text)
                else:
                    self.attributes[name] = (kind, "Tensor")

    def _read_modules(self, module, annotations):
        for name, inner in module._modules.items():
            text = _annotation_text(annotations, name, self.python_class)
            if inner is None:
                self.attributes[name] = (ATTRIBUTE, text or "None")
            elif text is not None and _is_interface(text):
                self.modules[name] = text
            else:
                self.modules[name] = module_type(inner)

    def _read_constants(self, module, annotations):
        listed = set(getattr(module, "__constants__", ()) or ())
        names = [name for name in list(annotations) + sorted(listed)
                 if name in listed or _is_final(annotations, name)]
        for name in dict.fromkeys(names):
            if name in self.attributes or name in self.modules:
                if name in listed and name in self.modules:
                    continue
                continue
            value = getattr(module, name, _MISSING)
            if value is _MISSING:
                continue
            if _frontend.literal(_plain(value)) is not None:
                self.constants[name] = _plain(value)

    def _read_attribute(self, module, name, annotations):
        value = inspect.getattr_static(module, name, _MISSING)
        if isinstance(value, (staticmethod, classmethod)):
            value = getattr(module, name)
        elif value is _MISSING or isinstance(value, types.FunctionType) and name not in vars(module):
            return  # a method
        elif name in vars(module):
            value = vars(module)[name]
        else:
            value = getattr(module, name, _MISSING)
        if isinstance(value, _modifiers.Attribute):
            self.attributes[name] = (ATTRIBUTE, _types.type_text(value.type))
            return
        if _is_function(value):
            self.functions[name] = value
            return
        text = _annotation_text(annotations, name, self.python_class)
        try:
            self.attributes[name] = (ATTRIBUTE, text or _types.value_type_text(value))
        except (_types.TypeUnknown, RuntimeError) as error:
            self.failed[name] = type(value).__name__, "%s." % str(error).rstrip(".")

    # ---- what is asked ----

    def all(self):
        """This type and those of what it holds, the innermost first, each once."""
        found, seen = [], set()

        def walk(one):
            if id(one) in seen:
                return
            seen.add(id(one))
            for inner in one.modules.values():
                if not isinstance(inner, str):
                    walk(inner)
            found.append(one)
        walk(self)
        return found


_MISSING = object()
# What every module has of Module itself.
_RESERVED = {
    "dump_patches", "call_super_init", "forward", "T_destination", "_version", "_parameters", "_buffers", "_modules",
    "_non_persistent_buffers_set", "_backward_hooks", "_backward_pre_hooks", "_is_full_backward_hook",
    "_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
    "_forward_hooks_always_called",
    "_compiled_call_impl", "_script_handle", "_script_methods", "_defined", "_depth", "_abc_impl"}


def _names(module):
    names = list(vars(module))
    for cls in type(module).__mro__:
        if cls.__name__ in ("Module", "ScriptModule") and cls.__module__.split(".")[0] in ("wick", "torch"):
            break
        names += [name for name in vars(cls) if name not in names]
    return names


def _plain(value):
    if isinstance(value, (_C.dtype, _C.layout, _C.memory_format)):
        return _setting_number(value)
    return value


def _setting_number(value):
    program = _C.compile_text("def f(x: int) -> int:\n    return x\n")
    return program.function("f")(value)


def _annotations(cls):
    found = {}
    for base in reversed(cls.__mro__):
        for name, kind in vars(base).get("__annotations__", {}).items():
            found[name] = (kind, base)
    return found


def _annotation(annotations, name):
    kind, base = annotations[name]
    scope = _program.ModuleScope(base)
    if isinstance(kind, str):
        kind = scope.evaluate(ast.parse(kind, mode="eval").body)
    return _program._evaluated(kind, scope)


def _annotation_text(annotations, name, cls):
    if name not in annotations:
        return None
    try:
        return _types.type_text(_annotation(annotations, name))
    except Exception:  # noqa: BLE001, annotations may be for people alone
        return None


def _is_final(annotations, name):
    if name not in annotations:
        return False
    kind = annotations[name][0]
    if isinstance(kind, str):
        return kind.split("[")[0].rpartition(".")[2] == "Final"
    import typing
    return kind is typing.Final or typing.get_origin(kind) is typing.Final


def _is_interface(text):
    cls = _registry.python_classes.get(text)
    return cls is not None and _registry.classes[cls].kind == "interface"


def _is_function(value):
    if isinstance(value, types.FunctionType) or isinstance(value, types.BuiltinFunctionType):
        return True
    return isinstance(value, ScriptFunction) or isinstance(getattr(value, "qualified_name", None), str)


def _hooks(module, table):
    return tuple(getattr(module, table, {}).values())


def _is_compiled(module):
    return "_script_handle" in vars(module)


_known = {}  # key -> ModuleType


def module_type(module):
    """The ModuleType of a module: the same one for modules of the same type."""
    if _is_compiled(module):
        made = ModuleType.__new__(ModuleType)
        made.python_class, made.attributes, made.constants, made.functions = type(module), {}, {}, {}
        made.modules, made.failed, made.hooks, made.defined = {}, {}, ((), ()), ()
        program = module._script_handle
        made.compiled = CompiledType(program, program.class_name[len("__torch__."):], set(program.names()))
        made.tag = program.class_identity  # archives have classes of the same name
    else:
        made = ModuleType(module)
    return _known.setdefault(made.key(), made)


# ---- methods ----

def _members(cls):
    """Name -> member of what a user's classes define, the nearest first."""
    found = {}
    for owner in cls.__mro__:
        if owner is object or _is_base(owner):
            continue
        in_container = owner.__module__.endswith(".container") and owner.__module__.split(".")[0] in ("wick", "torch")
        for name, member in vars(owner).items():
            if name not in found and (not in_container or name == "forward"):
                found[name] = member
    found.update(_script_methods(cls))
    return found


def _script_methods(cls):
    """The functions marked `script_method` of a class that is derived from ScriptModule by hand; else none."""
    return getattr(cls, "_script_methods", {})


def _is_by_hand(cls):
    return any(base.__name__ == "ScriptModule" and _is_base(base) for base in cls.__mro__)


def _is_base(cls):
    """Whether it is what every module derives from: Module, its own bases among them, or ScriptModule."""
    if cls.__module__.startswith("wick.nn.modules.module_"):
        return True
    return cls.__name__ in ("Module", "ScriptModule") and cls.__module__.split(".")[0] in ("wick", "torch")


class _Methods:
    """The functions of a module's class that are compiled, by name; found through what compiled functions name."""

    def __init__(self, kind, module, members):
        self.kind, self.module, self.members = kind, module, members
        self.functions = {}
        self.properties = {}
        self.wanted = set()  # names of functions that are compiled whoever calls them

    def method(self, name):
        """The function of Python of that name, or None: it is none of a user's class, or never compiled."""
        own = vars(self.module).get(name)
        member = own.__func__ if isinstance(own, types.MethodType) else self.members.get(name)
        is_reserved = name == "__init__" or name in _RESERVED and name != "forward"
        if is_reserved or not isinstance(member, types.FunctionType):
            return None
        return member

    def entries(self, is_traced):
        """The names that are compiled whoever calls them; a trace makes forward itself."""
        if _is_by_hand(self.kind.python_class):
            return [name for name in _script_methods(self.kind.python_class) if name != "forward" or not is_traced]
        names = []
        for name in self.members:
            member = self.method(name)
            if member is None:
                continue
            modifier = _modifiers.modifier_of(member)
            is_forward = (name == "forward" and not is_traced
                          and modifier not in (_modifiers.IGNORE, _modifiers.UNUSED))
            if is_forward or modifier == _modifiers.EXPORT:
                names.append(name)
        return names

    def find_properties(self):
        """The properties that are compiled."""
        if _is_by_hand(self.kind.python_class):
            return
        unused = set(getattr(self.kind.python_class, "__jit_unused_properties__", ()) or ())
        for name, member in self.members.items():
            if not isinstance(member, property) or name in unused or member.fget is None:
                continue
            if _modifiers.modifier_of(member.fget) not in (_modifiers.IGNORE, _modifiers.UNUSED):
                self.properties[name] = member


@functools.lru_cache(maxsize=1024)
def _called_names(function):
    """The names of attributes that a function's source uses."""
    try:
        _, node = _frontend.parsed(inspect.unwrap(function))
    except _frontend.FrontendError:
        return frozenset()
    return frozenset(_attributes_in(node))


_MAGIC = {name: "__%s__" % name for name in ("len", "abs", "round", "hash", "hex", "oct")}


def _attributes_in(node):
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Call) and getattr(inner.func, "id", "") in _MAGIC:
            yield _MAGIC[inner.func.id]
        elif isinstance(inner, ast.Subscript):
            yield "__getitem__"
        elif isinstance(inner, ast.Compare):
            yield "__contains__"
        elif isinstance(inner, ast.Call) and getattr(inner.func, "id", "") in ("hasattr", "getattr"):
            yield from (a.value for a in inner.args[1:2] if isinstance(a, ast.Constant) and isinstance(a.value, str))


@functools.lru_cache(maxsize=1024)
def _paths_from_self(function):
    """(names, whether it is called) of each `self.a.b` in a method's source."""
    try:
        _, node = _frontend.parsed(inspect.unwrap(function))
    except _frontend.FrontendError:
        return ()
    called = {id(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
    paths = set()
    for inner in ast.walk(node):
        names, at = [], inner
        while isinstance(at, ast.Attribute):
            names.insert(0, at.attr)
            at = at.value
        if names and isinstance(at, ast.Name) and at.id == "self":
            paths.add((tuple(names), id(inner) in called))
    return tuple(paths)


def _choose_methods(pairs, is_traced=False):
    """Of each (ModuleType, module): the functions that are compiled, and those that may be: what a function names may
    be a method of any of the modules; which it is shows when it is compiled. Then the names. Of modules that are
    traced that begins with what is exported; forward is compiled where such a function calls it."""
    members = {}
    for kind, _ in pairs:
        if kind.python_class not in members:
            members[kind.python_class] = _members(kind.python_class)
    chosen = [_Methods(kind, module, members[kind.python_class]) for kind, module in pairs]
    by_kind = {id(methods.kind): methods for methods in chosen}
    names, pending = {"forward"}, []

    def add(methods, name):
        function = methods.method(name)
        if function is not None and name not in methods.functions:
            methods.functions[name] = function
            pending.append((methods, function))
            if is_traced and name == "forward" and _container_base(methods.kind.python_class) != "Module":
                add_forwards(methods)

    def add_forwards(methods):
        for inner in methods.kind.modules.values():
            if id(inner) in by_kind:
                add(by_kind[id(inner)], "forward")

    def add_used_modules(methods, function):
        for path, is_called in _paths_from_self(function):
            at, names = methods, list(path)
            if is_called and len(names) > 1 and names[-1] == "forward":
                names.pop()
            while at is not None and names:
                at = by_kind.get(id(at.kind.modules.get(names.pop(0))))
            if at is not None and is_called:
                add(at, "forward")
            elif at is not None and at.method("forward") is None:  # a list or dict of modules
                add_forwards(at)
    for methods in chosen:
        methods.wanted.update(methods.entries(is_traced), _interface_methods(methods.kind.python_class))
        for name in methods.entries(is_traced):
            add(methods, name)
        for text, _ in methods.kind.defined:
            names.update(*(_attributes_in(node) for node in ast.parse(text).body))
        methods.find_properties()
        for member in methods.properties.values():
            pending.extend((methods, f) for f in (member.fget, member.fset) if f is not None)
        for hooks in methods.kind.hooks:
            pending.extend((methods, hook) for hook in hooks)
    while pending:
        methods, function = pending.pop()
        if _modifiers.modifier_of(function) in (_modifiers.IGNORE, _modifiers.UNUSED):
            continue
        fresh = _called_names(function) - names
        names |= fresh
        if is_traced:
            add_used_modules(methods, function)
        for methods in chosen:
            for name in fresh:
                add(methods, name)
    return chosen, names


def _interface_methods(cls):
    """The names that interfaces ask for, where the class has them all: calls through an interface name no class."""
    found = set()
    for interface in [known for known, entry in _registry.classes.items() if entry.kind == "interface"]:
        names = [name for name, member in vars(interface).items() if isinstance(member, types.FunctionType)]
        if all(hasattr(cls, name) for name in names):
            found.update(names)
    return found


# ---- class definitions ----

def _class_tree(methods, builder, name, names):
    kind = methods.kind
    body = []
    for which, listed in (("__parameters__", PARAMETER), ("__buffers__", BUFFER)):
        strings = [_frontend.string(n) for n, (of, _) in kind.attributes.items() if of == listed]
        body.append(_frontend.assign(which, ("TK_LIST_LITERAL", (_frontend.items(strings),), 0, 0)))
    for attribute, inner in kind.modules.items():
        text = inner if isinstance(inner, str) else "__torch__." + names[id(inner)]
        body.append(_attribute(attribute, text))
    for attribute, (_, text) in kind.attributes.items():
        body.append(_attribute(attribute, text))
    for constant, value in kind.constants.items():
        body.append(_frontend.assign(constant, _frontend.literal(value), _frontend.var("Final")))
    rewrite = _attribute_rewriter(kind, builder)
    hook_names = ([], [])
    for which, hooks in enumerate(kind.hooks):
        for hook in hooks:
            hook_names[which].append(hook.__name__)
            body.append(builder.function_tree(hook))
    for which, listed in enumerate(("__forward_pre_hooks__", "__forward_hooks__")):
        if hook_names[which]:
            strings = _frontend.items([_frontend.string(n) for n in hook_names[which]])
            body.append(_frontend.assign(listed, ("TK_LIST_LITERAL", (strings,), 0, 0)))
    for method_name, function in methods.functions.items():
        for declared in _registry.overloads_of(function):
            body.append(builder.function_tree(declared, method_name, ("_overload_method",), rewrite))
        if method_name in methods.wanted:
            body.append(builder.function_tree(function, method_name, attribute=rewrite))
        else:
            body.append(builder.method_on_demand(function, method_name, rewrite))
    for text, names_there in kind.defined:
        body.extend(builder.text_trees(text, names_there))
    for property_name, member in methods.properties.items():
        body.append(builder.function_tree(member.fget, property_name, ("property",), rewrite))
        if member.fset is not None and _modifiers.modifier_of(member.fset) == _modifiers.DEFAULT:
            body.append(builder.function_tree(member.fset, property_name, (property_name + ".setter",), rewrite))
    return _frontend.class_definition(name, [_container_base(kind.python_class)], body)


_CONTAINERS = frozenset(("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict"))


def _container_base(cls):
    for base in cls.__mro__:
        if base.__name__ in _CONTAINERS and base.__module__.split(".")[0] in ("wick", "torch"):
            return base.__name__
    return "Module"


def _attribute(name, text):
    if name.isidentifier():
        return _frontend.assign(name, None, _types.tree_of_text(text))
    target = ("TK_SUBSCRIPT", (_frontend.var("__annotations__"), _frontend.items([_frontend.string(name)])), 0, 0)
    kind = _frontend.option(_types.tree_of_text(text))
    return ("TK_ASSIGN", (_frontend.items([target]), kind, _frontend.NOTHING), 0, 0)


def _attribute_rewriter(kind, builder):
    """`self.activation`, where that is a function of Python, is the function."""
    def rewrite(node, translator):
        if not isinstance(node.value, ast.Name) or node.value.id != "self":
            return None
        function = kind.functions.get(node.attr)
        if function is None:
            return None
        name = builder.name_for(node.attr, function)
        return translator.make("TK_VAR", node, translator.text("TK_IDENT", node, name))
    return rewrite


def _compile_types(root, module):
    """Compiles what is not yet of a module's type and of those that it holds."""
    pairs = _pairs(root, module)
    fresh = [(kind, of) for kind, of in pairs if kind.compiled is None]
    for _, of in fresh:
        _check(of)
    chosen, called = _choose_methods(fresh)
    if any(_lacks(kind, of, called) for kind, of in pairs):
        fresh = [(kind, of) for kind, of in pairs if not _is_compiled(of)]
        for kind, _ in fresh:
            kind.compiled, kind.name_key = None, object()
        chosen, _ = _choose_methods(fresh)
    builder = _program.Builder()
    names = {}
    for methods in chosen:
        kind = methods.kind
        names[id(kind)] = _registry.unique_name(_registry.program_name(kind.python_class), kind.name_key)
    for kind, _ in pairs:
        if kind.compiled is not None:
            name = names[id(kind)] = _free_name(kind.compiled.name, set(names.values()))
            builder.modules["__torch__." + name] = kind.compiled
    for methods in chosen:
        builder.statements.append(_class_tree(methods, builder, names[id(methods.kind)], names))
    try:
        program = builder.compile()
    except RuntimeError as error:
        _explain(error, chosen, names)
        raise
    for methods in chosen:
        kind = methods.kind
        kind.compiled = CompiledType(program, names[id(kind)], methods.wanted)
        kinds["__torch__." + kind.compiled.name] = kind


def _free_name(name, taken):
    """A name for what was compiled elsewhere, archives among them: its own, or one that only the compiler sees."""
    made, count = name, 0
    while made in taken:
        made, count = _registry.mangled(name, count), count + 1
    return made


def _lacks(kind, module, names):
    """Whether a class that was compiled for others may lack a method that is called now."""
    if kind.compiled is None or _is_compiled(module):
        return False
    methods = _Methods(kind, module, _members(kind.python_class))
    return any(name not in kind.compiled.methods and methods.method(name) is not None for name in names)


_MISSING_ATTRIBUTE = re.compile(r"'(__torch__\.[\w.]*)' object has no attribute or method '(\w+)'\. Did you forget "
                                r"to initialize an attribute in __init__\(\)\?")


def _explain(error, chosen, names):
    """Says of a module whose attribute is none of the program's which module it is, and why."""
    found = _MISSING_ATTRIBUTE.search(str(error))
    if found is None:
        return
    for methods in chosen:
        kind = methods.kind
        if "__torch__." + names[id(kind)] != found.group(1):
            continue
        text, why = "Module '%s' has no attribute '%s' " % (kind.python_class.__name__, found.group(2)), ""
        if found.group(2) in kind.failed:
            why = "(This attribute exists on the Python module, but we failed to convert Python type: '%s' to a " \
                "TorchScript type. %s Its type was inferred; try adding a type annotation for the attribute.)" \
                % kind.failed[found.group(2)]
        error.args = (str(error)[:found.start()] + text + why + str(error)[found.end():],) + error.args[1:]


def _check(module):
    for table in ("_forward_pre_hooks", "_forward_hooks"):
        for hook in getattr(module, table, {}).values():
            if not isinstance(hook, types.FunctionType):
                raise RuntimeError("the hook %r of %s is no function that can be compiled"
                                   % (hook, type(module).__name__))
    _hooks_of.check_names(module)


def _pairs(root, module):
    """(ModuleType, a module of it), the innermost first, each type once."""
    found, seen = [], set()

    def walk(kind, of):
        if id(kind) in seen:
            return
        seen.add(id(kind))
        for name, inner in kind.modules.items():
            if not isinstance(inner, str):
                walk(inner, of._modules[name])
            else:
                walk(module_type(of._modules[name]), of._modules[name])
        found.append((kind, of))
    walk(root, module)
    return found


def wrap_cpp_module(module):
    """The RecursiveScriptModule of what `_c` gives."""
    return _later.wrap_module(module._script_handle)


# ---- what stands in for modules ----

def prepared(module):
    """What is compiled in the place of a module and of those that it holds: what their __prepare_scriptable__ give.
    Modules that hold such ones are copied, with the same tensors."""
    return _prepared(module, {})


def _prepared(module, known):
    if id(module) in known or _is_compiled(module):
        return known.get(id(module), module)
    made = module.__prepare_scriptable__() if hasattr(module, "__prepare_scriptable__") else module
    known[id(module)] = made
    if not hasattr(made, "_modules"):
        return made
    children = {name: inner if inner is None else _prepared(inner, known) for name, inner in made._modules.items()}
    if any(children[name] is not inner for name, inner in made._modules.items()):
        held = made._modules
        made = known[id(module)] = copy.copy(made)
        made.__dict__["_modules"] = type(held)(children)
    return made


# ---- objects ----

def create(module):
    """A RecursiveScriptModule of a module of Python, whose tensors it shares."""
    root = module_type(module)
    _compile_types(root, module)
    made = {}
    return _instance(root, module, made)


def _instance(kind, module, made):
    if _is_compiled(module):
        return module
    if id(module) in made:
        return made[id(module)]
    children = {}
    for name, inner in kind.modules.items():
        of = module._modules[name]
        children[name] = _instance(module_type(of) if isinstance(inner, str) else inner, of, made)
    values = {name: child._script_handle for name, child in children.items()}
    for name in kind.attributes:
        value = _attribute_value(module, name)
        values[name] = value.value if isinstance(value, _modifiers.Attribute) else value
    try:
        handle = kind.compiled.program.new_object(kind.compiled.name, values)
    except RuntimeError as error:
        text = re.sub(r"attribute ('\w+') should be of type (.*), got (.*)",
                      r"Could not cast attribute \1 to type \2: Unable to cast \3", str(error))
        raise RuntimeError("%s: %s" % (type(module).__name__, text)) from None
    scripted = _later.RecursiveScriptModule._of(handle, module, children, kind)
    made[id(module)] = scripted
    _hooks_of.check(handle, module)
    return scripted


def _attribute_value(module, name):
    for table in (module._parameters, module._buffers, module._modules):
        if name in table:
            return _from_torch.adopt(table[name])
    return _from_torch.adopt(getattr(module, name))
