"""Sizes of a graph's tensors from those of its inputs, with symbols for unknown ones, as torch's pass gives them: it
needs no dtypes and tells none. wick's pass runs operators without data, and so on a copy whose inputs have dtypes."""

from .. import _C
from . import _graph_types


def _is_tensor(kind):
    return isinstance(kind, _graph_types.TensorType)


def _of_copy(kind, named):
    sizes = []
    for size in kind._sizes:
        sizes.append(named.setdefault(size, -1 - len(named)) if size is not None and size < 0 else size)
    dtype, device = kind._dtype or _C.float32, kind._device or _C.device("cpu")
    return kind._changed(sizes=sizes, strides=None, dtype=dtype, device=device)


def propagate(graph, values):
    """Sets the sizes of values that have none; `values(block)` are those of a block and of the blocks in it."""
    made, named = graph.copy(), {}
    for value in made.inputs():
        kind = value.type()
        if _is_tensor(kind) and kind._sizes is not None:
            value.setType(_of_copy(kind, named))
    made.run_pass("symbolic_shape_analysis")
    symbols = {number: symbol for symbol, number in named.items()}
    for value, found in zip(values(graph.block()), values(made.block())):
        kind, known = value.type(), found.type()
        if not _is_tensor(kind) or not _is_tensor(known) or known._sizes is None or kind.sizes() is not None:
            continue
        sizes = []
        for size in known._sizes:
            if size is not None and size < 0:
                if size not in symbols:
                    symbols[size] = _graph_types.next_symbol()
                size = symbols[size]
            sizes.append(size)
        value.setType(kind._changed(sizes=sizes, strides=None))

