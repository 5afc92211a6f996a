"""What a program holds while it is exported: tensors that can be written to, lists that can be."""
from . import _model

_CONTIGUOUS = frozenset("aten::" + name for name in (
    "view", "reshape", "flatten", "unflatten", "view_as", "reshape_as", "squeeze", "unsqueeze", "detach", "alias",
    "contiguous", "to", "data"))


class Cell:
    """A tensor of the program: which value of the model it is now. A view has a base and is computed anew after the
    base was written to; what is written to a view is written to its base."""

    __slots__ = ("walk", "depth", "base", "_view", "_value", "_version", "_seen")

    def __init__(self, walk, value, base=None, view=None):
        self.walk, self._value, self.depth = walk, value, walk.depth
        self.base, self._view = base, view  # view: (operator's name, its other arguments)
        self._version, self._seen = 0, base.version() if base is not None else 0

    def version(self):
        """Another number after every write."""
        return self._version + (self.base.version() if self.base is not None else 0)

    @property
    def value(self):
        """The value of the model that it is."""
        if self.base is not None and self._seen != self.base.version():
            made = self.walk.view_of(self.base.value, *self._view)
            if self.walk.depth > self.depth:
                return made  # a block of the model keeps it to itself
            self._seen, self._value = self.base.version(), made
        return self._value

    def is_contiguous(self):
        """Whether its elements lie in order, as far as its views tell."""
        if self.base is None:
            return True
        kind, rest = self._view
        first = kind in ("aten::select", "aten::slice", "aten::narrow") and rest[0] == 0
        return (kind in _CONTIGUOUS or first) and self.base.is_contiguous()

    def write(self, value):
        """From now on it is that value."""
        if self.base is not None:
            self.base.write(self.walk.written_through(self.base.value, value, *self._view))
            self._seen, self._value = self.base.version(), value
            return
        self.walk.note_write(self)
        self._value = value
        self._version += 1

    def put_back(self, value):
        """write() without a note, when a branch has ended."""
        self._value = value
        self._version += 1


class List(list):
    """A list of the program. In a loop of the model whose length is not known it is a sequence of the model;
    `inserted` are the values that were appended to that, and `kind` is theirs where they are numbers."""

    __slots__ = ("sequence", "depth", "inserted", "kind")

    def __init__(self, items, depth):
        super().__init__(items)
        self.sequence, self.depth, self.inserted, self.kind = None, depth, [], None


class Module:
    """A module of the program: an object, and its path from the outermost one."""

    __slots__ = ("handle", "path")

    def __init__(self, handle, path):
        self.handle, self.path = handle, path


class Unsettled:
    """prim::Uninitialized: what no path of the program reads."""


UNSETTLED = Unsettled()


def value_of(thing):
    """The thing with the values of the model in the place of cells."""
    if isinstance(thing, Cell):
        return thing.value
    if isinstance(thing, List) and thing.sequence is not None:
        return thing.sequence
    if isinstance(thing, (list, tuple)):
        items = [value_of(item) for item in thing]
        return tuple(items) if isinstance(thing, tuple) else items
    if isinstance(thing, dict):
        return {key: value_of(item) for key, item in thing.items()}
    return thing


def flatten(thing):
    """The values of the model and numbers in nested tuples, lists and dicts, in order."""
    if isinstance(thing, dict):
        return [part for item in thing.values() for part in flatten(item)]
    if isinstance(thing, (list, tuple)) and getattr(thing, "sequence", None) is None:
        return [part for item in thing for part in flatten(item)]
    return [value_of(thing)]


def rebuilt(thing, values):
    """A thing of the same nesting, of these values (an iterator)."""
    if isinstance(thing, dict):
        return {key: rebuilt(item, values) for key, item in thing.items()}
    if isinstance(thing, tuple):
        return tuple(rebuilt(item, values) for item in thing)
    if isinstance(thing, list) and getattr(thing, "sequence", None) is None:
        return [rebuilt(item, values) for item in thing]
    return next(values)


def nesting(thing):
    """What two things have in common that rebuilt() can make of one another's values."""
    if isinstance(thing, dict):
        return ("dict", tuple((key, nesting(item)) for key, item in thing.items()))
    if isinstance(thing, tuple):
        return ("tuple",) + tuple(nesting(item) for item in thing)
    if isinstance(thing, list) and getattr(thing, "sequence", None) is None:
        return ("list",) + tuple(nesting(item) for item in thing)
    if isinstance(thing, list):
        return "sequence"
    if isinstance(thing, Cell) or isinstance(thing, _model.Value) and thing.number is None:
        return "tensor"
    return "number" if isinstance(thing, (int, float, _model.Value)) else ("other", thing)


def pieces(walk, base, kind, values, made):
    """Views for what an operator cuts a tensor into."""
    dim, at, found = values[1] if kind == "aten::unbind" else values[2], 0, []
    for i, value in enumerate(made):
        if kind == "aten::unbind":
            view = ("aten::select", [dim, i])
        else:
            size = value.shape[dim] if value.shape is not None else None
            end = at + size if isinstance(size, int) and at is not None else None
            view = ("aten::slice", [dim, at, end, 1]) if end is not None else (kind, values[1:])
            at = end
        found.append(Cell(walk, value, base, view))
    return found
