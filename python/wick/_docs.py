"""What help() tells of an operator: its schemas from the rows; shapes and errors by calling it with small tensors, so
that they are what it does."""
import itertools
import re

from . import _C

# Sizes of the tensors of a call, by how many it takes: tried in this order.
_SIZES = {
    0: [[]],
    1: [[(2, 3)], [(3, 3)], [(1, 2, 4, 4)], [(4,)], [()], [(0,)]],
    2: [[(2, 3), (2, 3)], [(2, 3), (3,)], [(2, 3), (3, 4)], [(2, 3), (4, 3)], [(1, 2, 4, 4), (3, 2, 2, 2)],
        [(4,), (4,)], [(2, 3, 4), (2, 4, 5)], [(3, 3), (3,)], [(2, 3), (2, 4)]],
    3: [[(2, 3), (2, 3), (2, 3)], [(2, 4), (2, 3), (3, 4)], [(2, 3), (4, 3), (4,)], [(2,), (2, 3), (3,)],
        [(1, 2, 4, 4), (3, 2, 2, 2), (3,)], [(2, 3), (2, 4), (2, 3)]],
}
_DTYPES = ("bool", "int64", "float16", "float32", "complex64")
_SHOWN = {"shapes": 3, "errors": 2}


def _parameters(schema):
    """(type, name, whether it has a default) of each; None where there is any number of them."""
    inside = schema[schema.index("(") + 1:schema.rindex(")", 0, schema.rindex(" -> "))]
    found = []
    for part in re.split(r", (?![^\[]*\])", inside):
        if part == "*" or not part:
            continue
        if " " not in part.split("=")[0]:
            return None
        kind, name = part.split("=")[0].rsplit(" ", 1)
        found.append((kind, name, "=" in part))
    return found


def _example(kind, name):
    """An argument that is no tensor; None where none is known."""
    if re.match(r"(Sym)?[Ii]nt\[", kind):
        return [0] if "dim" in name else [2, 3] if name in ("size", "shape", "sizes") else [2, 2]
    return {"int": 0 if "dim" in name else 1, "SymInt": 1, "float": 0.5, "Scalar": 2, "bool": True,
            "ScalarType": _C.float32}.get(kind)


def _plain(schema):
    """The parameters that a call of the overload needs: None where it writes, or wants what has no example."""
    parameters = _parameters(schema)
    if parameters is None or "!" in schema or "Tensor" not in schema.rpartition(" -> ")[2]:
        return None
    needed = [(kind.replace("(a)", ""), name) for kind, name, has_default in parameters if not has_default]
    tensors = sum(kind.startswith("Tensor") for kind, _ in needed)
    known = all(kind in ("Tensor", "Tensor[]") or _example(kind, name) is not None for kind, name in needed)
    return needed if known and tensors in _SIZES else None


def _shape_text(value):
    if isinstance(value, _C.Tensor):
        return str(tuple(value.shape))
    return ", ".join(map(_shape_text, value)) if isinstance(value, (tuple, list)) else repr(value)


def _tensor(name, size, dtype):
    """Small numbers other than zero; of square matrices positive definite ones; indices where the name says so."""
    if name in ("index", "indices"):
        return _C.operator("aten::zeros")(size, dtype=_C.int64)
    made = _C.operator("aten::ones")(size, dtype=dtype)
    if len(size) == 2 and size[0] == size[1] and dtype is not _C.bool:
        made += _C.operator("aten::eye")(size[0], dtype=dtype)
    return made


class _Trials:
    """Calls of an overload with small tensors."""

    def __init__(self, name, overload, needed):
        self.name, self.overload, self.needed = name, overload, needed
        self.count = sum(kind.startswith("Tensor") for kind, _ in needed)

    def call(self, sizes, dtype):
        """The text of a call, and its result or exception."""
        sizes, texts, given = iter(sizes), [], []
        for kind, name in self.needed:
            if kind == "Tensor":
                size = next(sizes)
                texts.append(str(size))
                given.append(_tensor(name, size, dtype))
            elif kind == "Tensor[]":
                size = next(sizes)
                texts.append("[%s, %s]" % (size, size))
                given.append([_tensor(name, size, dtype)] * 2)
            else:
                given.append(_example(kind, name))
                texts.append(repr(given[-1]))
        try:
            result = self.overload(*given)
        except Exception as error:
            result = error
        return "%s(%s)" % (self.name, ", ".join(texts)), result

    def run(self):
        """(lines about shapes, lines about errors)."""
        shapes, errors, right = [], {}, None
        for sizes in _SIZES[self.count]:
            text, result = self.call(sizes, _C.float32)
            if isinstance(result, Exception):
                errors.setdefault(_message(result), text)
            else:
                right = sizes if right is None else right
                shapes.append("%s -> %s" % (text, _shape_text(result)))
        if right is None:
            return [], []
        refusals = {}
        for dtype in _DTYPES:
            _, result = self.call(right, getattr(_C, dtype))
            if isinstance(result, Exception):
                refusals.setdefault(_message(result), []).append(dtype)
        lines = ["%s: %s" % (text, message) for message, text in itertools.islice(errors.items(), _SHOWN["errors"])]
        lines += ["of %s: %s" % (", ".join(dtypes), message) for message, dtypes in refusals.items()]
        return shapes[:_SHOWN["shapes"]], lines


def _message(error):
    return "%s: %s" % (type(error).__name__, str(error).split("\n")[0])


def _trials(operator):
    """Shapes and errors of the first overload that can be tried."""
    from .autograd import no_grad
    from .random import fork_rng
    name = operator.__name__.rpartition(".")[0] or operator.__name__
    plain = [(schema[:schema.index("(")], _plain(schema)) for schema in operator.schemas]
    plain = [(head, needed) for head, needed in plain if needed is not None]
    for head, needed in sorted(plain, key=lambda pair: -sum(kind == "Tensor" for kind, _ in pair[1])):
        overload = _C.operator(head if "." in head else head + ".default")
        with no_grad(), fork_rng():
            shapes, errors = _Trials(name, overload, needed).run()
        if shapes:
            return shapes, errors
    return [], []


def operator_doc(operator):
    """The text of an operator's __doc__."""
    schemas = operator.schemas
    eager = [schema for schema in schemas if "Tensor" in schema or "ScalarType" in schema]
    parts = ["\n".join(eager)]
    if not _C._trace_is_on():
        for title, lines in zip(("Shapes", "Errors"), _trials(operator)):
            if lines:
                parts.append("%s:\n%s" % (title, "\n".join("    " + line for line in lines)))
    others = [schema for schema in schemas if schema not in eager]
    if others:
        parts.append(("In programs also:\n%s" if eager else "In programs alone:\n%s")
                     % "\n".join("    " + schema for schema in others))
    return "\n\n".join(part for part in parts if part)
