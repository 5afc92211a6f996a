"""Builder: what functions that export operators write nodes with, `g` of their first argument, as torch names it.

`g.op("Conv", x, weight, group_i=1)` is a node; the letter after an attribute's name says of which kind it is: i, f,
s, t, g, lists of them alike. Numbers and tensors among the inputs become constants.
"""
import contextlib

import wick

from . import _model, _shapes
from .errors import SymbolicValueError

_CATEGORY = {wick.bool: 0, wick.complex64: 3, wick.complex128: 3}


def _category(dtype):
    return _CATEGORY.get(dtype, 2 if dtype.is_floating_point else 1)


class Builder:
    """Writes nodes into the innermost open block."""

    def __init__(self, opset, folds_parameters=True):
        self.opset, self.folds_parameters, self.names = opset, folds_parameters, _model.Names()
        self.sizes = _shapes.Sizes(self.names)
        self.block = _model.Block("main_graph")
        self.scope, self.place = "", None   # of the program's node that is being exported
        self._constants = {}
        self._known = {self.block: {}}      # block -> what was computed of sizes there

    # ---- nodes ----

    def op(self, kind, *inputs, outputs=1, **attributes):
        """A node; its output, or a tuple of several."""
        domain, _, kind = kind.rpartition("::")
        if (domain, kind) == ("", "Constant"):
            return self.constant(next(iter(attributes.values())))
        made = _model.Node(kind, "" if domain == "onnx" else domain,
                           [self._input(value) for value in inputs],
                           [_model.Value() for _ in range(outputs)], _attributes(attributes))
        made.place, made.name = self.place, self.names.take(self.scope + "/" + kind)
        for i, output in enumerate(made.outputs):
            output.name = self.names.take("%s_output_%d" % (made.name, i))
        _shapes.infer(made, self.sizes)
        self.block.nodes.append(made)
        return made.outputs[0] if outputs == 1 else tuple(made.outputs)

    def _input(self, value):
        if value is None or isinstance(value, _model.Value):
            return value and value.origin
        if isinstance(value, (list, tuple)):
            return self.ints(value)
        return self.constant(value)

    @contextlib.contextmanager
    def inner(self, name):
        """A nested block, open until the context ends."""
        outer, made = self.block, _model.Block(self.names.take(name), self.block)
        self._known[made] = {}
        self.block = made
        try:
            yield made
        finally:
            self.block = outer

    # ---- constants ----

    def constant(self, value, dtype=None):
        """A value that is known now."""
        if not isinstance(value, wick.Tensor):
            value = wick.tensor(value, dtype=dtype or (wick.float32 if isinstance(value, float) else None))
        value = value.detach()
        if dtype is not None and value.dtype != dtype:
            value = value.to(dtype)
        key = None
        if value.numel() <= 16 and value.dtype in _model.TYPES:
            key = (value.dtype, tuple(value.shape), repr(value.tolist()))
        made = self._constants.get(key)
        if made is None:
            made = _model.Value(None, value.dtype, value.shape, value)
            if key is not None:
                self._constants[key] = made
        return made

    def number(self, value, kind):
        """The value as a number of the program's: an int, a float, a bool."""
        return value.also(kind)

    def once(self, key, make):
        """What was made for this key; it is made the first time."""
        if key not in self._constants:
            self._constants[key] = make()
        return self._constants[key]

    # ---- dtypes ----

    def cast(self, value, dtype):
        """The value in that dtype."""
        if not isinstance(value, _model.Value):
            return self.constant(value, dtype)
        if value.dtype == dtype:
            return value
        if value.tensor is not None and not value.parameter:
            return self.constant(value.tensor, dtype)
        if dtype not in _model.TYPES:
            raise SymbolicValueError("ONNX has no %s" % dtype)
        return self.op("Cast", value, to_i=_model.TYPES[dtype])

    def common_dtype(self, values):
        """The dtype in which tensors and numbers are computed with one another."""
        groups = [None, None, None]  # tensors, tensors without dimensions, numbers
        for value in values:
            if not isinstance(value, _model.Value):
                group, dtype = 2, number_dtype(value)
            elif value.number is not None:
                group, dtype = 2, _NUMBERS[value.number]()
            else:
                group, dtype = 1 if value.rank == 0 else 0, value.dtype
                if dtype is None:
                    raise SymbolicValueError("the dtype of %r is not known" % value, value)
            groups[group] = dtype if groups[group] is None else wick.promote_types(groups[group], dtype)
        return _combined(_combined(groups[0], groups[1]), groups[2])

    def promoted(self, *values):
        """The values in the dtype that they have in common."""
        dtype = self.common_dtype(values)
        return [self.cast(value, dtype) for value in values]

    # ---- sizes ----

    def _cached(self, key, make):
        block = self.block
        while block is not None:
            if key in self._known[block]:
                return self._known[block][key]
            block = block.outer
        made = self._known[self.block][key] = make()
        return made

    def size(self, value, dim):
        """A size: an int where it is known now, a number of the model otherwise."""
        if value.shape is None:
            if dim < 0:
                raise SymbolicValueError("the rank of %r is not known" % value, value)
            known = None
        else:
            known = value.shape[dim]
            if isinstance(known, int):
                return known

        def make():
            shape = self._cached((value, "shape"), lambda: self.op("Shape", value))
            position = _shapes.dim_of(dim, len(value.shape)) if value.shape is not None else dim
            made = self.op("Gather", shape, self.constant(position), axis_i=0)
            made.number, made.size_name = "int", known
            return made
        return self._cached(("size", known) if known is not None else (value, dim), make)

    def shape(self, value):
        """The sizes, as a list of ints and numbers of the model."""
        if value.shape is None:
            raise SymbolicValueError("the rank of %r is not known" % value, value)
        return [self.size(value, i) for i in range(len(value.shape))]

    def shape_of(self, value):
        """The sizes, as a tensor of the model."""
        if value.shape is not None and all(isinstance(size, int) for size in value.shape):
            return self.constant(wick.tensor(list(value.shape), dtype=wick.int64))
        return self._cached((value, "shape"), lambda: self.op("Shape", value))

    def ints(self, values):
        """A tensor of ints, numbers of the model among them."""
        if isinstance(values, _model.Value):
            return values
        if all(not isinstance(value, _model.Value) for value in values):
            return self.constant(wick.tensor(list(values), dtype=wick.int64))
        parts = []
        for value in values:
            if not isinstance(value, _model.Value):
                parts.append(self.constant(wick.tensor([value], dtype=wick.int64)))
            else:
                value = self.cast(value, wick.int64)
                parts.append(value if value.rank == 1 else self.op("Unsqueeze", value, [0]))
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis_i=0)

    def numel(self, value):
        """How many elements: an int where it is known now, a number of the model otherwise."""
        if value.shape is not None and all(isinstance(size, int) for size in value.shape):
            count = 1
            for size in value.shape:
                count *= size
            return count
        made = self.op("Size", value)
        made.number = "int"
        return made


_NUMBERS = {"bool": lambda: wick.bool, "int": lambda: wick.int64, "float": wick.get_default_dtype}


def number_dtype(value):
    """The dtype of a number of Python's."""
    if isinstance(value, bool):
        return wick.bool
    return wick.int64 if isinstance(value, int) else wick.get_default_dtype()


def _combined(higher, lower):
    if higher is None or lower is None:
        return higher or lower
    return wick.promote_types(higher, lower) if _category(lower) > _category(higher) else higher


def _attributes(given):
    found = {}
    for name, value in given.items():
        name, _, letter = name.rpartition("_")
        if letter not in ("i", "f", "s", "t", "g") or not name:
            raise ValueError("%s_%s: an attribute's name ends in _i, _f, _s, _t or _g" % (name, letter))
        if value is not None:
            found[name] = (letter, list(value) if isinstance(value, (tuple, list)) else value)
    return found
