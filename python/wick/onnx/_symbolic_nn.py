"""How layers are exported: products, convolutions, pools, norms, activations, embeddings, sizes of images."""
import math

import wick

from . import _model
from ._rows import ROWS, known_now, need_opset, rank_of, row
from ._shapes import dim_of
from ._symbolic_math import float_of
from ._symbolic_shape import reshape, to_dtype
from .errors import SymbolicValueError

Value = _model.Value


def call(g, name, *values):
    """Another operator's row."""
    return ROWS["aten::" + name](g, *values)


def _numbers(value, count):
    """A list of so many numbers: one is given for all."""
    value = known_now(value, "the parameters of a layer")
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return value * count if len(value) == 1 else value


# ---- products ----

@row("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul")
def _matmul(g, x, y):
    return g.op("MatMul", *g.promoted(x, y))


@row("linear")
def _linear(g, x, weight, bias=None):
    if x.rank == 2 and bias is not None:
        return g.op("Gemm", x, weight, bias, transB_i=1)
    made = g.op("MatMul", x, _transposed(g, weight))
    return made if bias is None else g.op("Add", made, bias)


def _transposed(g, weight):
    """A weight the other way round; a constant where it is one, once."""
    if weight.tensor is not None and (g.folds_parameters or not weight.parameter):
        return g.once((weight, "t"), lambda: g.constant(weight.tensor.t().contiguous()))
    return g.op("Transpose", weight, perm_i=[1, 0])


@row("addmm")
def _addmm(g, x, a, b, beta=1, alpha=1):
    if a.rank == 2 and b.rank == 2 and x.rank is not None and x.rank <= 2:
        node = b.node
        if node is not None and node.kind == "Transpose" and node.get("perm") == [1, 0]:
            return g.op("Gemm", a, node.inputs[0], x, alpha_f=float(alpha), beta_f=float(beta), transB_i=1)
        return g.op("Gemm", a, b, x, alpha_f=float(alpha), beta_f=float(beta))
    return _scaled_sum(g, x, g.op("MatMul", a, b), beta, alpha)


def _scaled_sum(g, x, product, beta, alpha):
    return call(g, "add", call(g, "mul", x, beta) if beta != 1 else x, product, alpha)


@row("addmv", "baddbmm")
def _added_product(g, x, a, b, beta=1, alpha=1):
    return _scaled_sum(g, x, g.op("MatMul", a, b), beta, alpha)


@row("einsum")
def _einsum(g, equation, items, *rest):
    if "->" not in equation:
        letters = sorted(letter for letter in equation if letter.isalpha())
        equation += "->" + "".join(letter for letter in letters if letters.count(letter) == 1)
    return g.op("Einsum", *g.promoted(*items), equation_s=equation)


@row("bilinear")
def _bilinear(g, a, b, weight, bias=None):
    made = g.op("Einsum", a, weight, b, equation_s="ni,oij,nj->no")
    return made if bias is None else g.op("Add", made, bias)


@row("outer", "ger")
def _outer(g, x, y):
    return call(g, "mul", g.op("Unsqueeze", x, [1]), g.op("Unsqueeze", y, [0]))


# ---- convolutions ----

@row("_convolution", "convolution")
def _convolution(g, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *rest):
    if weight.shape is None:
        raise SymbolicValueError("a convolution with a weight whose sizes are not known", weight)
    n = len(weight.shape) - 2
    unbatched = x.rank == n + 1
    if unbatched:
        x = g.op("Unsqueeze", x, [0])
    padding, more = _numbers(padding, n), _numbers(output_padding, n)
    attributes = {
        "kernel_shape_i": list(weight.shape[2:]) if all(isinstance(size, int) for size in weight.shape[2:]) else None,
        "strides_i": _numbers(stride, n), "pads_i": padding * 2, "dilations_i": _numbers(dilation, n),
        "group_i": groups,
    }
    if transposed and any(more):
        attributes["output_padding_i"] = more
    inputs = [x, weight] if bias is None else [x, weight, bias]
    made = g.op("ConvTranspose" if transposed else "Conv", *inputs, **attributes)
    return g.op("Squeeze", made, [0]) if unbatched else made


@row("conv1d", "conv2d", "conv3d")
def _conv(g, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    n = len(weight.shape) - 2
    if padding == "valid":
        padding = 0
    if padding == "same":
        whole = [d * (k - 1) for d, k in zip(_numbers(dilation, n), weight.shape[2:])]
        if any(size % 2 for size in whole):
            before = [size // 2 for size in whole]
            x = g.op("Pad", x, [0, 0] + before + [0, 0] + [size - b for size, b in zip(whole, before)])
            padding = 0
        else:
            padding = [size // 2 for size in whole]
    return _convolution(g, x, weight, bias, stride, padding, dilation, False, 0, groups)


@row("_convolution_mode")
def _convolution_mode(g, x, weight, bias, stride, padding, dilation, groups):
    return _conv(g, x, weight, bias, stride, padding, dilation, groups)


@row("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _conv_transpose(g, x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _convolution(g, x, weight, bias, stride, padding, dilation, True, output_padding, groups)


# ---- pools ----

def _pooled(g, x, n, kind, outputs=1, **attributes):
    unbatched = x.rank == n + 1
    if unbatched:
        x = g.op("Unsqueeze", x, [0])
    made = g.op(kind, x, outputs=outputs, **attributes)
    if not unbatched:
        return made
    return g.op("Squeeze", made, [0]) if outputs == 1 else tuple(g.op("Squeeze", part, [0]) for part in made)


def _max_pool(n, with_indices):
    def pool(g, x, kernel, stride=(), padding=0, dilation=1, up=False):
        kernel = _numbers(kernel, n)
        stride = _numbers(stride, n) if stride not in ((), []) else kernel
        attributes = {"kernel_shape_i": kernel, "strides_i": stride, "pads_i": _numbers(padding, n) * 2,
                      "dilations_i": _numbers(dilation, n), "ceil_mode_i": int(up)}
        if not with_indices:
            return _pooled(g, x, n, "MaxPool", **attributes)
        made, index = _pooled(g, x, n, "MaxPool", 2, **attributes)
        return made, _within_channel(g, x, index, n)
    return pool


def _within_channel(g, x, index, n):
    """ONNX counts in the whole tensor, torch in a channel of a sample."""
    sizes = g.shape(x)[-n:]
    area = sizes[0]
    for size in sizes[1:]:
        area = call(g, "mul", area, size) if isinstance(area, Value) or isinstance(size, Value) else area * size
    return call(g, "remainder", index, area)


def _avg_pool(n):
    def pool(g, x, kernel, stride=(), padding=0, up=False, count_padding=True, divisor=None):
        kernel, padding = _numbers(kernel, n), _numbers(padding, n)
        stride = _numbers(stride, n) if stride not in ((), []) else kernel
        if up and any(padding) and count_padding:
            raise SymbolicValueError("avg_pool with ceil_mode and count_include_pad")
        made = _pooled(g, x, n, "AveragePool", kernel_shape_i=kernel, strides_i=stride, pads_i=padding * 2,
                       ceil_mode_i=int(up), count_include_pad_i=int(count_padding))
        if divisor is None:
            return made
        if not count_padding or up:
            raise SymbolicValueError("avg_pool with a divisor, and without counting what is padded")
        return g.op("Mul", made, g.constant(math.prod(kernel) / divisor, x.dtype))
    return pool


def _by_windows(g, x, given, sizes, kind):
    """An adaptive pool whose windows differ in size, one dimension after the other."""
    rank = rank_of(x, "an adaptive pool")
    for i, (size, wanted) in enumerate(zip(given, sizes)):
        dim = rank - len(sizes) + i
        bounds = [(j * size // wanted, -(-(j + 1) * size // wanted)) for j in range(wanted)]
        parts = [g.op(kind, g.op("Slice", x, [start], [end], [dim]), axes_i=[dim]) for start, end in bounds]
        x = parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=dim)
    return x


def _adaptive(n, kind):
    def pool(g, x, sizes):
        sizes = [x.shape[i - n] if size is None else size for i, size in enumerate(_numbers(sizes, n))]
        if all(size == 1 for size in sizes):
            return _pooled(g, x, n, "Global" + kind)
        given = x.shape[-n:] if x.shape is not None else (None,) * n
        if any(not isinstance(size, int) for size in given):
            raise SymbolicValueError("an adaptive pool to %s of sizes that are not known" % (sizes,), x)
        if any(a % b for a, b in zip(given, sizes)):
            return _by_windows(g, x, given, sizes, "ReduceMean" if kind == "AveragePool" else "ReduceMax")
        kernel = [a // b for a, b in zip(given, sizes)]
        if all(size == 1 for size in kernel):
            return x
        return _pooled(g, x, n, kind, kernel_shape_i=kernel, strides_i=kernel)
    return pool


def _adaptive_with_indices(n):
    pool = _adaptive(n, "MaxPool")

    def both(g, x, sizes):
        return pool(g, x, sizes), None
    return both


for _n in (1, 2, 3):
    ROWS["aten::max_pool%dd" % _n] = _max_pool(_n, False)
    ROWS["aten::max_pool%dd_with_indices" % _n] = _max_pool(_n, True)
    ROWS["aten::avg_pool%dd" % _n] = _avg_pool(_n)
    ROWS["aten::adaptive_avg_pool%dd" % _n] = _adaptive(_n, "AveragePool")
    ROWS["aten::adaptive_max_pool%dd" % _n] = _adaptive_with_indices(_n)


# ---- norms ----

def _per_channel(g, value, x, fill):
    """A parameter for each channel; without one a constant."""
    if value is not None:
        return value
    if rank_of(x, "a norm") < 2 or not isinstance(x.shape[1], int):
        raise SymbolicValueError("a norm without parameters of channels whose number is not known", x)
    return g.constant(wick.full([x.shape[1]], fill, dtype=x.dtype))


@row("batch_norm", "cudnn_batch_norm")
def _batch_norm(g, x, weight, bias, mean, variance, training, momentum, eps, *rest):
    if mean is None or variance is None:
        raise SymbolicValueError("batch_norm without running statistics")
    weight, bias = _per_channel(g, weight, x, 1.), _per_channel(g, bias, x, 0.)
    if not training:
        return g.op("BatchNormalization", x, weight, bias, mean, variance, epsilon_f=eps, momentum_f=1 - momentum)
    need_opset(g, 14, "batch_norm in training")
    return g.op("BatchNormalization", x, weight, bias, mean, variance, outputs=3, epsilon_f=eps,
                momentum_f=1 - momentum, training_mode_i=1)[0]


@row("instance_norm")
def _instance_norm(g, x, weight, bias, mean, variance, use_input, momentum, eps, *rest):
    weight, bias = _per_channel(g, weight, x, 1.), _per_channel(g, bias, x, 0.)
    if not use_input and mean is not None:
        return g.op("BatchNormalization", x, weight, bias, mean, variance, epsilon_f=eps)
    return g.op("InstanceNormalization", x, weight, bias, epsilon_f=eps)


@row("layer_norm", "native_layer_norm")
def _layer_norm(g, x, shape, weight=None, bias=None, eps=1e-5, *rest):
    n = len(shape)
    if g.opset >= 17:
        scale = weight if weight is not None else g.constant(wick.ones(shape, dtype=x.dtype))
        inputs = [x, scale] if bias is None else [x, scale, bias]
        return g.op("LayerNormalization", *inputs, axis_i=-n, epsilon_f=eps)
    axes = list(range(-n, 0))
    centered = g.op("Sub", x, g.op("ReduceMean", x, axes_i=axes))
    variance = g.op("ReduceMean", g.op("Mul", centered, centered), axes_i=axes)
    made = g.op("Div", centered, g.op("Sqrt", g.op("Add", variance, g.constant(eps, x.dtype))))
    made = made if weight is None else g.op("Mul", made, weight)
    return made if bias is None else g.op("Add", made, bias)


@row("group_norm")
def _group_norm(g, x, groups, weight=None, bias=None, eps=1e-5, *rest):
    rank, sizes = rank_of(x, "group_norm"), g.shape(x)
    parts = reshape(g, x, [sizes[0], groups, -1])
    ones, zeros = (g.constant(wick.full([groups], fill, dtype=x.dtype)) for fill in (1., 0.))
    made = reshape(g, g.op("InstanceNormalization", parts, ones, zeros, epsilon_f=eps), sizes)
    tail = [1] * (rank - 2)
    made = made if weight is None else g.op("Mul", made, reshape(g, weight, [-1] + tail))
    return made if bias is None else g.op("Add", made, reshape(g, bias, [-1] + tail))


# ---- activations ----

@row("relu")
def _relu(g, x):
    if x.dtype.is_floating_point or g.opset >= 14:
        return g.op("Relu", x)
    return g.op("Max", x, g.constant(0, x.dtype))


@row("relu6")
def _relu6(g, x):
    return call(g, "clamp", x, 0, 6)


@row("hardtanh")
def _hardtanh(g, x, low=-1, high=1):
    return call(g, "clamp", x, low, high)


@row("leaky_relu")
def _leaky_relu(g, x, slope=0.01):
    return g.op("LeakyRelu", x, alpha_f=float(slope))


@row("rrelu")
def _rrelu(g, x, low, high, training=False, *rest):
    if training:
        raise SymbolicValueError("rrelu in training")
    return g.op("LeakyRelu", x, alpha_f=(low + high) / 2)


@row("prelu")
def _prelu(g, x, weight):
    rank = rank_of(x, "prelu")
    if rank > 2:
        weight = reshape(g, weight, [-1] + [1] * (rank - 2))
    return g.op("PRelu", x, weight)


@row("elu")
def _elu(g, x, alpha=1, scale=1, input_scale=1):
    if (scale, input_scale) != (1, 1):
        raise SymbolicValueError("elu with scales")
    return g.op("Elu", x, alpha_f=float(alpha))


@row("selu")
def _selu(g, x):
    return g.op("Selu", x)


@row("celu")
def _celu(g, x, alpha=1):
    return g.op("Celu", x, alpha_f=float(alpha))


@row("silu")
def _silu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


@row("mish")
def _mish(g, x):
    return g.op("Mul", x, g.op("Tanh", g.op("Softplus", x)))


@row("gelu")
def _gelu(g, x, approximate="none"):
    half, one = g.constant(0.5, x.dtype), g.constant(1., x.dtype)
    if approximate == "tanh":
        cube = g.op("Mul", g.op("Mul", x, x), x)
        inner = g.op("Add", x, g.op("Mul", cube, g.constant(0.044715, x.dtype)))
        bent = g.op("Tanh", g.op("Mul", inner, g.constant(math.sqrt(2 / math.pi), x.dtype)))
    else:
        bent = g.op("Erf", g.op("Div", x, g.constant(math.sqrt(2), x.dtype)))
    return g.op("Mul", g.op("Mul", x, g.op("Add", bent, one)), half)


@row("hardsigmoid")
def _hardsigmoid(g, x):
    return g.op("HardSigmoid", x, alpha_f=1 / 6, beta_f=0.5)


@row("hardswish")
def _hardswish(g, x):
    return g.op("HardSwish", x) if g.opset >= 14 else g.op("Mul", x, _hardsigmoid(g, x))


@row("softplus")
def _softplus(g, x, beta=1, threshold=20):
    scaled = x if beta == 1 else g.op("Mul", x, g.constant(float(beta), x.dtype))
    made = g.op("Softplus", scaled)
    made = made if beta == 1 else g.op("Div", made, g.constant(float(beta), x.dtype))
    return g.op("Where", g.op("Greater", scaled, g.constant(float(threshold), x.dtype)), x, made)


@row("softsign")
def _softsign(g, x):
    return g.op("Softsign", x)


@row("log_sigmoid")
def _log_sigmoid(g, x):
    return g.op("Neg", g.op("Softplus", g.op("Neg", x)))


@row("threshold")
def _threshold(g, x, limit, value):
    return g.op("Where", g.op("Greater", x, g.constant(limit, x.dtype)), x, g.constant(value, x.dtype))


@row("hardshrink")
def _hardshrink(g, x, limit=0.5):
    return g.op("Where", g.op("Greater", g.op("Abs", x), g.constant(float(limit), x.dtype)), x,
                g.constant(0., x.dtype))


@row("softshrink")
def _softshrink(g, x, limit=0.5):
    limit, zero = g.constant(float(limit), x.dtype), g.constant(0., x.dtype)
    return g.op("Mul", g.op("Sign", x), g.op("Max", g.op("Sub", g.op("Abs", x), limit), zero))


@row("glu")
def _glu(g, x, dim=-1):
    left, right = g.op("Split", x, axis_i=dim_of(dim, rank_of(x, "glu")), outputs=2)
    return g.op("Mul", left, g.op("Sigmoid", right))


@row("softmax", "_softmax")
def _softmax(g, x, dim, dtype=None):
    x = float_of(g, to_dtype(g, x, None if isinstance(dtype, bool) else dtype))
    return g.op("Softmax", x, axis_i=dim)


@row("log_softmax", "_log_softmax")
def _log_softmax(g, x, dim, dtype=None):
    x = float_of(g, to_dtype(g, x, None if isinstance(dtype, bool) else dtype))
    return g.op("LogSoftmax", x, axis_i=dim)


@row("dropout", "feature_dropout")
def _dropout(g, x, p, training):
    if not training:
        return x
    return g.op("Dropout", x, g.constant(float(p)), g.constant(True), outputs=2)[0]


# ---- embeddings ----

@row("embedding")
def _embedding(g, weight, index, *rest):
    return g.op("Gather", weight, index, axis_i=0)


@row("embedding_bag")
def _embedding_bag(g, weight, index, offsets, scale_by_freq=False, mode=0, sparse=False, weights=None, last=False,
                   padding=None):
    """Which bag each position belongs to follows from the offsets; the bags are sums over a row for each bag."""
    if scale_by_freq or padding not in (None, -1) or mode == 2:
        raise SymbolicValueError("embedding_bag of maxima, with padding or with scales")
    if last:
        offsets = g.op("Slice", offsets, [0], [-1], [0])
    taken = g.op("Gather", weight, index, axis_i=0)
    if weights is not None:
        taken = g.op("Mul", taken, g.op("Unsqueeze", weights, [1]))
    at = g.op("Range", g.constant(0), g.cast(g.size(index, 0), wick.int64), g.constant(1))
    starts = g.op("Unsqueeze", g.cast(offsets, wick.int64), [1])
    ends = g.op("Concat", g.op("Slice", starts, [1], [1 << 62], [0]),
                g.op("Reshape", g.cast(g.size(index, 0), wick.int64), [1, 1]), axis_i=0)
    inside = g.op("And", g.op("GreaterOrEqual", at, starts), g.op("Less", at, ends))
    inside = g.cast(inside, weight.dtype)
    made = g.op("MatMul", inside, taken)
    if mode == 1:
        count = g.op("ReduceSum", inside, [1], keepdims_i=1)
        made = g.op("Div", made, g.op("Max", count, g.constant(1., weight.dtype)))
    return made, None, None, None


# ---- images of other sizes ----

def _resized(mode, n):
    def resize(g, x, sizes, *rest):
        """rest: align_corners where the mode has it, then scales for each dimension, or a list of them."""
        align = rest[0] if mode != "nearest" and rest and isinstance(rest[0], bool) else None
        scales = list(rest[1 if align is not None else 0:])
        if len(scales) == 1 and isinstance(scales[0], list):
            scales = scales[0]
        scales = [] if any(scale is None for scale in scales) else scales
        if mode == "nearest":
            how = {"coordinate_transformation_mode_s": "asymmetric", "nearest_mode_s": "floor"}
        else:
            how = {"coordinate_transformation_mode_s": "align_corners" if align else "half_pixel"}
        if mode == "cubic":
            how["cubic_coeff_a_f"] = -0.75
        empty = g.constant(wick.zeros(0))
        if scales and all(isinstance(scale, float) for scale in scales):
            given = wick.tensor([1., 1.] + [float(scale) for scale in scales])
            return g.op("Resize", x, empty, g.constant(given), mode_s=mode, **how)
        if sizes is None:
            scales = [g.op("Unsqueeze", g.cast(scale, wick.float32), [0]) for scale in scales]
            return g.op("Resize", x, empty, g.op("Concat", g.constant(wick.ones(2)), *scales, axis_i=0), mode_s=mode,
                        **how)
        wanted = sizes if isinstance(sizes, list) else [sizes]
        made = g.op("Resize", x, empty, None, g.ints(g.shape(x)[:2] + wanted), mode_s=mode, **how)
        if x.shape is not None:
            made.shape = x.shape[:2] + tuple(size if isinstance(size, int) else size.size_name or old
                                             for size, old in zip(wanted, made.shape[2:]))
        return made
    return resize


for _mode, _names in (("nearest", ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")),
                      ("linear", ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")),
                      ("cubic", ("upsample_bicubic2d",))):
    for _name in _names:
        ROWS["aten::" + _name] = _resized(_mode, int(_name[-2]))


@row("grid_sampler")
def _grid_sampler(g, x, grid, mode, padding, align):
    need_opset(g, 16, "grid_sampler")
    return g.op("GridSample", x, grid, align_corners_i=int(align), mode_s=("bilinear", "nearest", "bicubic")[mode],
                padding_mode_s=("zeros", "border", "reflection")[padding])


# ---- padding ----

def _pads(g, x, pads):
    """torch's pads, from the last dimension on, two each, as ONNX has them."""
    rank = rank_of(x, "padding")
    begin, end = [0] * rank, [0] * rank
    for i in range(len(pads) // 2):
        begin[rank - 1 - i], end[rank - 1 - i] = pads[2 * i], pads[2 * i + 1]
    return begin + end


@row("constant_pad_nd")
def _constant_pad(g, x, pads, value=0):
    if x.dtype == wick.bool:
        return g.cast(_constant_pad(g, g.cast(x, wick.uint8), pads, int(value)), wick.bool)
    return g.op("Pad", x, g.ints(_pads(g, x, pads)), g.cast(value, x.dtype), mode_s="constant")


@row("pad")
def _pad(g, x, pads, mode="constant", value=None):
    if mode == "constant":
        return _constant_pad(g, x, pads, 0 if value is None else value)
    if mode not in ("reflect", "replicate"):
        raise SymbolicValueError("padding of the mode %s" % mode)
    return _padded(g, x, pads, "reflect" if mode == "reflect" else "edge")


def _padded(g, x, pads, mode):
    return g.op("Pad", x, g.ints(_pads(g, x, pads)), mode_s=mode)


for _n in (1, 2, 3):
    ROWS["aten::reflection_pad%dd" % _n] = lambda g, x, pads: _padded(g, x, pads, "reflect")
    ROWS["aten::replication_pad%dd" % _n] = lambda g, x, pads: _padded(g, x, pads, "edge")


# ---- likeness ----

@row("cosine_similarity")
def _cosine_similarity(g, x, y, dim=1, eps=1e-8):
    product = g.op("ReduceSum", call(g, "mul", x, y), [dim], keepdims_i=0)
    norms = [g.op("ReduceL2", value, axes_i=[dim], keepdims_i=0) for value in (x, y)]
    return g.op("Div", product, g.op("Max", g.op("Mul", *norms), g.constant(float(eps), x.dtype)))


@row("_weight_norm")
def _weight_norm(g, v, weight, dim=0):
    rank = rank_of(v, "weight_norm")
    axes = [i for i in range(rank) if i != dim_of(dim, rank)]
    return g.op("Mul", v, g.op("Div", weight, g.op("ReduceL2", v, axes_i=axes)))
