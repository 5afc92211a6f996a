"""How taking elements and putting them back is exported."""
import wick

from . import _model
from ._rows import ROWS, rank_of, row
from ._shapes import dim_of
from ._symbolic_shape import permuted, reshape
from .errors import SymbolicValueError

Value = _model.Value


def nonzero(g, x):
    """The positions of what is not zero, a row for each."""
    return g.op("Transpose", g.op("NonZero", x if x.dtype != wick.bfloat16 else g.cast(x, wick.bool)), perm_i=[1, 0])


ROWS["aten::nonzero"] = nonzero


@row("nonzero_numpy")
def _nonzero_numpy(g, x):
    return ROWS["aten::where"](g, g.op("Not", ROWS["aten::eq"](g, x, 0)))


@row("argwhere")
def _argwhere(g, x):
    return nonzero(g, x)


@row("index_select")
def _index_select(g, x, dim, index):
    if index.rank == 0:
        index = g.op("Unsqueeze", index, [0])
    return g.op("Gather", x, index, axis_i=dim_of(dim, rank_of(x, "index_select")))


@row("gather")
def _gather(g, x, dim, index, *rest):
    return g.op("GatherElements", x, index, axis_i=dim_of(dim, rank_of(x, "gather")))


@row("take")
def _take(g, x, index):
    return g.op("Gather", reshape(g, x, [-1]), index, axis_i=0)


@row("take_along_dim")
def _take_along_dim(g, x, index, dim=None):
    return _take(g, x, index) if dim is None else _gather(g, x, dim, index)


@row("masked_select")
def _masked_select(g, x, mask):
    items = ROWS["aten::broadcast_tensors"](g, [x, mask])
    return g.op("Compress", *[reshape(g, item, [-1]) for item in items])


def _indices(g, x, items):
    """(dimension, index) for each index that is given; masks as the positions where they are true."""
    found, dim = [], 0
    for item in items:
        if item is None:
            dim += 1
        elif item.dtype in (wick.bool, wick.uint8):
            rank = rank_of(item, "a mask")
            at = nonzero(g, item)
            parts = [at] if rank == 1 else g.op("Split", at, [1] * rank, axis_i=1, outputs=rank)
            found.extend((dim + i, g.op("Squeeze", part, [1])) for i, part in enumerate(parts))
            dim += rank
        else:
            found.append((dim, item))
            dim += 1
    return found


@row("index")
def index(g, x, items):
    """x[items]: tensors of positions, None for dimensions that stay whole."""
    if not isinstance(items, list):
        items = [items]
    found = _indices(g, x, items)
    if not found:
        return x
    if len(found) == 1:
        dim, at = found[0]
        return g.op("Gather", x, at, axis_i=dim)
    rank, dims = rank_of(x, "index"), [dim for dim, _ in found]
    order = dims + [i for i in range(rank) if i not in dims]
    front = permuted(g, x, order)
    at = _positions(g, [each for _, each in found])
    made = g.op("GatherND", front, at)
    is_run = dims == list(range(dims[0], dims[0] + len(dims)))
    if not is_run or dims[0] == 0:
        return made
    n = rank_of(at, "index") - 1  # the positions' dimensions go where the first index stood
    order = list(range(n, n + dims[0])) + list(range(n)) + list(range(n + dims[0], n + rank - len(dims)))
    return permuted(g, made, order)


def _positions(g, items):
    """Positions in several dimensions, as one tensor with those of an element in its last dimension."""
    items = ROWS["aten::broadcast_tensors"](g, items) if len({item.shape for item in items}) > 1 else items
    items = [g.cast(item, wick.int64) for item in items]
    rank = rank_of(items[0], "an index")
    return g.op("Concat", *[g.op("Unsqueeze", item, [rank]) for item in items], axis_i=-1)


@row("index_put", "_index_put_impl")
def _index_put(g, x, items, values, accumulate=False, *rest):
    items = [item for item in items]
    masks = [item for item in items if item is not None and item.dtype == wick.bool]
    if len(masks) == 1 and len(items) == 1 and values.rank == 0 and not accumulate:
        return _where_mask(g, x, masks[0], values)
    found = _indices(g, x, items)
    rank, dims = rank_of(x, "index_put"), [dim for dim, _ in found]
    order = dims + [i for i in range(rank) if i not in dims]
    at = _positions(g, [each for _, each in found])
    front = permuted(g, x, order)
    n = rank_of(at, "index_put") - 1
    wanted = g.shape(at)[:n] + g.shape(front)[len(dims):]
    values = ROWS["aten::expand"](g, g.cast(_in_front(g, values, dims, n, rank), x.dtype), wanted)
    if accumulate and g.opset < 16:
        raise SymbolicValueError("index_put that adds needs opset 16")
    made = g.op("ScatterND", front, at, values, reduction_s="add" if accumulate else None)
    return permuted(g, made, [order.index(i) for i in range(rank)])


def _in_front(g, values, dims, n, rank):
    """Values whose positions' dimensions stand where the first index stood, with those in front."""
    is_run = dims == list(range(dims[0], dims[0] + len(dims)))
    if not is_run or dims[0] == 0 or rank_of(values, "index_put") < n + rank - len(dims):
        return values
    before = dims[0]
    order = list(range(before, before + n)) + list(range(before)) + list(range(before + n, values.rank))
    return permuted(g, values, order)


def _where_mask(g, x, mask, value):
    rank = rank_of(x, "index_put")
    more = rank - rank_of(mask, "a mask")
    if more:
        mask = g.op("Unsqueeze", mask, list(range(rank - more, rank)))
    return g.op("Where", mask, g.cast(value, x.dtype), x)


@row("masked_scatter")
def _masked_scatter(g, x, mask, source):
    mask = ROWS["aten::expand_as"](g, mask, x)
    at = nonzero(g, mask)
    source = g.op("Slice", reshape(g, source, [-1]), [0], g.ints([g.size(at, 0)]), [0])
    return g.op("ScatterND", x, at, source)


@row("scatter")
def _scatter(g, x, dim, at, source, reduce=None):
    dim = dim_of(dim, rank_of(x, "scatter"))
    if not isinstance(source, Value) or source.rank == 0:
        source = ROWS["aten::expand"](g, g.cast(source, x.dtype), g.shape(at))
    else:
        source = _cut_to(g, g.cast(source, x.dtype), at)
    if reduce is not None and g.opset < 16:
        raise SymbolicValueError("scatter that reduces needs opset 16")
    return g.op("ScatterElements", x, at, source, axis_i=dim,
                reduction_s={None: None, "add": "add", "multiply": "mul"}[reduce])


def _cut_to(g, source, at):
    """The part of a source that positions stand for."""
    if source.shape is not None and source.shape == at.shape:
        return source
    rank = rank_of(at, "scatter")
    return g.op("Slice", source, [0] * rank, g.ints(g.shape(at)), list(range(rank)))


@row("scatter_add")
def _scatter_add(g, x, dim, at, source):
    return _scatter(g, x, dim, at, source, "add")


@row("index_fill")
def _index_fill(g, x, dim, at, value):
    dim, rank = dim_of(dim, rank_of(x, "index_fill")), rank_of(x, "index_fill")
    if at.rank == 0:
        at = g.op("Unsqueeze", at, [0])
    wide = g.op("Unsqueeze", at, [i for i in range(rank) if i != dim]) if rank > 1 else at
    sizes = g.shape(x)
    wide = ROWS["aten::expand"](g, wide, sizes[:dim] + g.shape(at) + sizes[dim + 1:])
    return _scatter(g, x, dim, wide, g.cast(value, x.dtype))


@row("index_copy")
def _index_copy(g, x, dim, at, source):
    dim, rank = dim_of(dim, rank_of(x, "index_copy")), rank_of(x, "index_copy")
    wide = g.op("Unsqueeze", at, [i for i in range(rank) if i != dim]) if rank > 1 else at
    return _scatter(g, x, dim, ROWS["aten::expand"](g, wide, g.shape(source)), source)


@row("index_add")
def _index_add(g, x, dim, at, source, alpha=1):
    dim, rank = dim_of(dim, rank_of(x, "index_add")), rank_of(x, "index_add")
    source = source if alpha == 1 else ROWS["aten::mul"](g, source, alpha)
    wide = g.op("Unsqueeze", at, [i for i in range(rank) if i != dim]) if rank > 1 else at
    return _scatter(g, x, dim, ROWS["aten::expand"](g, wide, g.shape(source)), source, "add")


@row("one_hot")
def _one_hot(g, x, classes=-1):
    if not isinstance(classes, Value) and classes == -1:
        raise SymbolicValueError("one_hot needs the number of classes")
    return g.op("OneHot", x, g.ints([classes]), g.constant(wick.tensor([0, 1])), axis_i=-1)


