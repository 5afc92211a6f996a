"""Arguments of calls by the signatures of what is called: operators, functions and modules."""
import enum
import inspect
import numbers
import typing
import warnings
from typing import Any, Dict, List, NamedTuple, Tuple

import wick

__all__ = ["ArgsKwargsPair", "check_for_mutable_operation", "create_type_hint", "get_signature_for_torch_op",
           "normalize_function", "normalize_module", "type_matches"]


class ArgsKwargsPair(NamedTuple):
    """Arguments by place and by name."""
    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]


class _Named:
    """``__torch__.name``: classes of programs, of which there are none among operators' types."""

    def __getattr__(self, name):
        return Any


_TYPES = dict(vars(typing), Tensor=wick.Tensor, number=numbers.Number, Device=wick.device, Layout=wick.layout,
              MemoryFormat=wick.memory_format, ScalarType=int, Generator=wick.Generator, Future=wick.jit.Future,
              AnyEnumType=enum.Enum, QScheme=wick.qscheme, Storage=Any, Stream=Any, NoneType=type(None),
              t=typing.TypeVar("t"), __torch__=_Named())


def _python_type(of):
    try:
        return eval(of.annotation_str, _TYPES)
    except NameError:
        return Any


def _signature(schema):
    """The signature of one overload; ``self`` is called input, as torch's functions call it."""
    parameters = [
        inspect.Parameter(
            "input" if argument.name == "self" else argument.name,
            inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=argument.default_value if argument.has_default_value() else inspect.Parameter.empty,
            annotation=_python_type(argument.type))
        for argument in schema.arguments]
    returns = tuple(_python_type(one.type) for one in schema.returns)
    returned = None if not returns else returns[0] if len(returns) == 1 else returns
    return inspect.Signature(parameters, return_annotation=returned)


def _schemas(op):
    """The schemas of an operator, its overloads or one of them; None: it is none."""
    if isinstance(op, wick._ops._Packet):
        texts = [text for name in op.overloads() for text in getattr(op, name).schemas]
    else:
        texts = getattr(op, "schemas", None)
    if not isinstance(texts, list):
        return None
    made = [wick._C.parse_schema(text) for text in texts]
    return [schema for schema in made if not schema.overload_name.startswith("builtin_")]


def get_signature_for_torch_op(op, return_schemas=False):
    """The signatures of an operator's overloads, and the schemas if they are wanted; None of what is no operator."""
    schemas = _schemas(op)
    signatures = None if schemas is None else [_signature(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


def _binds(signature, args, kwargs):
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def check_for_mutable_operation(target, args, kwargs):
    """Raises where the only overload that takes the arguments writes to one of them."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    fitting = [schema for signature, schema in zip(signatures or (), schemas or ())
               if _binds(signature, args, kwargs)]
    if len(fitting) == 1 and fitting[0].is_mutable:
        raise RuntimeError("Tried to trace mutable operation {}. FX only supports functional code, so operations "
                           "that mutate operands in-place (e.g. via `out` arguments) are not supported".format(
                               fitting[0]))


def create_type_hint(x):
    """A list or tuple of types as a type: of the class that all of them derive from."""
    if not isinstance(x, (list, tuple)):
        return x

    def hint(of):
        return List[of] if isinstance(x, list) else Tuple[of, ...]
    if not x:
        return hint(Any)
    try:
        for base in x:
            if all(issubclass(one, base) for one in x):
                return hint(base)
        return hint(Any)
    except TypeError:
        warnings.warn("We were not able to successfully create type hint from the type {}".format(x))
        return x


def type_matches(signature_type, argument_type):
    """Whether an argument of a type fits a parameter of another."""
    origin = typing.get_origin(signature_type)
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(one, argument_type) for one in typing.get_args(signature_type))
    if signature_type == List[int] and argument_type is int:  # one size for all
        return True
    if origin is list:
        return _list_matches(typing.get_args(signature_type)[0], argument_type)
    if signature_type is int and argument_type is wick.dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return inspect.isclass(argument_type) and inspect.isclass(signature_type) and \
        issubclass(argument_type, signature_type)


def _list_matches(element, argument_type):
    """Whether a list or a tuple has elements of a class."""
    if not inspect.isclass(element):
        warnings.warn("Does not support nested parametric types, got {}. Please file a bug.".format(List[element]))
        return False
    origin, parts = typing.get_origin(argument_type), typing.get_args(argument_type)
    if origin is list:
        return issubclass(parts[0], element)
    return origin is tuple and all(part is Ellipsis or part == () or issubclass(part, element) for part in parts)


def _normalized(signature, args, kwargs, only_kwargs):
    """The arguments with defaults, those that were given by place by place unless all go by name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(parameter.kind not in kinds for parameter in signature.parameters.values()):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    names = list(signature.parameters)
    by_place = 0 if only_kwargs else len(args)
    return ArgsKwargsPair(tuple(bound.arguments[name] for name in names[:by_place]),
                          {name: bound.arguments[name] for name in names[by_place:]})


def _types_match(signature, types, kwarg_types):
    try:
        bound = signature.bind(*types, **kwarg_types)
    except TypeError:
        return False
    return all(type_matches(signature.parameters[name].annotation, of) for name, of in bound.arguments.items())


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None,
                       normalize_to_only_use_kwargs=False):
    """The arguments of a call as its signature has them, with defaults; None where there is no telling.

    Where several overloads of an operator take the arguments, their types say which.
    """
    kwargs = kwargs or {}
    signatures = get_signature_for_torch_op(target)
    if signatures is None:
        try:
            signature = inspect.signature(inspect.unwrap(target))
        except ValueError:  # functions in C that do not tell
            return None
        return _normalized(signature, args, kwargs, normalize_to_only_use_kwargs)
    fitting = [signature for signature in signatures if _binds(signature, args, kwargs)]
    if len(fitting) > 1:
        if arg_types is None and kwarg_types is None:
            raise RuntimeError(
                "Tried to normalize arguments to {} but the schema match was ambiguous! Please provide argument "
                "types to the normalize_arguments() call. Available schemas:\n{}".format(
                    wick.typename(target), "\n".join(str(signature) for signature in fitting)))
        fitting = [signature for signature in signatures if _types_match(signature, arg_types or (),
                                                                         kwarg_types or {})]
    return _normalized(fitting[0], args, kwargs, normalize_to_only_use_kwargs) if fitting else None


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """The same of a call of a module of wick.nn that ``root`` holds; None of others."""
    try:
        module = root.get_submodule(target)
    except AttributeError:
        raise RuntimeError("Tried to normalize node with target {} but root did not have that target!".format(
            target)) from None
    if getattr(wick.nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return _normalized(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
