"""What is known now is computed now, by wick's own operators: programs of one operator, one for each kind of call."""
import functools

import wick

from .. import _C
from ..jit import _graph
from . import _model
from .errors import SymbolicValueError

# Constants above this many elements are made when the model runs, where an operator makes much of little.
LARGEST = 1 << 16
_GROWS = frozenset("""aten::expand aten::expand_as aten::repeat aten::zeros aten::ones aten::full aten::zeros_like
    aten::ones_like aten::full_like aten::new_zeros aten::new_ones aten::new_full aten::empty aten::eye
    aten::broadcast_to aten::tile""".split())


def is_known(value):
    """Whether a value of the program is known now, whole."""
    if isinstance(value, _model.Value):
        return value.tensor is not None
    if isinstance(value, (list, tuple)):
        return getattr(value, "sequence", None) is None and all(is_known(item) for item in value)
    if isinstance(value, dict):
        return all(is_known(item) for item in value.values())
    return value is None or isinstance(value, (int, float, complex, str, _C.device, _C.Generator))


def has_parameter(values):
    """Whether one of them is a parameter of the module, or a list that has one."""
    return any(value.parameter if isinstance(value, _model.Value) else
               has_parameter(value) if isinstance(value, (list, tuple)) else False for value in values)


def plain(value):
    """The value that wick's operators take."""
    if isinstance(value, _model.Value):
        return value.tensor
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value) if type(value) in (list, tuple) else \
            [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def type_of(value):
    """The type of such a value, as graphs print it; None where it has none of its own."""
    if isinstance(value, wick.Tensor):
        return "Tensor"
    for kind, text in ((bool, "bool"), (int, "int"), (float, "float"), (complex, "complex"), (str, "str"),
                       (_C.device, "Device"), (type(None), "NoneType")):
        if isinstance(value, kind):
            return text
    if isinstance(value, list):
        kinds = {type_of(item) for item in value}
        if kinds == {"Tensor", "NoneType"}:
            return "Tensor?[]"
        return kinds.pop() + "[]" if len(kinds) == 1 and None not in kinds else None
    if isinstance(value, tuple):
        kinds = [type_of(item) for item in value]
        return None if None in kinds else "(%s)" % ", ".join(kinds)
    return None


@functools.lru_cache(maxsize=512)  # each a compiled program
def _program(kind, types, results):
    inputs = ", ".join("%%a%d : %s" % pair for pair in enumerate(types))
    outputs = ", ".join("%%o%d : %s" % pair for pair in enumerate(results))
    text = "graph(%s):\n  %s = %s(%s)\n  return (%s)\n" % (
        inputs, outputs, kind, ", ".join("%%a%d" % i for i in range(len(types))),
        ", ".join("%%o%d" % i for i in range(len(results))))
    return _C.graph_parse(text).compile("one").function("one")


@functools.lru_cache(maxsize=512)
def _result_of(kind, types):
    """The type of what the operator gives for such arguments, where no node tells it."""
    if "Tensor" in types or "Tensor[]" in types:
        return ("Tensor",)
    graph = _graph.Graph()
    for text in types:
        graph.addInput().set_type_text(text)
    return (graph.insert(kind, list(graph.inputs())).type_text(),)


def compute(kind, values, types=None, results=None):
    """What the operator gives for values that are known; `types` says what their types are where they don't."""
    values = [plain(value) for value in values]
    own = [type_of(value) for value in values]
    types = types or [None] * len(own)
    texts = tuple(text or given or "int[]" for text, given in zip(own, types))
    try:
        program = _program(kind, texts, tuple(results or _result_of(kind, texts)))
    except RuntimeError as error:  # of classes, whose types a graph alone doesn't know
        raise SymbolicValueError("it is not exported for arguments of %s" % ", ".join(texts)) from error
    with wick.no_grad():
        return program(*values)


def grows(kind, values):
    """Whether the operator makes a large tensor of little."""
    if kind not in _GROWS:
        return False
    sizes = [item for value in values if isinstance(value, (list, tuple)) for item in value if isinstance(item, int)]
    count = 1
    for size in sizes:
        count *= max(size, 1)
    count = max([count] + [value.tensor.numel() for value in values if isinstance(value, _model.Value)])
    return count > LARGEST
