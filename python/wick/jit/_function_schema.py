"""Schemas as objects, as torch._C has them: FunctionSchema and Argument, read from their text."""

import functools
import re

from .. import _C
from . import _graph_types

_ALIAS = re.compile(r"(?<=[\w\])?])(?<!Future)(?<!RRef)(?<!Dict)(?<!Union)"
                    r"\(([a-z*](?:\|[a-z*])*)(!?)(?: -> ([a-z*](?:\|[a-z*])*))?\)")
_SIZE = re.compile(r"\[(\d+)\]")


class AliasInfo:
    """What an argument shares memory with."""

    def __init__(self, before, is_write, after):
        self.is_write = is_write
        self.before_set = set(before.split("|"))
        self.after_set = set((after or before).split("|"))


class Argument:
    """A parameter or a result: name, type, default_value, N (of a list that a number stands for), kwarg_only."""

    def __init__(self, text, kwarg_only, is_result=False):
        text, self._default = _cut_default(text)
        self.kwarg_only, self.alias_info, self.N = kwarg_only, None, None
        aliases = _ALIAS.search(text)
        if aliases:
            self.alias_info = AliasInfo(aliases.group(1), bool(aliases.group(2)), aliases.group(3))
            text = _ALIAS.sub("", text)
        size = _SIZE.search(text)
        if size:
            self.N = int(size.group(1))
            text = _SIZE.sub("[]", text)
        kind, name = _cut_name(text)
        if is_result and not name:
            kind, name = text, ""
        self.name, self._type_text = name, kind

    @functools.cached_property
    def type(self):
        """Its type, an object."""
        return _graph_types.parse(self._type_text)

    def has_default_value(self):
        """Whether it may be left out."""
        return self._default is not None

    @functools.cached_property
    def default_value(self):
        """What it is where it is left out; None, too, where it can't be."""
        if self._default is None:
            return None
        value = _value(self._default)
        if self.N is not None and not isinstance(value, (list, type(None))):
            value = [value] * self.N
        return value


def _outside(text, sign):
    """The places of a sign that stands in no brackets and no quotes."""
    depth, quote = 0, None
    for i, letter in enumerate(text):
        if quote:
            quote = None if letter == quote and text[i - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == sign and not depth:
            yield i


def _cut_default(text):
    at = next(_outside(text, "="), None)
    return (text.strip(), None) if at is None else (text[:at].strip(), text[at + 1:].strip())


def _cut_name(text):
    found = re.fullmatch(r"(.*[^\s.])\s+([A-Za-z_]\w*)", text, re.S)
    return (found.group(1), found.group(2)) if found else (text, "")


# What stands for a number in texts of schemas.
_WORDS = {"None": None, "True": True, "False": False, "Mean": 1, "Sum": 2, "strided": _C.strided, "long": _C.int64,
          "contiguous_format": _C.contiguous_format, "preserve_format": _C.preserve_format}


def _value(text):
    import ast
    if text in _WORDS:
        return _WORDS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _split(text):
    """At the commas that stand in no brackets and no quotes."""
    parts, begin = [], 0
    for at in _outside(text, ","):
        parts.append(text[begin:at].strip())
        begin = at + 1
    last = text[begin:].strip()
    return parts + [last] if last else parts


class FunctionSchema:
    """What a function or an operator takes and gives; str() is its text."""

    def __init__(self, text):
        self._text = text
        head = text[:text.index("(")]
        self.name, _, self.overload_name = head.partition(".") if "::" in head else (head, "", "")

    def __str__(self):
        return self._text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, FunctionSchema) and self._text == other._text

    def __hash__(self):
        return hash(self._text)

    @functools.cached_property
    def _parts(self):
        parameters, _, results = self._text.partition(") -> ")
        parameters = _split(parameters[parameters.index("(") + 1:])
        if results.startswith("(") and results.endswith(")"):
            results = _split(results[1:-1])
        else:
            results = [results]
        made, kwarg_only = [], False
        for text in parameters:
            if text == "*":
                kwarg_only = True
            elif text != "...":
                made.append(Argument(text, kwarg_only))
        return made, [Argument(text, False, True) for text in results if text != "..."]

    @property
    def arguments(self):
        """Its parameters."""
        return list(self._parts[0])

    @property
    def returns(self):
        """Its results."""
        return list(self._parts[1])

    @property
    def is_mutable(self):
        """Whether it writes to an argument."""
        return any(one.alias_info is not None and one.alias_info.is_write for one in self._parts[0])

    def is_backward_compatible_with(self, old):
        """Whether calls that were made for the other schema are calls for this one."""
        if self.name != old.name or self.overload_name != old.overload_name:
            return False
        if len(self.returns) != len(old.returns) or len(self.arguments) < len(old.arguments):
            return False
        if not all(mine.type.isSubtypeOf(its.type) for mine, its in zip(self.returns, old.returns)):
            return False
        for its in old.arguments:
            mine = next((one for one in self.arguments if one.name == its.name), None)
            if mine is None or mine.kwarg_only and not its.kwarg_only or mine.N != its.N:
                return False
            if not its.type.isSubtypeOf(mine.type) or its.has_default_value() and not mine.has_default_value():
                return False
        places = [[one.name for one in schema.arguments if not one.kwarg_only] for schema in (self, old)]
        if places[0][:len(places[1])] != places[1]:
            return False
        known = {one.name for one in old.arguments}
        return all(one.has_default_value() for one in self.arguments if one.name not in known)


def parse_schema(text):
    """The FunctionSchema of its text; RuntimeError where that is none."""
    found = re.match(r"\s*[\w:.]+\(", text)
    if not found or ") -> " not in text:
        raise RuntimeError("expected a schema, name(TYPE name, ...) -> TYPE, but got %r" % text)
    made = FunctionSchema(text.strip())
    for one in made.arguments + made.returns:
        one.type  # raises where it is none
    return made


# ---- of operators ----

def _schemas(name):
    try:
        return [FunctionSchema(text) for text in _C.operator(name).schemas]
    except AttributeError:
        return []


def get_schemas_for_operator(name):
    """The schemas of all overloads of "aten::add"; none where there is no such operator."""
    return _schemas(name)


def get_schema(name, overload_name):
    """That of one overload."""
    for schema in _schemas(name):
        if schema.overload_name == overload_name:
            return schema
    raise RuntimeError("Found no matching schema")


def get_all_schemas():
    """Those of all operators."""
    return [schema for name in _C.operator_names() for schema in _schemas(name)]


def get_operation(name):
    """An operator as a function, and the names of its overloads."""
    schemas = _schemas(name)
    if not schemas:
        raise RuntimeError("No such operator " + name)
    return _C.operator(name), [schema.overload_name for schema in schemas]


NAMES = {"FunctionSchema": FunctionSchema, "Argument": Argument, "parse_schema": parse_schema,
         "_get_schema": get_schema, "_jit_get_all_schemas": get_all_schemas,
         "_jit_get_schemas_for_operator": get_schemas_for_operator, "_jit_get_operation": get_operation}
