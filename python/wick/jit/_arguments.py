"""Arguments of compiled functions that are not of the parameters' types as they are: converted, or refused.

The extension asks here when a call's values don't fit: what has items is a list where a list is wanted, mappings are
dicts. Then it calls again, and asks for the error's text when that does not fit either.
"""

import collections.abc
import inspect

from .. import _C
from . import _schema


class _Refused(RuntimeError):
    """What the program said of arguments that were converted."""


class _Unfit(Exception):
    """What is said of the value that can't be converted."""


def _unable(value, kind):
    return _Unfit("Cast error details: Unable to cast %r to %s" % (value, kind))


def _items(value, kind):
    """The items of what is taken for a list: of numbers and tensors sequences, of others whatever has items."""
    element = kind.parts[0].name
    is_sequence = hasattr(value, "__len__") and hasattr(value, "__getitem__") and not hasattr(value, "keys")
    if element in ("int", "float", "bool", "complex", "Tensor") and (
            not is_sequence or isinstance(value, (str, bytes, _C.Tensor))):
        raise _unable(value, kind)
    return _iterated(value)


def _iterated(value):
    try:
        return list(value)
    except TypeError as error:
        raise _Unfit(" Python error details: TypeError: %s" % error) from None


def _list(value, kind):
    if getattr(value, "_script_handle", None) is not None:
        return value
    return [convert(item, kind.parts[0]) for item in _items(value, kind)]


def _dict(value, kind):
    if getattr(value, "_script_handle", None) is not None:
        return value
    if not isinstance(value, collections.abc.Mapping):
        try:
            value = dict(value)
        except (TypeError, ValueError) as error:
            raise _Unfit(" Python error details: %s: %s" % (type(error).__name__, error)) from None
    return {convert(key, kind.parts[0]): convert(item, kind.parts[1]) for key, item in value.items()}


def _tuple(value, kind):
    items = _iterated(value)
    if len(items) != len(kind.parts):
        raise _Unfit("Cast error details: Object %s had a different number of elements than type %s" % (value, kind))
    return tuple(map(convert, items, kind.parts))


def _union(value, kind):
    for part in kind.parts:
        try:
            if _is_known(convert(value, part)):
                return convert(value, part)
        except _Unfit:
            pass
    raise _Unfit("Cast error details: Expected a member of %s but instead found type %s"
                 % (kind, _shown_type(value)))


def _shown_type(value):
    from . import _types
    try:
        return _types.value_type_text(value)
    except _types.TypeUnknown:
        return type(value).__name__


def _any(value, kind):
    if _is_known(value):
        return value
    raise RuntimeError("Tracer cannot infer type of %s\n:Only tensors and (possibly nested) tuples of tensors, "
                       "lists, or dicts are supported as inputs or outputs of traced functions, but "
                       "instead got value of "
                       "type %s." % (value, type(value).__name__))


def _is_known(value):
    """Whether a program can have it."""
    try:
        _C.Kept(_C, value)
    except TypeError:
        return False
    return True


def _tensor(value, kind):
    if not isinstance(value, _C.Tensor):
        raise _unable(value, kind)
    return value


_CONVERTERS = {"List": _list, "Dict": _dict, "Tuple": _tuple, "Union": _union, "Any": _any, "Tensor": _tensor}


def convert(value, kind):
    """The value as the type wants it, as far as Python knows; _Unfit where it can't be."""
    if kind.name == "Optional":
        return None if value is None else convert(value, kind.parts[0])
    converter = _CONVERTERS.get(kind.name)
    if converter is not None:
        return converter(value, kind)
    if kind.name == "Device" and isinstance(value, str):
        return _C.device(value)
    if not _is_known(value):
        raise _unable(value, kind)
    return value


# ---- a call ----

class _Call:
    def __init__(self, method, args, kwargs):
        self.method, self.kwargs = method, kwargs
        self.declaration = str(method.schema)
        self.schema = _schema.parse(self.declaration)
        self.has_self = self.schema.names[:1] == ["self"]
        self.args = ((None,) if self.has_self else ()) + args
        self.name = self.declaration.partition("(")[0]

    def check_count(self):
        names, text = self.schema.names, " Declaration: " + self.declaration
        if len(self.args) > len(names):
            raise RuntimeError("%s() expected at most %d argument(s) but received %d argument(s).%s"
                               % (self.name, len(names), len(self.args) + len(self.kwargs), text))
        if len(self.args) > self.schema.positional:
            raise RuntimeError("%s() takes %d positional argument(s) but %d was/were given. %s"
                               % (self.name, self.schema.positional, len(self.args), text))
        for i, name in enumerate(names):
            if i >= len(self.args) and name not in self.kwargs and not self.schema.has_default[i]:
                raise RuntimeError("%s() is missing value for argument '%s'.%s" % (self.name, name, text))
        for name in self.kwargs:
            where = " Schema: " + self.declaration
            if name not in names:
                raise RuntimeError("Unknown keyword argument '%s' for operator '%s'.%s" % (name, self.name, where))
            if names.index(name) < len(self.args):
                raise RuntimeError("Argument '%s' specified both as positional and keyword argument.%s"
                                   % (name, where))

    def parameter(self, i):
        name, kind = self.schema.parameters[i]
        return name, kind, self.args[i] if i < len(self.args) else self.kwargs[name]

    def given(self):
        return [i for i, name in enumerate(self.schema.names)
                if i >= self.has_self and (i < len(self.args) or name in self.kwargs)]

    def refuse(self, i, details=None):
        name, kind, value = self.parameter(i)
        lines = [str(kind), "", "Position: %d" % i, "Value: %r" % (value,), "Declaration: " + self.declaration,
                 details or str(_unable(value, kind))]
        if kind.name == "Tensor" and self.is_inferred(name):
            lines[0] += " (inferred)"
            lines[1] = "\nInferred '%s' to be of type 'Tensor' because it was not annotated with an explicit " \
                "type." % name
        raise RuntimeError("%s() Expected a value of type '%s' for argument '%s' but instead found type '%s'.%s"
                           % (self.name, lines[0], name, _friendly(value), "\n".join(lines[1:])))

    def is_inferred(self, name):
        """Whether the function of Python says nothing of the parameter's type."""
        function = self.method.python_function()
        if function is None:
            return False
        try:
            parameter = inspect.signature(function).parameters.get(name)
        except (TypeError, ValueError):
            return False
        return parameter is not None and parameter.annotation is inspect.Parameter.empty


def _friendly(value):
    kind = type(value)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return "%s (aka NamedTuple(%s))" % (kind.__name__, ", ".join(kind._fields))
    return kind.__name__


def call(method, args, kwargs, message):
    """The call with its arguments as the parameters want them; RuntimeError for what they can't take."""
    call = _Call(method, args, kwargs)
    call.check_count()
    args, kwargs = list(args), dict(kwargs)
    for i in call.given():
        name, kind, value = call.parameter(i)
        try:
            value = convert(value, kind)
        except _Unfit as unfit:
            call.refuse(i, str(unfit))
        if i < len(call.args):
            args[i - call.has_self] = value
        else:
            kwargs[name] = value
    try:
        return method.call_as_is(*args, **kwargs)
    except _Refused as refused:
        message = str(refused)
    for i in call.given():
        if "for argument '%s' but instead" % call.parameter(i)[0] in message:
            call.refuse(i)
    raise RuntimeError(message)


def call_overloaded(methods, args, kwargs):
    """The call of the first method that takes the arguments as they are; else as the first one takes them."""
    for method in methods:
        try:
            return method.call_as_is(*args, **kwargs)
        except _Refused:
            pass
    return methods[0](*args, **kwargs)


def refuse(method, args, kwargs, message):
    """Raises what `call` makes the error of."""
    raise _Refused(message)
