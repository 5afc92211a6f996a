"""What functions for register_custom_op_symbolic use to read their arguments."""
import functools

from . import _model
from ._rows import known_now
from .errors import SymbolicValueError


def parse_args(*kinds):
    """The function's arguments by letters: "v" a value of the model, "i" an int, "f" a float, "b" a bool, "s" a
    string, "t" a tensor, "is" and "fs" lists, "none" None."""
    def wrap(function):
        @functools.wraps(function)
        def wrapped(g, *args, **named):
            if len(args) > len(kinds):
                raise SymbolicValueError("%s() takes %d arguments, not %d" % (function.__name__, len(kinds),
                                                                           len(args)))
            return function(g, *[_parsed(g, value, kind) for value, kind in zip(args, kinds)], **named)
        return wrapped
    return wrap


def _parsed(g, value, kind):
    if kind == "v":
        if value is None or isinstance(value, (_model.Value, str)):
            return value
        return [_parsed(g, item, "v") for item in value] if isinstance(value, (list, tuple)) and any(
            isinstance(item, _model.Value) for item in value) else g.constant(value)
    if value is None:
        return None
    if kind == "none":
        raise SymbolicValueError("an argument that is None is wanted", value)
    if kind == "t":
        return value.tensor if isinstance(value, _model.Value) else value
    found = known_now(value, "an argument")
    convert = {"i": int, "f": float, "b": bool, "s": str, "is": list, "fs": list}.get(kind)
    if convert is None:
        raise ValueError("parse_args: there is no kind %r" % kind)
    return convert(found)


def _get_const(value, kind, name):
    return _parsed(None, value, kind)


def _maybe_get_const(value, kind):
    known = not isinstance(value, _model.Value) or value.tensor is not None
    return _parsed(None, value, kind) if known and kind != "v" else value


def _is_none(value):
    return value is None


def _is_value(value):
    return isinstance(value, _model.Value)


def _get_tensor_rank(value):
    return value.rank


def _get_tensor_sizes(value):
    return value.sizes()


def _get_tensor_dim_size(value, dim):
    sizes = value.sizes()
    return None if sizes is None else sizes[dim]


def _unimplemented(name, message, value=None):
    raise SymbolicValueError("%s: %s" % (name, message), value)
