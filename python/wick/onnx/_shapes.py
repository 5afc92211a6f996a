"""What follows from the inputs of an ONNX operator for its outputs: dtype and shape, a row for each operator.

A row gets the node and `sizes`, which names a size that is not known now: the same name for the same reason, so that
sizes that were computed alike are known to be the same. What no row says is unknown, never guessed.
"""
import math

import wick

from ._model import TYPES

_ROWS = {}


def known(*kinds):
    """Notes the function as the row of operators. It gives a (dtype, shape) for each output, from the first on."""
    def note(function):
        for kind in kinds:
            _ROWS[kind] = function
        return function
    return note


def infer(node, sizes):
    """Sets what is known of a node's outputs."""
    row = None if node.domain else _ROWS.get(node.kind)
    if row is None:
        return
    for output, (dtype, shape) in zip(node.outputs, row(node, sizes)):
        output.dtype = dtype
        output.shape = None if shape is None else tuple(shape)


class Sizes:
    """Names for sizes that are known when the model runs, by what they follow from."""

    def __init__(self, names):
        self._names, self._made = names, {}

    def name(self, *reason):
        """The size that follows from this reason; without one, a new one."""
        if not reason:
            return self._names.size()
        if reason not in self._made:
            self._made[reason] = self._names.size()
        return self._made[reason]


# ---- sizes ----

def broadcast(shapes, sizes):
    """The shape of what is computed element by element."""
    if any(shape is None for shape in shapes):
        return None
    rank = max(map(len, shapes))
    return [_broadcast_size([shape[len(shape) - i] for shape in shapes if len(shape) >= i], sizes)
            for i in range(rank, 0, -1)]


def _broadcast_size(given, sizes):
    wanted = {size for size in given if size != 1}
    numbers = [size for size in wanted if isinstance(size, int)]
    if numbers:
        return numbers[0]
    if not wanted:
        return 1
    return wanted.pop() if len(wanted) == 1 else sizes.name("broadcast", tuple(sorted(wanted)))


def dim_of(dim, rank):
    """A dimension counted from the front."""
    return dim + rank if dim < 0 else dim


def _product(given):
    return math.prod(given) if all(isinstance(size, int) for size in given) else None


def _total(given, sizes):
    """How many elements a part of a shape has."""
    count = _product(given)
    if count is not None:
        return count
    rest = sorted(str(size) for size in given if size != 1)
    return rest[0] if len(rest) == 1 else sizes.name("product", tuple(rest))


def numbers(value):
    """The elements of a value that is known now, as a list; None of another."""
    if value is None or value.tensor is None:
        return None
    found = value.tensor.tolist()
    return found if isinstance(found, list) else [found]


# ---- element by element ----

@known("Add", "Sub", "Mul", "Div", "Pow", "Mod", "Max", "Min", "Sum", "BitShift", "PRelu")
def _arithmetic(node, sizes):
    return [(node.inputs[0].dtype, broadcast([value.shape for value in node.inputs], sizes))]


@known("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor")
def _compared(node, sizes):
    return [(wick.bool, broadcast([value.shape for value in node.inputs], sizes))]


@known("Where")
def _where(node, sizes):
    return [(node.inputs[1].dtype, broadcast([value.shape for value in node.inputs], sizes))]


@known("Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Neg", "Abs", "Floor", "Ceil", "Round", "Sign", "Reciprocal",
       "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Erf", "Elu", "Selu",
       "Celu", "LeakyRelu", "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Identity", "Clip", "Not", "Softmax",
       "LogSoftmax", "LayerNormalization", "InstanceNormalization", "LRN", "LpNormalization", "CumSum", "Trilu",
       "ScatterElements", "ScatterND", "ThresholdedRelu", "Hardmax")
def _like_first(node, sizes):
    return [(node.inputs[0].dtype, node.inputs[0].shape)]


@known("Dropout")
def _dropout(node, sizes):
    return [(node.inputs[0].dtype, node.inputs[0].shape), (wick.bool, node.inputs[0].shape)]


@known("IsNaN", "IsInf")
def _asked(node, sizes):
    return [(wick.bool, node.inputs[0].shape)]


@known("BatchNormalization")
def _batch_norm(node, sizes):
    channel = node.inputs[1]
    return [(node.inputs[0].dtype, node.inputs[0].shape)] + [(channel.dtype, channel.shape)] * 2


@known("Cast")
def _cast(node, sizes):
    wanted = node.get("to")
    return [(next(dtype for dtype, number in TYPES.items() if number == wanted), node.inputs[0].shape)]


@known("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def _random_like(node, sizes):
    return [(node.inputs[0].dtype, node.inputs[0].shape)]


# ---- products, convolutions, pools ----

@known("MatMul")
def _matmul(node, sizes):
    a, b = (value.shape for value in node.inputs)
    if not a or not b:
        return [(node.inputs[0].dtype, None)]
    if len(a) == 1 or len(b) == 1:
        shape = b[:-2] + b[-1:] if len(a) == 1 and len(b) > 1 else a[:-1] if len(b) == 1 else ()
    else:
        shape = broadcast([a[:-2], b[:-2]], sizes) + [a[-2], b[-1]]
    return [(node.inputs[0].dtype, shape)]


@known("Gemm")
def _gemm(node, sizes):
    a, b = (value.shape for value in node.inputs[:2])
    if a is None or b is None:
        return [(node.inputs[0].dtype, (sizes.name(), sizes.name()))]
    return [(node.inputs[0].dtype, (a[node.get("transA", 0)], b[1 - node.get("transB", 0)]))]


@known("Einsum")
def _einsum(node, sizes):
    terms, _, result = node.get("equation").replace(" ", "").partition("->")
    found = {}
    for term, value in zip(terms.split(","), node.inputs):
        if value.shape is None or "." in term:
            return [(node.inputs[0].dtype, None)]
        found.update(zip(term, value.shape))
    return [(node.inputs[0].dtype, [found[letter] for letter in result])]


def _window(size, kernel, stride, before, after, dilation, up, sizes):
    if isinstance(size, int):
        room = size + before + after - dilation * (kernel - 1) - 1
        return (-(-room // stride) if up else room // stride) + 1
    if (stride, before + after) == (1, dilation * (kernel - 1)):
        return size
    return sizes.name("window", size, kernel, stride, before, after, dilation, up)


def _windows(node, given, kernel, sizes):
    n = len(kernel)
    strides, pads = node.get("strides", [1] * n), node.get("pads", [0] * 2 * n)
    dilations, up = node.get("dilations", [1] * n), node.get("ceil_mode", 0)
    return [_window(given[i], kernel[i], strides[i], pads[i], pads[n + i], dilations[i], up, sizes) for i in range(n)]


@known("Conv")
def _conv(node, sizes):
    x, weight = node.inputs[0], node.inputs[1].shape
    if x.shape is None or weight is None:
        return [(x.dtype, None if weight is None else [sizes.name() for _ in weight])]
    return [(x.dtype, [x.shape[0], weight[0]] + _windows(node, x.shape[2:], weight[2:], sizes))]


@known("ConvTranspose")
def _conv_transpose(node, sizes):
    x, weight = node.inputs[0], node.inputs[1].shape
    if x.shape is None or weight is None:
        return [(x.dtype, None if weight is None else [sizes.name() for _ in weight])]
    n = len(weight) - 2
    strides, pads = node.get("strides", [1] * n), node.get("pads", [0] * 2 * n)
    dilations, more = node.get("dilations", [1] * n), node.get("output_padding", [0] * n)
    found = []
    for i, size in enumerate(x.shape[2:]):
        rest = dilations[i] * (weight[2 + i] - 1) + 1 + more[i] - pads[i] - pads[n + i]
        found.append((size - 1) * strides[i] + rest if isinstance(size, int)
                     else sizes.name("transposed", size, strides[i], rest))
    return [(x.dtype, [x.shape[0], weight[1] * node.get("group", 1)] + found)]


@known("MaxPool", "AveragePool", "LpPool")
def _pool(node, sizes):
    x = node.inputs[0]
    shape = None if x.shape is None else \
        list(x.shape[:2]) + _windows(node, x.shape[2:], node.get("kernel_shape"), sizes)
    return [(x.dtype, shape), (wick.int64, shape)]


@known("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(node, sizes):
    x = node.inputs[0]
    return [(x.dtype, None if x.shape is None else x.shape[:2] + (1,) * (len(x.shape) - 2))]


@known("Resize")
def _resize(node, sizes):
    x, wanted = node.inputs[0], numbers(node.inputs[3]) if len(node.inputs) > 3 else None
    if wanted is not None:
        return [(x.dtype, wanted)]
    scales = numbers(node.inputs[2]) if len(node.inputs) > 2 else None
    if x.shape is None:
        return [(x.dtype, None)]
    if scales is None:
        return [(x.dtype, x.shape[:2] + tuple(sizes.name() for _ in x.shape[2:]))]
    return [(x.dtype, [math.floor(size * scale) if isinstance(size, int) else size if scale == 1
                       else sizes.name("scaled", size, scale) for size, scale in zip(x.shape, scales)])]


@known("RoiAlign")
def _roi_align(node, sizes):
    x, rois = node.inputs[0], node.inputs[1]
    shape = None if x.shape is None or rois.shape is None else \
        (rois.shape[0], x.shape[1], node.get("output_height", 1), node.get("output_width", 1))
    return [(x.dtype, shape)]


@known("MaxRoiPool")
def _roi_pool(node, sizes):
    x, rois = node.inputs[0], node.inputs[1]
    known_now = x.shape is not None and rois.shape is not None
    return [(x.dtype, (rois.shape[0], x.shape[1], *node.get("pooled_shape")) if known_now else None)]


@known("GridSample")
def _grid_sample(node, sizes):
    x, grid = node.inputs
    known_now = x.shape is not None and grid.shape is not None
    return [(x.dtype, x.shape[:2] + grid.shape[1:3] if known_now else None)]


@known("NonMaxSuppression")
def _nms(node, sizes):
    return [(wick.int64, (sizes.name(), 3))]


@known("RNN", "GRU", "LSTM")
def _recurrent(node, sizes):
    x = node.inputs[0]
    length, batch = x.shape[:2] if x.shape is not None else (sizes.name(), sizes.name())
    hidden, ways = node.get("hidden_size"), 2 if node.get("direction") == "bidirectional" else 1
    state = (x.dtype, (ways, batch, hidden))
    return [(x.dtype, (length, ways, batch, hidden)), state, state]


# ---- reductions ----

def _reduced(value, axes, keep):
    if value.shape is None or axes is None:
        return None
    axes = {dim_of(axis, len(value.shape)) for axis in axes}
    return [1 if i in axes else size for i, size in enumerate(value.shape) if keep or i not in axes]


def _axes(node):
    if "axes" in node.attributes:
        return node.get("axes")
    if len(node.inputs) > 1 and node.inputs[1] is not None:
        return numbers(node.inputs[1])
    return None if node.inputs[0].shape is None else list(range(len(node.inputs[0].shape)))


@known("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp",
       "ReduceSumSquare")
def _reduce(node, sizes):
    return [(node.inputs[0].dtype, _reduced(node.inputs[0], _axes(node), node.get("keepdims", 1)))]


@known("ArgMax", "ArgMin")
def _arg(node, sizes):
    return [(wick.int64, _reduced(node.inputs[0], [node.get("axis", 0)], node.get("keepdims", 1)))]


@known("TopK")
def _topk(node, sizes):
    x, count = node.inputs
    k = numbers(count)
    shape = None
    if x.shape is not None:
        shape = list(x.shape)
        shape[node.get("axis", -1)] = k[0] if k else sizes.name()
    return [(x.dtype, shape), (wick.int64, shape)]


# ---- shapes ----

@known("Shape")
def _shape(node, sizes):
    rank = node.inputs[0].rank
    if rank is not None and ("start" in node.attributes or "end" in node.attributes):
        rank = len(range(rank)[node.get("start", 0):node.get("end")])
    return [(wick.int64, (sizes.name() if rank is None else rank,))]


@known("Size")
def _size(node, sizes):
    return [(wick.int64, ())]


@known("Reshape")
def _reshape(node, sizes):
    x, wanted = node.inputs[0], numbers(node.inputs[1])
    if wanted is None:
        rank = node.inputs[1].shape[0] if node.inputs[1].shape else None
        return [(x.dtype, [sizes.name() for _ in range(rank)] if isinstance(rank, int) else None)]
    shape = [x.shape[i] if size == 0 and not node.get("allowzero", 0) and x.shape is not None else
             sizes.name() if size == 0 and x.shape is None else size for i, size in enumerate(wanted)]
    if -1 in shape:
        shape[shape.index(-1)] = _rest(x, [size for size in shape if size != -1], sizes)
    return [(x.dtype, shape)]


def _rest(x, others, sizes):
    if x.shape is None:
        return sizes.name()
    given = list(x.shape)
    left = []
    for size in others:
        if size in given and not isinstance(size, int):
            given.remove(size)
        else:
            left.append(size)
    count = _product([size for size in left])
    symbols = [size for size in given if not isinstance(size, int)]
    known_part = math.prod(size for size in given if isinstance(size, int))
    if count and len(symbols) <= 1 and known_part % count == 0:
        return known_part // count if not symbols else symbols[0] if known_part == count else \
            sizes.name("times", symbols[0], known_part // count)
    return sizes.name("rest", tuple(map(str, given)), tuple(map(str, left)))


@known("Flatten")
def _flatten(node, sizes):
    x, axis = node.inputs[0], node.get("axis", 1)
    if x.shape is None:
        return [(x.dtype, (sizes.name(), sizes.name()))]
    return [(x.dtype, (_total(x.shape[:axis], sizes), _total(x.shape[axis:], sizes)))]


@known("Transpose")
def _transpose(node, sizes):
    x = node.inputs[0]
    return [(x.dtype, None if x.shape is None else [x.shape[i] for i in node.get("perm")])]


@known("Unsqueeze")
def _unsqueeze(node, sizes):
    x, axes = node.inputs[0], numbers(node.inputs[1])
    if x.shape is None or axes is None:
        return [(x.dtype, None)]
    shape = list(x.shape)
    rank = len(shape) + len(axes)
    for axis in sorted(dim_of(axis, rank) for axis in axes):
        shape.insert(axis, 1)
    return [(x.dtype, shape)]


@known("Squeeze")
def _squeeze(node, sizes):
    x, axes = node.inputs[0], numbers(node.inputs[1]) if len(node.inputs) > 1 else None
    return [(x.dtype, None if axes is None else _reduced(x, axes, False))]


@known("Concat")
def _concat(node, sizes):
    shapes = [value.shape for value in node.inputs]
    dtype, ranks = node.inputs[0].dtype, [len(shape) for shape in shapes if shape is not None]
    if not ranks:
        return [(dtype, None)]
    axis = dim_of(node.get("axis"), ranks[0])
    shape = []
    for i in range(ranks[0]):
        given = [None if each is None else each[i] for each in shapes]
        numbers_of = [size for size in given if isinstance(size, int)]
        if i != axis:
            shape.append(numbers_of[0] if numbers_of else next(size for size in given if size is not None))
        elif None in given:
            shape.append(sizes.name())
        else:
            symbols = sorted(size for size in given if not isinstance(size, int))
            shape.append(sum(numbers_of) if not symbols else symbols[0] if len(symbols) == 1 and not sum(numbers_of)
                         else sizes.name("sum", tuple(symbols), sum(numbers_of)))
    return [(dtype, shape)]


@known("Split")
def _split(node, sizes):
    x = node.inputs[0]
    parts = numbers(node.inputs[1]) if len(node.inputs) > 1 else None
    if x.shape is None:
        return [(x.dtype, None)] * len(node.outputs)
    axis, found = dim_of(node.get("axis", 0), len(x.shape)), []
    for i in range(len(node.outputs)):
        shape = list(x.shape)
        shape[axis] = parts[i] if parts else sizes.name("split", x.shape[axis], len(node.outputs), i) \
            if not isinstance(shape[axis], int) else shape[axis] // len(node.outputs)
        found.append((x.dtype, shape))
    return found


def _sliced(size, start, end, step, sizes):
    if isinstance(size, int):
        return len(range(size)[slice(start, None if step < 0 and end < -size else end, step)])
    if (start, step) == (0, 1) and end > 1 << 31:
        return size
    return sizes.name("slice", size, start, end, step)


@known("Slice")
def _slice(node, sizes):
    x, (starts, ends, axes) = node.inputs[0], map(numbers, node.inputs[1:4])
    steps = numbers(node.inputs[4]) if len(node.inputs) > 4 else [1] * len(axes or ())
    if x.shape is None:
        return [(x.dtype, None)]
    shape = list(x.shape)
    if axes is None:
        return [(x.dtype, [sizes.name() for _ in shape])]
    for i, axis in enumerate(axes):
        whole = starts is not None and ends is not None and steps is not None
        shape[axis] = _sliced(shape[axis], starts[i], ends[i], steps[i], sizes) if whole else \
            sizes.name("slice", shape[axis], *(value.name or tuple(numbers(value)) for value in node.inputs[1:]), i)
    return [(x.dtype, shape)]


@known("Expand")
def _expand(node, sizes):
    x, wanted = node.inputs[0], numbers(node.inputs[1])
    if wanted is not None:
        return [(x.dtype, broadcast([x.shape, tuple(wanted)], sizes))]
    rank = node.inputs[1].shape[0] if node.inputs[1].shape else None
    if not isinstance(rank, int) or x.shape is None:
        return [(x.dtype, None)]
    return [(x.dtype, [sizes.name() for _ in range(max(rank, len(x.shape)))])]


@known("Tile")
def _tile(node, sizes):
    x, counts = node.inputs[0], numbers(node.inputs[1])
    if x.shape is None:
        return [(x.dtype, None)]
    if counts is None:
        return [(x.dtype, [sizes.name() for _ in x.shape])]
    return [(x.dtype, [size if count == 1 else size * count if isinstance(size, int)
                       else sizes.name("times", size, count) for size, count in zip(x.shape, counts)])]


@known("Pad")
def _pad(node, sizes):
    x, pads = node.inputs[0], numbers(node.inputs[1])
    if x.shape is None:
        return [(x.dtype, None)]
    if pads is None:
        return [(x.dtype, [sizes.name() for _ in x.shape])]
    n = len(x.shape)
    return [(x.dtype, [size if not pads[i] + pads[n + i] else size + pads[i] + pads[n + i] if isinstance(size, int)
                       else sizes.name("padded", size, pads[i] + pads[n + i]) for i, size in enumerate(x.shape)])]


@known("DepthToSpace", "SpaceToDepth")
def _blocks(node, sizes):
    x, by = node.inputs[0], node.get("blocksize")
    if x.shape is None:
        return [(x.dtype, None)]
    up = node.kind == "DepthToSpace"

    def scaled(size, factor, grows):
        if isinstance(size, int):
            return size * factor if grows else size // factor
        return sizes.name("block", size, factor, grows)
    return [(x.dtype, [x.shape[0], scaled(x.shape[1], by * by, not up)] +
             [scaled(size, by, up) for size in x.shape[2:]])]


# ---- taking elements ----

@known("Gather")
def _gather(node, sizes):
    x, index = node.inputs
    if x.shape is None or index.shape is None:
        return [(x.dtype, None)]
    axis = dim_of(node.get("axis", 0), len(x.shape))
    return [(x.dtype, x.shape[:axis] + index.shape + x.shape[axis + 1:])]


@known("GatherElements")
def _gather_elements(node, sizes):
    return [(node.inputs[0].dtype, node.inputs[1].shape)]


@known("GatherND")
def _gather_nd(node, sizes):
    x, index, batch = node.inputs[0], node.inputs[1], node.get("batch_dims", 0)
    if x.shape is None or index.shape is None or not isinstance(index.shape[-1], int):
        return [(x.dtype, None)]
    return [(x.dtype, index.shape[:-1] + x.shape[index.shape[-1] + batch:])]


@known("Compress")
def _compress(node, sizes):
    x = node.inputs[0]
    if x.shape is None:
        return [(x.dtype, None)]
    if "axis" not in node.attributes:
        return [(x.dtype, (sizes.name(),))]
    shape = list(x.shape)
    shape[node.get("axis")] = sizes.name()
    return [(x.dtype, shape)]


@known("NonZero")
def _nonzero(node, sizes):
    rank = node.inputs[0].rank
    return [(wick.int64, (sizes.name() if rank is None else rank, sizes.name()))]


@known("OneHot")
def _one_hot(node, sizes):
    index, depth, values = node.inputs
    count = numbers(depth)
    shape = None if index.shape is None else index.shape + (count[0] if count else sizes.name(),)
    return [(values.dtype, shape)]


@known("Range")
def _range(node, sizes):
    given = [numbers(value) for value in node.inputs]
    if None not in given:
        start, end, step = (each[0] for each in given)
        return [(node.inputs[0].dtype, (max(0, math.ceil((end - start) / step)),))]
    end = node.inputs[1].size_name
    if given[0] == [0] and given[2] == [1] and end:
        return [(node.inputs[0].dtype, (end,))]
    return [(node.inputs[0].dtype, (sizes.name(),))]


@known("ConstantOfShape")
def _constant_of_shape(node, sizes):
    wanted, rank = numbers(node.inputs[0]), node.inputs[0].shape[0] if node.inputs[0].shape else None
    shape = wanted if wanted is not None else [sizes.name() for _ in range(rank)] if isinstance(rank, int) else None
    return [(node.get("value").dtype, shape)]


@known("EyeLike")
def _eye_like(node, sizes):
    return [(node.inputs[0].dtype, node.inputs[0].shape)]


@known("Unique")
def _unique(node, sizes):
    n = sizes.name()
    x = node.inputs[0]
    return [(x.dtype, (n,) if "axis" not in node.attributes else None), (wick.int64, (n,)),
            (wick.int64, (sizes.name(),)), (wick.int64, (n,))]


@known("SequenceAt")
def _sequence_at(node, sizes):
    return [(node.inputs[0].dtype, node.inputs[0].shape)]


@known("ConcatFromSequence")
def _concat_from_sequence(node, sizes):
    item, axis, stacks = node.inputs[0], node.get("axis"), node.get("new_axis", 0)
    if item.shape is None:
        return [(item.dtype, None)]
    axis, shape = dim_of(axis, len(item.shape) + stacks), list(item.shape)
    shape[axis:axis + 1 - stacks] = [sizes.name()]
    return [(item.dtype, shape)]


@known("SequenceLength")
def _sequence_length(node, sizes):
    return [(wick.int64, ())]
