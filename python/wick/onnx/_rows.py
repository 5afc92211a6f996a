"""The table of operators that are exported: a function for each, of the Builder and the operator's arguments.

Arguments are values of the model, Python's numbers, strings and lists where they are known now. What takes lists and
dicts of the program themselves, or what stands behind a tensor, is noted with `of_program`: its first argument is the
Walk, tensors are Cells.
"""
from . import _model
from .errors import SymbolicValueError

ROWS, OF_PROGRAM, CUSTOM, VIEWS = {}, {}, {}, {}

# operators that give several views
PIECES = frozenset(("aten::chunk", "aten::split", "aten::split_with_sizes", "aten::tensor_split", "aten::unbind"))
# operators that give a view or a copy, as the tensor lies in memory
MAY_COPY = frozenset(("aten::contiguous", "aten::reshape", "aten::flatten", "aten::reshape_as"))
# operators that take a sequence of the model for their list
OF_SEQUENCES = frozenset("aten::" + name for name in (
    "cat", "concat", "concatenate", "stack", "tensor", "len", "__getitem__", "append", "extend", "add_", "__is__",
    "__isnot__"))
READ_ONLY_VIEWS = frozenset(("aten::expand", "aten::expand_as", "aten::broadcast_to", "aten::diagonal",
                             "aten::unfold", "aten::movedim", "aten::numpy_T"))


def _full(name):
    return name if "::" in name else "aten::" + name


def row(*names):
    """Notes how operators are exported."""
    def note(function):
        for name in names:
            ROWS[_full(name)] = function
        return function
    return note


def of_program(*names):
    """Notes what operators do to the program's own objects."""
    def note(function):
        for name in names:
            OF_PROGRAM[_full(name)] = function
        return function
    return note


def view(*names):
    """Notes how the base of a view changes when the view is written to: a function of the Walk, the base's value,
    what is written and the operator's other arguments."""
    def note(function):
        for name in names:
            VIEWS[_full(name)] = function
        return function
    return note


def find(name, opset):
    """How an operator is exported: what was registered for it, up to this opset; the own row; or None."""
    versions = [version for version in CUSTOM.get(name, ()) if version <= opset]
    return CUSTOM[name][max(versions)] if versions else ROWS.get(name)


def need_opset(g, wanted, what):
    """Raises where the model's opset is older than what is needed."""
    if g.opset < wanted:
        raise SymbolicValueError("%s needs opset %d; this is opset %d" % (what, wanted, g.opset))


def known_now(value, what):
    """Raises where a number, or a list of them, is only known when the model runs."""
    if isinstance(value, (list, tuple)):
        return [known_now(item, what) for item in value]
    if not isinstance(value, _model.Value):
        return value
    if value.tensor is not None and value.tensor.numel() == 1:
        return value.tensor.item()
    raise SymbolicValueError("%s must be known when the model is made" % what, value)


def rank_of(value, what):
    """The rank; raises where it is not known."""
    if value.shape is None:
        raise SymbolicValueError("%s needs to know how many dimensions %r has" % (what, value), value)
    return len(value.shape)
