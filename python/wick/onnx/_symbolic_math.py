"""How arithmetic, comparisons and functions of single elements are exported; numbers of the program alike."""
import functools
import math

import wick

from . import _model
from ._builder import number_dtype
from ._rows import ROWS, need_opset, rank_of, row
from ._symbolic_index import nonzero
from ._symbolic_shape import to_dtype

Value = _model.Value


def is_number(value):
    """Whether it is a number of the program, no tensor."""
    return isinstance(value, (bool, int, float)) or isinstance(value, Value) and value.number is not None


def dtype_of(value):
    """The dtype of a tensor or a number."""
    return value.dtype if isinstance(value, Value) else number_dtype(value)


def _named(value):
    return value if isinstance(value, int) else value.size_name if isinstance(value, Value) else None


def arithmetic(*names):
    """Notes a row whose result is a number where all arguments are."""
    def note(function):
        @functools.wraps(function)
        def wrapped(g, *values):
            made = function(g, *values)
            operands = [value for value in values[:2] if value is not None]
            if all(map(is_number, operands)) and isinstance(made, Value):
                kind = "bool" if made.dtype == wick.bool else "float" if made.dtype.is_floating_point else "int"
                made = g.number(made, kind)
                known = [_named(value) for value in operands]
                if kind == "int" and None not in known and len(values) == len(operands):
                    made.size_name = g.sizes.name(names[0], *known)
            return made
        return row(*names)(wrapped)
    return note


# ---- two operands ----

def _scaled(g, other, alpha):
    return other if isinstance(alpha, (int, float)) and alpha == 1 else ROWS["aten::mul"](g, other, alpha)


@arithmetic("add")
def _add(g, x, y, alpha=1):
    if isinstance(x, (list, tuple)):
        return list(x) + list(y)
    x, y = g.promoted(x, _scaled(g, y, alpha))
    return g.op("Or" if x.dtype == wick.bool else "Add", x, y)


@arithmetic("sub")
def _sub(g, x, y, alpha=1):
    return g.op("Sub", *g.promoted(x, _scaled(g, y, alpha)))


@row("rsub")
def _rsub(g, x, y, alpha=1):
    return g.op("Sub", *g.promoted(y, _scaled(g, x, alpha)))


@arithmetic("mul")
def _mul(g, x, y):
    x, y = g.promoted(x, y)
    return g.op("And" if x.dtype == wick.bool else "Mul", x, y)


def _floats(g, *values):
    dtype = g.common_dtype(values)
    if not dtype.is_floating_point:
        dtype = wick.get_default_dtype()
    return [g.cast(value, dtype) for value in values]


@arithmetic("div", "divide", "true_divide")
def _div(g, x, y, rounding_mode=None):
    if rounding_mode is None:
        return g.op("Div", *_floats(g, x, y))
    x, y = g.promoted(x, y)
    if rounding_mode == "floor":
        return _floor_div(g, x, y)
    made = g.op("Div", x, y)  # integers: toward zero
    if not x.dtype.is_floating_point:
        return made
    return g.op("Where", g.op("Less", made, g.constant(0, x.dtype)), g.op("Ceil", made), g.op("Floor", made))


def _floor_div(g, x, y):
    if x.dtype.is_floating_point:
        return g.op("Floor", g.op("Div", x, y))
    return g.op("Div", g.op("Sub", x, g.op("Mod", x, y)), y)  # the rest has the sign of y: nothing is left over


@arithmetic("floor_divide", "floordiv")
def _floor_divide(g, x, y):
    return _floor_div(g, *g.promoted(x, y))


@arithmetic("remainder")
def _remainder(g, x, y):
    x, y = g.promoted(x, y)
    if x.dtype.is_floating_point:
        return g.op("Sub", x, g.op("Mul", _floor_div(g, x, y), y))
    return g.op("Mod", x, y)


@arithmetic("fmod")
def _fmod(g, x, y):
    return g.op("Mod", *g.promoted(x, y), fmod_i=1)


@arithmetic("pow", "float_power")
def _pow(g, x, y):
    if isinstance(y, (int, float)) and isinstance(x, Value) and y == 2:
        return g.op("Mul", x, x)
    return g.op("Pow", *g.promoted(x, y))


@row("square")
def _square(g, x):
    return g.op("Mul", x, x)


def _ordered(g, x, y):
    x, y = g.promoted(x, y)
    return (g.cast(x, wick.int32), g.cast(y, wick.int32)) if x.dtype == wick.bool else (x, y)


@arithmetic("maximum", "max.other", "prim::max", "fmax")
def _maximum(g, x, y):
    x, y = _ordered(g, x, y)
    return g.op("Max", x, y)


@arithmetic("minimum", "min.other", "prim::min", "fmin")
def _minimum(g, x, y):
    x, y = _ordered(g, x, y)
    return g.op("Min", x, y)


def _comparison(name, kind, negated=False):
    @arithmetic(name)
    def compare(g, x, y):
        x, y = g.promoted(x, y) if kind == "Equal" else _ordered(g, x, y)
        made = g.op(kind, x, y)
        return g.op("Not", made) if negated else made


_comparison("eq", "Equal")
_comparison("ne", "Equal", negated=True)
_comparison("lt", "Less")
_comparison("le", "LessOrEqual")
_comparison("gt", "Greater")
_comparison("ge", "GreaterOrEqual")


def _logic(name, kind):
    @arithmetic(name)
    def logical(g, x, y):
        return g.op(kind, g.cast(x, wick.bool), g.cast(y, wick.bool))


for _name, _kind in (("logical_and", "And"), ("logical_or", "Or"), ("logical_xor", "Xor")):
    _logic(_name, _kind)


def _bitwise(kind, *names):
    @arithmetic(*names)
    def bitwise(g, x, y):
        if dtype_of(x) != wick.bool or dtype_of(y) != wick.bool:
            need_opset(g, 18, "%s of integers" % names[0])
        return g.op(kind, g.cast(x, wick.bool), g.cast(y, wick.bool))


_bitwise("And", "bitwise_and", "__and__", "__iand__")
_bitwise("Or", "bitwise_or", "__or__", "__ior__")
_bitwise("Xor", "bitwise_xor", "__xor__", "__ixor__")


@arithmetic("logical_not", "__not__")
def _logical_not(g, x):
    return g.op("Not", g.cast(x, wick.bool))


@row("bitwise_not")
def _bitwise_not(g, x):
    if x.dtype != wick.bool:
        need_opset(g, 18, "bitwise_not of integers")
    return g.op("Not", x)


@row("addcmul")
def _addcmul(g, x, a, b, value=1):
    return _add(g, x, _mul(g, a, b), value)


@row("addcdiv")
def _addcdiv(g, x, a, b, value=1):
    return _add(g, x, _div(g, a, b), value)


@row("lerp")
def _lerp(g, x, end, weight):
    return _add(g, x, _mul(g, _sub(g, end, x), weight))


@row("atan2")
def _atan2(g, y, x):
    y, x = _floats(g, y, x)
    zero = g.constant(0., x.dtype)
    angle = g.op("Atan", g.op("Div", y, x))
    half = g.constant(math.pi, x.dtype)
    turned = g.op("Where", g.op("Less", y, zero), g.op("Sub", angle, half), g.op("Add", angle, half))
    return g.op("Where", g.op("Less", x, zero), turned, angle)


# ---- one operand ----

def float_of(g, x):
    """The value as floats."""
    return x if x.dtype.is_floating_point else g.cast(x, wick.get_default_dtype())


def _function(name, kind):
    @arithmetic(name)
    def apply(g, x):
        return g.op(kind, float_of(g, x))


for _name in ("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh",
              "atanh", "erf", "sigmoid", "tanh", "reciprocal"):
    _function(_name, _name.capitalize())


def _exact(name, kind):
    @arithmetic(name)
    def apply(g, x):
        if kind in ("Floor", "Ceil", "Round") and not x.dtype.is_floating_point:
            return x
        made = g.op(kind, x)
        # floor and ceil of a number of the program are ints
        return g.cast(made, wick.int64) if x.number is not None and kind in ("Floor", "Ceil") else made


for _name in ("neg", "abs", "floor", "ceil", "round", "sign"):
    _exact(_name, _name.capitalize())


@arithmetic("trunc", "fix")
def _trunc(g, x):
    if not x.dtype.is_floating_point:
        return x
    return g.op("Where", g.op("Less", x, g.constant(0, x.dtype)), g.op("Ceil", x), g.op("Floor", x))


@row("frac")
def _frac(g, x):
    return g.op("Sub", x, _trunc(g, x))


def _by_log(name, base):
    @row(name)
    def apply(g, x):
        x = float_of(g, x)
        return g.op("Mul", g.op("Log", x), g.constant(1 / math.log(base), x.dtype))


_by_log("log2", 2)
_by_log("log10", 10)


@row("log1p")
def _log1p(g, x):
    x = float_of(g, x)
    return g.op("Log", g.op("Add", x, g.constant(1., x.dtype)))


@row("expm1")
def _expm1(g, x):
    x = float_of(g, x)
    return g.op("Sub", g.op("Exp", x), g.constant(1., x.dtype))


@row("exp2")
def _exp2(g, x):
    x = float_of(g, x)
    return g.op("Pow", g.constant(2., x.dtype), x)


@row("erfc")
def _erfc(g, x):
    x = float_of(g, x)
    return g.op("Sub", g.constant(1., x.dtype), g.op("Erf", x))


@row("rsqrt")
def _rsqrt(g, x):
    return g.op("Reciprocal", g.op("Sqrt", float_of(g, x)))


@row("isnan")
def _isnan(g, x):
    return g.op("IsNaN", x) if x.dtype.is_floating_point else ROWS["aten::ne"](g, x, x)


@row("isinf")
def _isinf(g, x):
    return g.op("IsInf", x) if x.dtype.is_floating_point else ROWS["aten::ne"](g, x, x)


@row("isfinite")
def _isfinite(g, x):
    return g.op("Not", g.op("Or", _isnan(g, x), _isinf(g, x)))


@row("nan_to_num")
def _nan_to_num(g, x, nan=None, posinf=None, neginf=None):
    if not x.dtype.is_floating_point:
        return x
    largest = wick.finfo(x.dtype).max
    x = g.op("Where", g.op("IsNaN", x), g.constant(nan or 0., x.dtype), x)
    x = g.op("Where", g.op("IsInf", x, detect_negative_i=0),
             g.constant(largest if posinf is None else posinf, x.dtype), x)
    return g.op("Where", g.op("IsInf", x, detect_positive_i=0),
                g.constant(-largest if neginf is None else neginf, x.dtype), x)


@row("clamp", "clip")
def _clamp(g, x, low=None, high=None):
    values = [value for value in (x, low, high) if value is not None]
    dtype = g.common_dtype(values)
    x = g.cast(x, dtype)
    low, high = (None if value is None else g.cast(value, dtype) for value in (low, high))
    if all(value is None or value.rank == 0 for value in (low, high)):
        return g.op("Clip", x, low, high) if high is not None else g.op("Clip", x, low)
    x = x if low is None else g.op("Max", x, low)
    return x if high is None else g.op("Min", x, high)


@row("clamp_min")
def _clamp_min(g, x, low):
    return _clamp(g, x, low)


@row("clamp_max")
def _clamp_max(g, x, high):
    return _clamp(g, x, None, high)


# ---- numbers and tensors ----

def _to_number(kind, dtype):
    def convert(g, x):
        made = g.cast(x, dtype)
        if made.rank != 0:
            made = g.op("Reshape", made, g.constant(wick.tensor([], dtype=wick.int64)))
        return g.number(made, kind)
    return convert


ROWS["aten::Int"] = ROWS["aten::IntImplicit"] = _to_number("int", wick.int64)
ROWS["aten::Float"] = ROWS["aten::FloatImplicit"] = _to_number("float", wick.float32)
ROWS["aten::Bool"] = _to_number("bool", wick.bool)


@row("item", "ScalarImplicit", "prim::ImplicitTensorToNum", "_local_scalar_dense", "Scalar")
def _item(g, x):
    kind = "bool" if x.dtype == wick.bool else "float" if x.dtype.is_floating_point else "int"
    return _to_number(kind, x.dtype)(g, x)


@row("prim::NumToTensor", "scalar_tensor", "tensor", "as_tensor")
def _number_to_tensor(g, x, dtype=None, *rest):
    if isinstance(x, Value) and x.is_sequence:
        x = g.op("ConcatFromSequence", x, axis_i=0, new_axis_i=1)
    elif isinstance(x, (list, tuple)):
        x = g.ints(x) if all(dtype_of(item) == wick.int64 for item in x) else _stacked_numbers(g, x)
    if not isinstance(x, Value):
        x = g.constant(x)
    made = x.also()
    return made if dtype is None else to_dtype(g, made, dtype)


def _stacked_numbers(g, items):
    items = g.promoted(*items)
    return g.op("Concat", *[g.op("Unsqueeze", item, [0]) for item in items], axis_i=0)


@row("alias", "cpu", "detach", "clone", "contiguous", "lift_fresh", "lift", "resolve_conj", "resolve_neg", "data",
     "positive", "requires_grad_", "conj", "real")
def _same(g, x, *rest):
    return x


@row("copy")
def _copy(g, x, other, non_blocking=False):
    return ROWS["aten::expand_as"](g, g.cast(other, x.dtype), x)


@row("fill")
def _fill(g, x, value):
    return ROWS["aten::full_like"](g, x, value)


@row("zero")
def _zero(g, x):
    return ROWS["aten::full_like"](g, x, 0)


@row("masked_fill")
def _masked_fill(g, x, mask, value):
    return g.op("Where", g.cast(mask, wick.bool), g.cast(value, x.dtype), x)


@row("where")
def _where(g, condition, x=None, y=None):
    condition = g.cast(condition, wick.bool)
    if x is None:
        return [g.op("Squeeze", part, [1]) for part in _columns(g, nonzero(g, condition), condition)]
    return g.op("Where", condition, *g.promoted(x, y))


def _columns(g, index, x):

    rank = rank_of(x, "where")
    parts = g.op("Split", index, g.ints([1] * rank), axis_i=1, outputs=rank)
    return parts if isinstance(parts, tuple) else (parts,)


