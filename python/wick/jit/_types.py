"""Types of Python as the texts that programs have: `type_text(List[int])` is "List[int]"."""

import ast
import enum
import inspect
import typing

from . import _from_torch, _frontend, _later, _registry
from .._jit_internal import can_compile_class


class TypeUnknown(TypeError):
    """Nothing that a program could have."""


def _plain_types():
    from .. import _C
    table = {int: "int", float: "float", bool: "bool", str: "str", complex: "complex", type(None): "None",
             None: "None", typing.Any: "Any", list: "list", tuple: "tuple", _C.device: "Device", _C.dtype: "int",
             _C.layout: "int", _C.memory_format: "int", _C.Generator: "Generator", _C.Size: "List[int]"}
    return table


_table = None
_TORCH_NAMES = {"Tensor": "Tensor", "Parameter": "Tensor", "device": "Device", "dtype": "int",
                "Generator": "Generator",
                "layout": "int", "memory_format": "int", "Size": "List[int]"}


def type_text(kind):
    """The text of a type; TypeUnknown for what is none."""
    global _table
    if _table is None:
        _table = _plain_types()
    try:
        known = _table.get(kind)
    except TypeError:
        known = None
    if known is not None:
        return known
    if isinstance(kind, str):
        raise TypeUnknown(kind)
    origin = typing.get_origin(kind)
    if origin is not None or kind is typing.Optional:
        return _generic_text(kind, origin, typing.get_args(kind))
    if inspect.isclass(kind):
        return _class_text(kind)
    alias = getattr(kind, "__supertype__", None)
    if alias is not None:
        return type_text(alias)
    raise TypeUnknown("%r is no type that a program can have" % (kind,))


# generic types that need to be told of what, and an example
_BARE = {typing.List: ("List without a contained type", "type, e.g. List[int]"),
         typing.Dict: ("Dict without contained types", "type, e.g. Dict[int, int]"),
         typing.Tuple: ("Tuple without a contained type", "type, e.g. Tuple[int]"),
         typing.Optional: ("Optional without a contained type", "type, e.g. Optional[int]")}


def _generic_text(kind, origin, args):
    if kind in _BARE:
        raise RuntimeError("Attempted to use %s. Please add %scontained %s" % (
            _BARE[kind][0], "" if kind is typing.Dict else "a ", _BARE[kind][1]))
    if origin is list:
        return "List[%s]" % type_text(args[0])
    if origin is dict:
        return "Dict[%s, %s]" % (type_text(args[0]), type_text(args[1]))
    if origin is tuple:
        if args in ((), ((),)):
            return "Tuple[()]"
        if Ellipsis in args:
            raise TypeUnknown("a tuple of any length is no type that a program can have")
        return "Tuple[%s]" % ", ".join(type_text(a) for a in args)
    if origin is typing.Union or type(kind).__name__ == "UnionType":
        rest = [a for a in args if a is not type(None)]
        if len(rest) == 1 and len(args) == 2:
            return "Optional[%s]" % type_text(rest[0])
        return "Union[%s]" % ", ".join(type_text(a) for a in args)
    if origin is typing.Final:
        return type_text(args[0])
    name = getattr(origin, "__name__", "")
    if name == "Future":
        return "Future[%s]" % type_text(args[0])
    if name == "RRef":
        return "RRef[%s]" % type_text(args[0])
    if hasattr(typing, "Annotated") and hasattr(kind, "__metadata__"):
        return type_text(kind.__origin__)
    raise TypeUnknown("%r is no type that a program can have" % (kind,))


def _class_text(kind):
    from .. import Tensor
    if issubclass(kind, Tensor):
        return "Tensor"
    module = kind.__module__ or ""
    if module == "torch" or module.startswith("torch."):
        if kind.__name__ in _TORCH_NAMES:
            return _TORCH_NAMES[kind.__name__]
    return "__torch__." + _later.class_entry(kind).name


def is_named_tuple(kind):
    """Whether a class is one of collections.namedtuple or typing.NamedTuple."""
    return inspect.isclass(kind) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def value_type_text(value):
    """The type of a value, for an attribute that has no annotation."""
    from .. import _C, Tensor
    if value is None or isinstance(value, (bool, int, float, complex, str, _C.device, _C.Generator)):
        if isinstance(value, enum.Enum):
            return type_text(type(value))
        return type_text(bool if isinstance(value, bool) else next(
            k for k in (type(None), int, float, complex, str, _C.device, _C.Generator) if isinstance(value, k)))
    if isinstance(value, Tensor) or _from_torch.is_torch_tensor(value):
        return "Tensor"
    if isinstance(value, (_C.dtype, _C.layout, _C.memory_format)):
        return "int"
    if isinstance(value, enum.Enum):
        return type_text(type(value))
    if is_named_tuple(type(value)):
        declared = getattr(type(value), "__annotations__", {})
        for name, item in zip(value._fields, value):
            if name not in declared and value_type_text(item) != "Tensor":
                return "Tuple[%s]" % ", ".join(value_type_text(item) for item in value)
        return type_text(type(value))
    if isinstance(value, tuple) and type(value) is tuple:
        return "Tuple[%s]" % (", ".join(value_type_text(item) for item in value) or "()")
    if isinstance(value, list):
        if not value:
            raise TypeUnknown("List trace inputs must have elements.")
        return "List[%s]" % _common_type(value, "List inputs to traced functions must have consistent element type")
    if isinstance(value, dict):
        if not value:
            raise TypeUnknown("Dictionary inputs must have entries.")
        text = "Dictionary inputs to traced functions must have consistent type"
        return "Dict[%s, %s]" % (_common_type(value.keys(), text), _common_type(value.values(), text))
    kept = getattr(value, "_script_handle", None)
    if isinstance(kept, _C.Kept):
        return kept.type()
    entry = _registry.classes.get(type(value)) or _compiled(type(value))
    if entry is not None:
        return "__torch__." + entry.name
    if hasattr(value, "_parameters"):
        raise TypeUnknown("Cannot infer concrete type of torch.nn.Module.")
    raise TypeUnknown("Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as inputs "
                      "or outputs of traced functions, but instead got value of type %s." % type(value).__name__)


def _compiled(kind):
    """The ClassEntry of a class that can be compiled; None: it can't."""
    if not can_compile_class(kind):
        return None
    try:
        return _later.class_entry(kind)
    except (RuntimeError, TypeError, ValueError, OSError):
        return None


def _common_type(items, what):
    try:
        texts = {value_type_text(item): None for item in items}
    except TypeUnknown as error:
        raise TypeUnknown("Could not infer type of list element: %s" % error) from None
    if len(texts) == 2 and "None" in texts:
        return "Optional[%s]" % next(text for text in texts if text != "None")
    if len(texts) > 1:
        raise TypeUnknown("%s. Found %s." % (what, " and ".join(list(texts)[:2])))
    return next(iter(texts))


def tree_of_text(text, begin=0, end=0):
    """The tree of a type's text, in the place given."""
    translator = _frontend.Translator(_frontend.Source(text))
    translator._fixed = (begin, end)
    return translator.tree_of(ast.parse(text, mode="eval").body)


# BroadcastingList2[int]: a list of two, for which one number may stand.
def _broadcasting(count):
    class Form:
        """A list of that length; a single item stands for as many."""

        def __getitem__(self, kind):
            return typing.List[kind]
    Form.__name__ = "BroadcastingList%d" % count
    return Form()


for _count in range(1, 7):
    globals()["BroadcastingList%d" % _count] = _broadcasting(_count)
