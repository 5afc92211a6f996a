"""How sizes, shapes and dtypes are exported: what moves elements without computing with them."""
import wick

from . import _model
from ._builder import number_dtype
from ._rows import ROWS, known_now, need_opset, rank_of, row, view
from ._shapes import broadcast, dim_of
from .errors import SymbolicValueError

Value = _model.Value
LAST = (1 << 63) - 1
DTYPES = (wick.uint8, wick.int8, wick.int16, wick.int32, wick.int64, wick.float16, wick.float32, wick.float64, None,
          wick.complex64, wick.complex128, wick.bool, None, None, None, wick.bfloat16)


def dtype_number(dtype):
    """The dtype that a program's number stands for."""
    if isinstance(dtype, wick.dtype):
        return dtype
    dtype = known_now(dtype, "a dtype")
    found = DTYPES[dtype] if 0 <= dtype < len(DTYPES) else None
    if found is None:
        raise SymbolicValueError("there is no such dtype in ONNX: %s" % dtype)
    return found


def to_dtype(g, x, dtype):
    """The value in the dtype of the program's number."""
    return x if dtype is None else g.cast(x, dtype_number(dtype))


# ---- sizes and dtypes ----

@row("size")
def _size(g, x, dim=None):
    return g.shape(x) if dim is None else g.size(x, known_now(dim, "a dimension"))


@row("sym_size")
def _sym_size(g, x, dim=None):
    return _size(g, x, dim)


@row("dim", "ndimension")
def _dim(g, x):
    return rank_of(x, "dim")


@row("numel")
def _numel(g, x):
    return g.numel(x)


@row("_shape_as_tensor")
def _shape_as_tensor(g, x):
    return g.shape_of(x)


@row("prim::dtype")
def _dtype(g, x):
    if x.dtype is None:
        raise SymbolicValueError("the dtype of %r is not known" % x, x)
    return DTYPES.index(x.dtype)


@row("prim::device")
def _device(g, x):
    return wick.device("cpu")


@row("prim::layout")
def _layout(g, x):
    return 0


def _said(name, answer):
    @row(name)
    def say(g, *values):
        return answer(*values)


_said("is_floating_point", lambda x: x.dtype.is_floating_point)
_said("is_complex", lambda x: x.dtype.is_complex)
_said("prim::is_cuda", lambda x: False)
_said("prim::is_quantized", lambda x: False)
_said("prim::is_sparse", lambda x: False)
_said("prim::is_nested", lambda x: False)
_said("is_contiguous", lambda x, *rest: True)


@row("to")
def _to(g, x, *rest):
    """Of its overloads: the dtype of another tensor, or the first number among devices and switches."""
    first = rest[0] if rest else None
    if isinstance(first, Value) and first.number is None:
        return g.cast(x, first.dtype)
    dtypes = [value for value in rest[:2] if isinstance(value, int) and not isinstance(value, bool)]
    return to_dtype(g, x, dtypes[0]) if dtypes else x


@row("type_as")
def _type_as(g, x, other):
    return g.cast(x, other.dtype)


def _cast_to(name, dtype):
    @row(name)
    def convert(g, x, *rest):
        return g.cast(x, dtype)


for _name, _dtype_of in (
        ("float", wick.float32), ("double", wick.float64), ("half", wick.float16), ("long", wick.int64),
        ("int", wick.int32), ("bool", wick.bool), ("_cast_Float", wick.float32), ("_cast_Double", wick.float64),
        ("_cast_Half", wick.float16), ("_cast_Long", wick.int64), ("_cast_Int", wick.int32),
        ("_cast_Byte", wick.uint8), ("_cast_Char", wick.int8)):
    _cast_to(_name, _dtype_of)


# ---- other shapes ----

def _name_of(size):
    return size.size_name if isinstance(size, Value) else size


def reshape(g, x, sizes):
    """The value in another shape; sizes are ints, numbers of the model, or a tensor of them."""
    if isinstance(sizes, Value):
        return g.op("Reshape", x, g.cast(sizes, wick.int64))
    sizes = list(sizes)
    named = [_name_of(size) for size in sizes]
    if x.shape is not None and named == list(x.shape):
        return x
    if 0 in sizes:
        return g.op("Reshape", x, sizes, allowzero_i=1) if g.opset >= 14 else g.op("Reshape", x, sizes)
    given = [0 if isinstance(size, Value) and x.shape is not None and i < len(x.shape) and named[i] is not None and
             named[i] == x.shape[i] else size for i, size in enumerate(sizes)]
    rest = [i for i, size in enumerate(given) if isinstance(size, Value)]
    if len(rest) == 1 and not any(not isinstance(size, Value) and size == -1 for size in given):
        given[rest[0]] = -1
    made = g.op("Reshape", x, given)
    if made.shape is not None:
        made.shape = tuple(size if isinstance(size, int) or name in (None, -1) else name
                           for size, name in zip(made.shape, named))
    return made


@row("view", "reshape", "_reshape_alias", "_unsafe_view")
def _view(g, x, sizes, *rest):
    if isinstance(sizes, int) and not isinstance(sizes, bool):
        raise SymbolicValueError("a view in another dtype")
    return reshape(g, x, sizes)


@row("view_as", "reshape_as")
def _view_as(g, x, other):
    if other.shape is None:
        return reshape(g, x, g.shape_of(other))
    return reshape(g, x, g.shape(other))


def _product(g, sizes):
    made = 1
    for size in sizes:
        if isinstance(size, int) and isinstance(made, int):
            made *= size
        elif made == 1 and isinstance(made, int):
            made = size
        elif not (isinstance(size, int) and size == 1):
            made = ROWS["aten::mul"](g, made, size)
    return made


@row("flatten")
def _flatten(g, x, start=0, end=-1, *rest):
    if x.shape is None:
        if (start, end) == (1, -1):
            return g.op("Flatten", x, axis_i=1)
        return reshape(g, x, [-1]) if (start, end) == (0, -1) else rank_of(x, "flatten")
    rank = rank_of(x, "flatten")
    if rank == 0:
        return reshape(g, x, [1])
    start, end = dim_of(start, rank), dim_of(end, rank)
    if start == end:
        return x
    if (start, end) == (1, rank - 1):
        return g.op("Flatten", x, axis_i=1)
    sizes = g.shape(x)
    unknown = any(isinstance(size, Value) for size in sizes[start:end + 1])
    others = any(isinstance(size, Value) for size in sizes[:start] + sizes[end + 1:])
    middle = -1 if unknown and not others else _product(g, sizes[start:end + 1])
    return reshape(g, x, sizes[:start] + [middle] + sizes[end + 1:])


@row("unflatten")
def _unflatten(g, x, dim, sizes, *rest):
    shape, dim = g.shape(x), dim_of(dim, rank_of(x, "unflatten"))
    return reshape(g, x, shape[:dim] + list(sizes) + shape[dim + 1:])


@row("unsqueeze")
def _unsqueeze(g, x, dim):
    dim = known_now(dim, "a dimension")
    if dim < 0:
        dim += rank_of(x, "unsqueeze") + 1
    return g.op("Unsqueeze", x, [dim])


@row("squeeze")
def _squeeze(g, x, dim=None):
    if dim is None:
        if x.shape is None:
            return g.op("Squeeze", x)
        if any(not isinstance(size, int) for size in x.shape):
            return g.op("Squeeze", x)
        dims = [i for i, size in enumerate(x.shape) if size == 1]
        return g.op("Squeeze", x, dims) if dims else x
    dim = dim_of(dim, rank_of(x, "squeeze"))
    if not x.shape or isinstance(x.shape[dim], int) and x.shape[dim] != 1:
        return x
    if x.shape[dim] == 1:
        return g.op("Squeeze", x, [dim])
    # as PyTorch's own export: what was no 1 in the example is none when the model runs
    raise SymbolicValueError("squeeze of the dimension %d, whose size is not known" % dim)


@row("transpose", "swapaxes", "swapdims")
def _transpose(g, x, a, b):
    order = list(range(rank_of(x, "transpose")))
    if not order:
        return x
    order[a], order[b] = order[b], order[a]
    return permuted(g, x, order)


@row("permute")
def _permute(g, x, dims):
    return permuted(g, x, [dim_of(dim, len(dims)) for dim in dims])


def permuted(g, x, order):
    return x if order == sorted(order) else g.op("Transpose", x, perm_i=order)


@row("t", "numpy_T")
def _t(g, x):
    return permuted(g, x, list(range(rank_of(x, "t")))[::-1])


@row("movedim", "moveaxis")
def _movedim(g, x, source, destination):
    rank = rank_of(x, "movedim")
    source, destination = ([dim_of(dim, rank) for dim in (dims if isinstance(dims, list) else [dims])]
                           for dims in (source, destination))
    order = [i for i in range(rank) if i not in source]
    for to, dim in sorted(zip(destination, source)):
        order.insert(to, dim)
    return permuted(g, x, order)


@row("expand")
def _expand(g, x, sizes, *rest):
    rank = None if x.shape is None else len(x.shape)
    if isinstance(sizes, Value):
        return g.op("Expand", x, sizes)
    # -1 keeps a size, as 1 does for ONNX
    wanted = [1 if isinstance(size, int) and size == -1 else size for size in sizes]
    if rank == len(wanted) and all(size == 1 and isinstance(size, int) or _name_of(size) == own
                                   for size, own in zip(wanted, x.shape)):
        return x
    made = g.op("Expand", x, wanted)
    if rank is not None and made.shape is not None and len(made.shape) == len(wanted):
        own = (1,) * (len(wanted) - rank) + x.shape
        made.shape = tuple(have if isinstance(size, int) and size == 1 else _name_of(size) or sized
                           for size, have, sized in zip(wanted, own, made.shape))
    return made


@row("expand_as")
def _expand_as(g, x, other):
    if x.shape is not None and x.shape == other.shape:
        return x
    if other.shape is None:
        return g.op("Expand", x, g.shape_of(other))
    return _expand(g, x, g.shape(other))


@row("broadcast_to")
def _broadcast_to(g, x, sizes):
    return _expand(g, x, sizes)


@row("repeat", "tile")
def _repeat(g, x, counts):
    rank = rank_of(x, "repeat")
    if len(counts) > rank:
        x = reshape(g, x, [1] * (len(counts) - rank) + g.shape(x))
    counts = [1] * (rank - len(counts)) + list(counts)
    return x if all(isinstance(count, int) and count == 1 for count in counts) else g.op("Tile", x, counts)


@row("repeat_interleave")
def _repeat_interleave(g, x, repeats, dim=None, *rest):
    repeats = known_now(repeats, "repeats of repeat_interleave")
    if dim is None:
        x, dim = reshape(g, x, [-1]), 0
    rank = rank_of(x, "repeat_interleave")
    dim = dim_of(dim, rank)
    sizes = g.shape(x)
    made = _repeat(g, g.op("Unsqueeze", x, [dim + 1]), [1] * (dim + 1) + [repeats] + [1] * (rank - dim - 1))
    return reshape(g, made, sizes[:dim] + [_product(g, [sizes[dim], repeats])] + sizes[dim + 1:])


# ---- together and apart ----

@row("cat", "concat", "concatenate")
def _cat(g, items, dim=0):
    if isinstance(items, Value):
        return g.op("ConcatFromSequence", items, axis_i=dim)
    items = [item for item in items if item.shape != (0,) or len(items) == 1]
    items = g.promoted(*items)
    if len(items) == 1:
        return items[0]
    return g.op("Concat", *items, axis_i=_known_dim(items, dim))


def _known_dim(items, dim):
    ranks = [item.rank for item in items if item.rank is not None]
    return dim_of(dim, ranks[0]) if ranks else dim


@row("stack")
def _stack(g, items, dim=0):
    if isinstance(items, Value):
        return g.op("ConcatFromSequence", items, axis_i=dim, new_axis_i=1)
    items = g.promoted(*items)
    ranks = [item.rank for item in items if item.rank is not None]
    dim = dim_of(dim, ranks[0] + 1) if ranks else dim
    items = [g.op("Unsqueeze", item, [dim]) for item in items]
    return items[0] if len(items) == 1 else g.op("Concat", *items, axis_i=dim)


def _split_in(g, x, parts, dim):
    if len(parts) == 1:
        return [x]
    made = g.op("Split", x, parts, axis_i=dim, outputs=len(parts))
    return list(made)


def _size_now(g, x, dim, what):
    size = x.shape[dim] if x.shape is not None else None
    if not isinstance(size, int):
        raise SymbolicValueError("%s along a dimension whose size is not known: how many parts there are must be "
                                 "known when the model is made" % what, x)
    return size


@row("split", "split_with_sizes")
def _split(g, x, size, dim=0):
    if isinstance(size, list) and all(isinstance(part, int) for part in size):
        return _split_in(g, x, size, dim_of(dim, rank_of(x, "split")))
    if isinstance(size, list):
        return list(_as_tuple(g.op("Split", x, size, axis_i=dim_of(dim, rank_of(x, "split")), outputs=len(size))))
    dim, size = dim_of(dim, rank_of(x, "split")), known_now(size, "the size of parts")
    total = _size_now(g, x, dim, "split")
    return _split_in(g, x, [min(size, total - at) for at in range(0, total, size)] or [0], dim)


def _as_tuple(made):
    return made if isinstance(made, tuple) else (made,)


@row("chunk")
def _chunk(g, x, count, dim=0):
    dim = dim_of(dim, rank_of(x, "chunk"))
    return _split(g, x, -(-_size_now(g, x, dim, "chunk") // count), dim)


@row("tensor_split")
def _tensor_split(g, x, count, dim=0):
    dim = dim_of(dim, rank_of(x, "tensor_split"))
    total = _size_now(g, x, dim, "tensor_split")
    if isinstance(count, list):
        ends = [0] + [min(known_now(end, "an index of tensor_split"), total) for end in count] + [total]
        return _split_in(g, x, [b - a for a, b in zip(ends, ends[1:])], dim)
    return _split_in(g, x, [total // count + (i < total % count) for i in range(count)], dim)


@row("unbind")
def _unbind(g, x, dim=0):
    dim = dim_of(dim, rank_of(x, "unbind"))
    if not isinstance(x.shape[dim], int):
        made = g.op("SplitToSequence", x, axis_i=dim, keepdims_i=0)
        made.is_sequence, made.dtype, made.shape = True, x.dtype, x.shape[:dim] + x.shape[dim + 1:]
        return made
    total = x.shape[dim]
    return [g.op("Squeeze", part, [dim]) for part in _split_in(g, x, [1] * total, dim)]


# ---- pieces ----

def sliced(g, x, dim, start, end, step=1):
    """x[start:end:step] along a dimension."""
    start, end = 0 if start is None else start, LAST if end is None else end
    if isinstance(start, int) and isinstance(end, int) and start == 0 and end == LAST and step == 1:
        return x
    if x.shape is not None and isinstance(x.shape[dim], int) and step == 1 and start == 0 and \
            isinstance(start, int) and isinstance(end, int) and end >= x.shape[dim]:
        return x
    given = [value if isinstance(value, Value) and value.rank == 1 else g.ints([value]) for value in (start, end)]
    from_begin = isinstance(start, int) and start == 0 and step == 1
    is_whole = from_begin and isinstance(end, Value) and end.size_name is not None and x.shape is not None and \
        end.size_name == x.shape[dim]
    return x if is_whole else g.op("Slice", x, given[0], given[1], [dim], [step])


@row("slice")
def _slice(g, x, dim=0, start=None, end=None, step=1):
    dim = dim_of(dim, rank_of(x, "slice"))
    return sliced(g, x, dim, start, end, known_now(step, "the step of a slice"))


@row("narrow")
def _narrow(g, x, dim, start, length):
    dim = dim_of(dim, rank_of(x, "narrow"))
    return sliced(g, x, dim, start, ROWS["aten::add"](g, start, length) if
                  isinstance(start, Value) or isinstance(length, Value) else start + length)


@row("select")
def _select(g, x, dim, index):
    dim = dim_of(known_now(dim, "a dimension"), rank_of(x, "select"))
    return g.op("Gather", x, index if isinstance(index, Value) else g.constant(index), axis_i=dim)


@row("flip")
def _flip(g, x, dims):
    dims = [dim_of(dim, rank_of(x, "flip")) for dim in dims]
    count = len(dims)
    return g.op("Slice", x, [-1] * count, [-LAST] * count, dims, [-1] * count)


@row("roll")
def _roll(g, x, shifts, dims=()):
    if not dims:
        shape = g.shape(x)
        return reshape(g, _roll(g, reshape(g, x, [-1]), shifts, [0]), shape)
    for shift, dim in zip(shifts, dims):
        dim = dim_of(dim, rank_of(x, "roll"))
        if isinstance(x.shape[dim], int):
            shift %= x.shape[dim] or 1
        if shift:
            x = g.op("Concat", sliced(g, x, dim, -shift, None), sliced(g, x, dim, 0, -shift), axis_i=dim)
    return x


@row("diagonal")
def _diagonal(g, x, offset=0, dim1=0, dim2=1):
    rank = rank_of(x, "diagonal")
    a, b = dim_of(dim1, rank), dim_of(dim2, rank)
    if not all(isinstance(x.shape[dim], int) for dim in (a, b)):
        raise SymbolicValueError("diagonal of sizes that are not known", x)
    x = permuted(g, x, [i for i in range(rank) if i not in (a, b)] + [a, b])
    rows, columns = x.shape[-2:]
    at = [i * columns + i + offset for i in range(rows) if 0 <= i + offset < columns]
    flat = reshape(g, x, g.shape(x)[:-2] + [rows * columns])
    return g.op("Gather", flat, g.ints(at), axis_i=rank - 2)


@row("unfold")
def _unfold(g, x, dim, size, step):
    dim = dim_of(dim, rank_of(x, "unfold"))
    total = _size_now(g, x, dim, "unfold")
    if rank_of(x, "unfold") == 0:
        return reshape(g, x, [1])
    at = wick.tensor([[start + i for i in range(size)] for start in range(0, total - size + 1, step)])
    made = g.op("Gather", x, g.constant(at), axis_i=dim)
    order = list(range(len(made.shape)))
    order.append(order.pop(dim + 1))
    return permuted(g, made, order)


@row("meshgrid")
def _meshgrid(g, items, indexing="ij"):
    items = [reshape(g, item, [-1]) for item in items]
    if indexing == "xy" and len(items) > 1:
        made = _meshgrid(g, [items[1], items[0]] + items[2:])
        return [made[1], made[0]] + made[2:]
    sizes = [g.size(item, 0) for item in items]
    return [_expand(g, reshape(g, item, [1] * i + [-1] + [1] * (len(items) - 1 - i)), sizes)
            for i, item in enumerate(items)]


@row("broadcast_tensors")
def broadcast_tensors(g, items):
    """Items in the shape that they have in common: that of a sum of nothings, where it isn't known."""
    shape = broadcast([item.shape for item in items], g.sizes)
    if shape is not None and all(isinstance(size, int) for size in shape):
        return [_expand(g, item, shape) for item in items]
    total = None
    for item in items:
        nothing = g.op("Mul", g.cast(item, wick.int64), g.constant(0))
        total = nothing if total is None else g.op("Add", total, nothing)
    made = []
    for item in items:
        if item.shape is not None and item.shape == total.shape:
            made.append(item)
            continue
        made.append(g.op("Expand", item, g.shape_of(total)))
        made[-1].shape = total.shape
    return made


@row("pixel_shuffle")
def _pixel_shuffle(g, x, factor):
    if rank_of(x, "pixel_shuffle") == 4:
        return g.op("DepthToSpace", x, blocksize_i=factor, mode_s="CRD")
    raise SymbolicValueError("pixel_shuffle of %d dimensions" % rank_of(x, "pixel_shuffle"))


@row("pixel_unshuffle")
def _pixel_unshuffle(g, x, factor):
    shape = g.shape(x)
    if not all(isinstance(size, int) for size in shape[-2:]) or len(shape) != 4:
        raise SymbolicValueError("pixel_unshuffle of sizes that are not known", x)
    n, channels, height, width = shape
    x = reshape(g, x, [n, channels, height // factor, factor, width // factor, factor])
    return reshape(g, permuted(g, x, [0, 1, 3, 5, 2, 4]),
                   [n, channels * factor * factor, height // factor, width // factor])


@row("channel_shuffle")
def _channel_shuffle(g, x, groups):
    shape, rank = g.shape(x), rank_of(x, "channel_shuffle")
    parts = reshape(g, x, [shape[0], groups, shape[1] // groups] + shape[2:])
    return reshape(g, permuted(g, parts, [0, 2, 1] + list(range(3, rank + 1))), shape)


# ---- made of sizes ----

def _filled(g, sizes, value, dtype):
    sizes = [sizes] if isinstance(sizes, int) else sizes
    if isinstance(value, Value):
        return g.op("Expand", g.cast(value, dtype), sizes)
    made = g.op("ConstantOfShape", sizes, value_t=wick.tensor([value], dtype=dtype))
    if not isinstance(sizes, Value) and made.shape is not None:
        made.shape = tuple(_name_of(size) or have for size, have in zip(sizes, made.shape))
    return made


def _factory(name, value):
    @row(name)
    def make(g, sizes, dtype=None, *rest):
        return _filled(g, sizes, value, wick.get_default_dtype() if dtype is None else dtype_number(dtype))

    @row(name + "_like")
    def make_like(g, x, dtype=None, *rest):
        return _filled(g, g.shape_of(x) if x.shape is None else g.shape(x), value,
                       x.dtype if dtype is None else dtype_number(dtype))

    @row("new_" + name)
    def make_new(g, x, sizes, dtype=None, *rest):
        return _filled(g, sizes, value, x.dtype if dtype is None else dtype_number(dtype))


_factory("zeros", 0)
_factory("ones", 1)
_factory("empty", 0)


def _dtype_of_fill(value, dtype):
    if dtype is not None:
        return dtype_number(dtype)
    return value.dtype if isinstance(value, Value) else number_dtype(value)


@row("full")
def _full(g, sizes, value, dtype=None, *rest):
    return _filled(g, sizes, value, _dtype_of_fill(value, dtype))


@row("full_like")
def _full_like(g, x, value, dtype=None, *rest):
    return _filled(g, g.shape_of(x) if x.shape is None else g.shape(x), value,
                   x.dtype if dtype is None else dtype_number(dtype))


@row("new_full")
def _new_full(g, x, sizes, value, dtype=None, *rest):
    return _filled(g, sizes, value, x.dtype if dtype is None else dtype_number(dtype))


@row("arange")
def _arange(g, *values):
    """Its overloads have one, two or three numbers in front of dtype, layout, device and pin_memory."""
    count = len(values) - 4
    given, dtype = list(values[:count]), values[count]
    start, end, step = ([0] + given + [1] if count == 1 else given + [1] if count == 2 else given)
    bounds = (start, end, step)
    dtype = dtype_number(dtype) if dtype is not None else wick.int64 if \
        g.common_dtype(bounds) == wick.int64 else wick.get_default_dtype()
    ends = [value.also() if isinstance(value, Value) else value for value in bounds]
    made = g.op("Range", *[g.cast(value, dtype) for value in ends])
    if isinstance(end, Value) and end.size_name and (start, step) == (0, 1):
        made.shape = (end.size_name,)
    return made


@row("eye")
def _eye(g, *values):
    sizes = [value for value in values[:len(values) - 4]]
    dtype = wick.get_default_dtype() if values[-4] is None else dtype_number(values[-4])
    return g.op("EyeLike", _filled(g, sizes * (3 - len(sizes)), 0, dtype))


@row("tril")
def _tril(g, x, diagonal=0):
    return _triangle(g, x, diagonal, 0)


@row("triu")
def _triu(g, x, diagonal=0):
    return _triangle(g, x, diagonal, 1)


def _triangle(g, x, diagonal, upper):

    need_opset(g, 14, "a triangle")
    if x.dtype == wick.bool:
        return g.cast(_triangle(g, g.cast(x, wick.int64), diagonal, upper), wick.bool)
    return g.op("Trilu", x, g.cast(diagonal, wick.int64), upper_i=upper)


# ---- writing through views ----

def _replaced(walk, base, value, dim, start, end):
    """The base with another piece from start to end along a dimension."""
    g = walk.g
    before, after = sliced(g, base, dim, 0, start), sliced(g, base, dim, end, None)
    parts = [before, g.cast(value, base.dtype), after]
    parts = [part for part in parts if part.shape is None or part.shape[dim] != 0]
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=dim)


@view("slice")
def _into_slice(walk, base, value, dim=0, start=None, end=None, step=1):
    if step != 1:
        return _scattered(walk, base, value, dim, start, end, step)
    dim = dim_of(dim, rank_of(base, "a slice"))
    start, end = 0 if start is None else start, LAST if end is None else end
    return _replaced(walk, base, value, dim, *_from_front(walk.g, base, dim, start, end))


def _from_front(g, base, dim, start, end):
    """Bounds of a slice, those that count from the end as numbers from the front where the size is known."""
    size = base.shape[dim]
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        start, end, _ = slice(start, end).indices(size)
        return start, max(start, end)
    return start, end


def _scattered(walk, base, value, dim, start, end, step):
    dim = dim_of(dim, rank_of(base, "a slice"))
    size = _size_now(walk.g, base, dim, "writing to every n-th element")
    at = list(range(size))[slice(start, end, step)]
    order = [dim] + [i for i in range(len(base.shape)) if i != dim]
    back = [order.index(i) for i in range(len(order))]
    made = walk.g.op("ScatterND", permuted(walk.g, base, order), walk.g.constant(wick.tensor([[i] for i in at])),
                     permuted(walk.g, walk.g.cast(value, base.dtype), order))
    return permuted(walk.g, made, back)


@view("narrow")
def _into_narrow(walk, base, value, dim, start, length):
    return _into_slice(walk, base, value, dim, start, ROWS["aten::add"](walk.g, start, length) if
                       isinstance(start, Value) or isinstance(length, Value) else start + length)


@view("select")
def _into_select(walk, base, value, dim, index):
    dim = dim_of(dim, rank_of(base, "select"))
    g = walk.g
    piece = g.op("Unsqueeze", value, [dim])
    if isinstance(index, int):
        end = index + 1 if index != -1 else LAST
        return _replaced(walk, base, piece, dim, *_from_front(g, base, dim, index, end))
    return _replaced(walk, base, piece, dim, index, ROWS["aten::add"](g, index, 1))


@view("view", "reshape", "flatten", "unflatten", "view_as", "reshape_as", "squeeze", "unsqueeze", "_reshape_alias")
def _into_reshaped(walk, base, value, *rest):
    return reshape(walk.g, value, walk.g.shape(base))


@view("transpose", "swapaxes", "swapdims")
def _into_transposed(walk, base, value, a, b):
    return _transpose(walk.g, value, a, b)


@view("t")
def _into_t(walk, base, value):
    return _t(walk.g, value)


@view("permute")
def _intopermuted(walk, base, value, dims):
    dims = [dim_of(dim, len(dims)) for dim in dims]
    return permuted(walk.g, value, [dims.index(i) for i in range(len(dims))])


@view("detach", "alias", "contiguous", "to", "data")
def _into_same(walk, base, value, *rest):
    return walk.g.cast(value, base.dtype)


