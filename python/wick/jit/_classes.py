"""Classes of Python as classes of programs: plain classes, dataclasses, enums, NamedTuples, interfaces."""

import ast
import dataclasses
import enum
import inspect
import types

from . import _frontend, _modifiers, _program, _registry, _types
from .._jit_internal import can_compile_class


def class_entry(cls):
    """The ClassEntry of a class, which is compiled when it was not yet."""
    entry = _registry.classes.get(cls)
    if entry is None:
        entry = _compile(cls)
    return entry


def _compile(cls):
    if issubclass(cls, enum.Enum):
        kind, define = "enum", _enum_tree
    elif _types.is_named_tuple(cls):
        kind, define = "tuple", _tuple_tree
    elif vars(cls).get("__script_interface__") or vars(cls).get("__torch_script_interface__"):
        kind, define = "interface", _interface_tree
    elif _program.is_module_class(cls):
        raise _types.TypeUnknown("a module's class, %s, can't be a type: script the module, or say what it has in "
                                 "common with others as an interface" % cls.__qualname__)
    elif issubclass(cls, BaseException) or cls.__module__ == "builtins":
        raise _types.TypeUnknown("%r is no type that a program can have" % cls)
    elif not can_compile_class(cls):
        raise RuntimeError("Unknown type name '%s'" % cls.__name__)
    else:
        kind, define = "class", _class_tree
    return compile_class(cls, kind, define)


def compile_class(cls, kind, define):
    """Compiles a class alone; on failure it stays unknown."""
    from .. import _C
    name = _registry.unique_name(_registry.program_name(cls), cls)
    entry = _registry.ClassEntry(None, name, kind)
    builder = _program.Builder(cls)
    builder.included[id(cls)] = name
    _registry.classes[cls] = entry
    _registry.python_classes["__torch__." + name] = cls
    try:
        tree, attributes = define(cls, name, builder)
        builder.statements.append(tree)
        entry.program = builder.compile()
    except BaseException:
        del _registry.classes[cls]
        del _registry.python_classes["__torch__." + name]
        raise
    if kind in ("class", "enum"):
        _C.register_class(cls, "enum" if kind == "enum" else "object", entry.program, name, tuple(attributes))
    return entry


# ---- forms ----

def _enum_tree(cls, name, builder):
    body = []
    for member in cls:
        value = _frontend.literal(member.value)
        if value is None:
            raise RuntimeError("the value of %s is no constant that a program can have" % member)
        body.append(_frontend.assign(member.name, value))
    return _frontend.class_definition(name, ["Enum"], body), ()


def _tuple_tree(cls, name, builder):
    annotations = {}
    for base in reversed(cls.__mro__):  # a class may derive from the tuple of its fields
        annotations.update(vars(base).get("__annotations__", {}))
    defaults = getattr(cls, "_field_defaults", {})
    scope, body = _program.ModuleScope(cls), []
    for field in cls._fields:
        kind = _program._evaluated(annotations[field], scope) if field in annotations else None
        if isinstance(kind, str):
            kind = scope.evaluate(ast.parse(kind, mode="eval").body)
        text = "Tensor" if kind is None else _types.type_text(kind)
        value = None
        if field in defaults:
            value = _frontend.literal(defaults[field])
            if value is None:
                raise RuntimeError("the default of the field '%s' is no constant that a program can have" % field)
        body.append(_frontend.assign(field, value, _types.tree_of_text(text)))
    return _frontend.class_definition(name, ["NamedTuple"], body), ()


def _interface_tree(cls, name, builder):
    if len(cls.__mro__) > 2 and not (_program.is_module_class(cls) and cls.__bases__[0].__name__ == "Module"):
        raise RuntimeError("TorchScript interface does not support inheritance yet. Please directly inherit from "
                           "'object' or 'nn.Module'.")
    for member in _functions(cls):
        source, node = _frontend.parsed(member)
        if node.returns is None and not node.type_comment:
            raise RuntimeError(_frontend.Translator(source).message(
                node, "interface declarations must have a return type annotated."))
    body = [builder.function_tree(member) for member in _functions(cls)]
    base = "ModuleInterface" if _program.is_module_class(cls) else "Interface"
    return _frontend.class_definition(name, [base], body), ()


def _functions(cls):
    return [member for member in vars(cls).values() if isinstance(member, types.FunctionType)]


def _class_tree(cls, name, builder):
    bases = [base for base in cls.__bases__ if base is not object and base.__name__ not in ("Generic", "ABC")]
    if bases:
        raise RuntimeError("TorchScript classes does not support inheritance yet. Please directly inherit from "
                           "'object'. (%s derives from %s)" % (
                               cls.__qualname__, ", ".join(base.__qualname__ for base in bases)))
    try:
        source = _frontend.source_of(cls)
        node = source.parse()
    except _frontend.FrontendError:
        if not dataclasses.is_dataclass(cls):
            raise
        source = node = None
    made = _dataclass_functions(cls, node) if dataclasses.is_dataclass(cls) else []
    body = [_made_tree(builder, cls, text) for text in made]
    scope = _program.ModuleScope(cls)
    attributes = [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
    own = {text.split("(")[0].split()[-1] for text in made}
    if node is not None:
        translator = builder.translator(source, scope)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                if statement.name in own:
                    continue
                member = vars(cls).get(statement.name)
                body += _member_trees(builder, member, statement, cls)
                if statement.name == "__init__":
                    attributes = _assigned(statement)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and not dataclasses.is_dataclass(cls):
                tree = translator.tree_of(statement)
                body.append(tree + (source,))
    return _frontend.class_definition(name, [], body), attributes


def _member_trees(builder, member, statement, cls):
    """What one def of a class's body becomes."""
    if isinstance(member, property):
        trees = []
        is_setter = any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in statement.decorator_list)
        accessor = member.fset if is_setter else member.fget
        if accessor is None or _modifiers.modifier_of(accessor) in (_modifiers.IGNORE,):
            return trees
        decorator = "%s.setter" % statement.name if is_setter else "property"
        return [builder.function_tree(accessor, decorators=(decorator,))]
    if isinstance(member, staticmethod):
        return [builder.function_tree(member.__func__, decorators=("staticmethod",))]
    if isinstance(member, classmethod) or not isinstance(member, types.FunctionType):
        return []
    if any(_name_of(d) in ("_overload_method", "_overload") for d in statement.decorator_list):
        return []
    trees = [builder.function_tree(declared, decorators=("_overload_method",))
             for declared in _registry.overloads_of(member)]
    return trees + [builder.function_tree(member)]


def _name_of(node):
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _assigned(init):
    """The attributes that __init__ sets, at its top, in order."""
    names = []
    self_name = init.args.args[0].arg if init.args.args else "self"
    for statement in init.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else (
            [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value is not None else [])
        pending = list(targets)
        while pending:
            target = pending.pop(0)
            if isinstance(target, (ast.Tuple, ast.List)):
                pending = list(target.elts) + pending
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) \
                    and target.value.id == self_name and target.attr not in names:
                names.append(target.attr)
    return names


# ---- dataclasses ----

def _dataclass_functions(cls, node):
    """The texts of the methods that the decorator made."""
    written = set() if node is None else {s.name for s in node.body if isinstance(s, ast.FunctionDef)}
    fields = dataclasses.fields(cls)
    settings = cls.__dataclass_params__
    texts = []
    if settings.init and "__init__" not in written:
        texts.append(_init_text(cls, fields))
    for method, wanted, text in (("__eq__", settings.eq, _equal_text), ("__lt__", settings.order, _order_text("<")),
                                 ("__le__", settings.order, _order_text("<=")),
                                 ("__gt__", settings.order, _order_text(">")),
                                 ("__ge__", settings.order, _order_text(">="))):
        if wanted and method not in written:
            texts.append(text(cls, method, [f.name for f in fields if f.compare]))
    return texts


def _field_type(cls, field):
    kind = field.type
    scope = _program.ModuleScope(cls)
    if isinstance(kind, str):
        kind = scope.evaluate(ast.parse(kind, mode="eval").body)
    return _types.type_text(_program._evaluated(kind, scope))


def _init_text(cls, fields):
    parameters, body = ["self"], []
    for field in fields:
        if field.default_factory is not dataclasses.MISSING:
            raise NotImplementedError("a default_factory of the dataclass %s is not supported in compiled code"
                                      % cls.__qualname__)
        default = ""
        if field.default is not dataclasses.MISSING:
            default = " = %r" % (field.default,)
            if isinstance(field.default, enum.Enum):
                default = " = %s.%s" % (type(field.default).__name__, field.default.name)
        if field.init:
            parameters.append("%s: '%s'%s" % (field.name, _field_type(cls, field), default))
            body.append("    self.%s = %s" % (field.name, field.name))
        elif default:
            body.append("    self.%s%s" % (field.name, default))
    if hasattr(cls, "__post_init__"):
        body.append("    self.__post_init__()")
    return "def __init__(%s):\n%s\n" % (", ".join(parameters), "\n".join(body) or "    pass")


def _compared_text(cls, name, unequal, one_is_none):
    """Lines that compare a field: `unequal` where values differ, `one_is_none` where one of the two has none."""
    field = next(f for f in dataclasses.fields(cls) if f.name == name)
    mine, others = "mine_" + name, "other_" + name

    def returned(first, second):
        return "return " + (unequal % (first, second) if "%s" in unequal else unequal)
    if not _field_type(cls, field).startswith("Optional["):
        return ["if self.%s != other.%s:" % (name, name), "    " + returned("self." + name, "other." + name)]
    return ["%s, %s = self.%s, other.%s" % (mine, others, name, name),
            "if %s is not None and %s is not None:" % (mine, others), "    if %s != %s:" % (mine, others),
            "        " + returned(mine, others), "elif (%s is None) != (%s is None):" % (mine, others),
            "    " + one_is_none]


def _comparison_text(cls, method, names, unequal, one_is_none, equal):
    lines = [line for name in names for line in _compared_text(cls, name, unequal, one_is_none)]
    return "def %s(self, other: '__torch__.%s') -> bool:\n%s    return %s\n" % (
        method, _registry.classes[cls].name, "".join("    %s\n" % line for line in lines), equal)


def _equal_text(cls, method, names):
    return _comparison_text(cls, method, names, "False", "return False", True)


def _order_text(sign):
    def text(cls, method, names):
        refused = "raise TypeError('%s: a field that is None has no order')" % cls.__name__
        return _comparison_text(cls, method, names, "%%s %s %%s" % sign[0], refused, "=" in sign)
    return text


def _made_tree(builder, cls, text):
    source = _frontend.text_source(text, "<dataclass %s>" % cls.__qualname__)
    translator = _MadeTranslator(source, builder, _program.ModuleScope(cls), None)
    node = source.parse()
    translator.scope.locals = {a.arg for a in node.args.args}
    return translator.function(node) + (source,)


class _MadeTranslator(_program._ProgramTranslator):
    """Of texts in which annotations are the texts of types."""

    def annotation(self, node):
        begin, end = self.place(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return _types.tree_of_text(node.value, begin, end)
        return super().annotation(node)


# ---- back to Python ----

def wrap_parts(kind, type_name, names, items):
    """An object, member or NamedTuple of a program as Python's."""
    cls = _registry.python_classes.get(type_name)
    if kind == "enum":
        return cls[items[0]] if cls is not None else _unknown_enum(type_name, items)
    if kind == "tuple":
        if cls is None:  # of a loaded program, or what an operator gives: it has names of fields alone
            cls = _unknown_tuple(type_name if type_name.startswith("__torch__.") else "Results", names)
        return cls(*items)
    if cls is None:
        return ScriptObject(type_name, dict(zip(names, items)))
    made = cls.__new__(cls)
    for name, item in zip(names, items):
        object.__setattr__(made, name, item)
    return made


def _unknown_tuple(type_name, names):
    import collections
    cls = _made_tuples.get((type_name, names))
    if cls is None:
        cls = _made_tuples[type_name, names] = collections.namedtuple(type_name.rpartition(".")[2] or "Tuple", names)
    return cls


_made_tuples = {}


def _unknown_enum(type_name, items):
    return ScriptObject(type_name, {"name": items[0], "value": items[1]})


class ScriptObject:
    """An object of a class that Python does not have, of a loaded program: its attributes."""

    def __init__(self, type_name, attributes):
        self.__dict__.update(attributes)
        self.__dict__["_type_name"] = type_name

    def __repr__(self):
        return "<%s object of a program>" % self._type_name
