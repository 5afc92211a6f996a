"""How reductions, sorting and searching are exported."""
import wick

from . import _model
from ._rows import ROWS, known_now, rank_of, row
from ._shapes import dim_of
from ._symbolic_math import float_of
from ._symbolic_shape import reshape, to_dtype
from .errors import SymbolicValueError

Value = _model.Value


def reduced(g, kind, x, dims=None, keep=False):
    """A reduction over dimensions, over all without them. Where ReduceSum has its axes as an input the others have an
    attribute."""
    dims = [dims] if isinstance(dims, int) and not isinstance(dims, bool) else dims
    if x.rank == 0:
        return x
    if dims and x.rank is not None:
        dims = sorted(dim_of(dim, x.rank) for dim in dims)
    if not dims:
        return g.op(kind, x, keepdims_i=int(keep))
    if kind == "ReduceSum":
        return g.op(kind, x, list(dims), keepdims_i=int(keep))
    return g.op(kind, x, axes_i=list(dims), keepdims_i=int(keep))


def _of_integers(x):
    return not x.dtype.is_floating_point and not x.dtype.is_complex


@row("sum")
def _sum(g, x, *rest):
    """Its overloads have a dtype alone, or dimensions, keepdim and a dtype."""
    if isinstance(x, list):
        made = 0
        for item in x:
            made = ROWS["aten::add"](g, made, item)
        return made
    dims, keep, dtype = rest if len(rest) == 3 else (None, False, rest[0] if rest else None)
    x = to_dtype(g, x, dtype)
    if _of_integers(x) and dtype is None:
        x = g.cast(x, wick.int64)
    return reduced(g, "ReduceSum", x, dims, keep)


@row("mean")
def _mean(g, x, *rest):
    dims, keep, dtype = rest if len(rest) == 3 else (None, False, rest[0] if rest else None)
    return reduced(g, "ReduceMean", to_dtype(g, x, dtype), dims, keep)


@row("prod")
def _prod(g, x, *rest):
    dim, keep, dtype = rest if len(rest) == 3 else (None, False, rest[0] if rest else None)
    x = to_dtype(g, x, dtype)
    if _of_integers(x) and dtype is None:
        x = g.cast(x, wick.int64)
    return reduced(g, "ReduceProd", x, dim, keep)


def _as_numbers(g, x):
    return g.cast(x, wick.int32) if x.dtype == wick.bool else x


def _extreme(name, reduction, pick, other):
    @row(name)
    def extreme(g, x, *rest):
        if not rest and not isinstance(x, list):
            return g.cast(reduced(g, reduction, _as_numbers(g, x)), x.dtype)
        if isinstance(x, list):
            found = x[0]
            for item in x[1:]:
                found = ROWS["aten::" + other](g, found, item)
            return found
        if isinstance(rest[0], Value) and rest[0].number is None or len(rest) == 1:
            return ROWS["aten::" + other](g, x, rest[0])
        dim, keep = rest
        if x.rank == 0:
            return x, g.constant(0)
        dim = dim_of(dim, rank_of(x, name))
        values = g.cast(reduced(g, reduction, _as_numbers(g, x), [dim], keep), x.dtype)
        return values, g.op(pick, _as_numbers(g, x), axis_i=dim, keepdims_i=int(keep))

    @row("arg" + name)
    def where(g, x, dim=None, keep=False):
        x = _as_numbers(g, x)
        if dim is not None:
            return g.op(pick, x, axis_i=dim_of(dim, rank_of(x, name)), keepdims_i=int(keep))
        made = g.op(pick, reshape(g, x, [-1]), axis_i=0, keepdims_i=0)
        return reshape(g, made, [1] * rank_of(x, name)) if keep else made

    @row("a" + name)
    def over(g, x, dims=(), keep=False):
        return reduced(g, reduction, x, dims, keep)


_extreme("max", "ReduceMax", "ArgMax", "maximum")
_extreme("min", "ReduceMin", "ArgMin", "minimum")


@row("aminmax")
def _aminmax(g, x, dim=None, keep=False):
    return reduced(g, "ReduceMin", x, dim, keep), reduced(g, "ReduceMax", x, dim, keep)


def _truth(name, reduction):
    @row(name)
    def truth(g, x, dim=None, keep=False):
        if isinstance(x, list):
            raise SymbolicValueError("%s of a list" % name)
        numbers = g.cast(g.cast(x, wick.bool), wick.int32)
        return g.cast(reduced(g, reduction, numbers, dim, keep), wick.bool)


_truth("any", "ReduceMax")
_truth("all", "ReduceMin")


@row("count_nonzero")
def _count_nonzero(g, x, dim=None):
    return reduced(g, "ReduceSum", g.cast(g.cast(x, wick.bool), wick.int64), dim)


@row("logsumexp")
def _logsumexp(g, x, dims, keep=False):
    return reduced(g, "ReduceLogSumExp", float_of(g, x), dims, keep)


@row("norm", "linalg_vector_norm", "frobenius_norm")
def _norm(g, x, p=2, dims=None, keep=False, dtype=None):
    if isinstance(p, list):
        p, dims, keep = 2, p, bool(dims)  # frobenius_norm(x, dims, keep)
    x, p = to_dtype(g, x, dtype), 2 if p is None else known_now(p, "the order of a norm")
    if p in (1, 2):
        return reduced(g, "ReduceL%d" % p, x, dims, keep)
    size = g.op("Abs", x)
    if p in (float("inf"), float("-inf")):
        return reduced(g, "ReduceMax" if p > 0 else "ReduceMin", size, dims, keep)
    if p == 0:
        return reduced(g, "ReduceSum", g.cast(g.cast(x, wick.bool), x.dtype), dims, keep)
    total = reduced(g, "ReduceSum", g.op("Pow", size, g.constant(float(p), x.dtype)), dims, keep)
    return g.op("Pow", total, g.constant(1 / p, x.dtype))


@row("std")
def _std(g, x, *rest):
    return g.op("Sqrt", _variance(g, x, *rest)[0])


@row("var")
def _var(g, x, *rest):
    return _variance(g, x, *rest)[0]


@row("var_mean")
def _var_mean(g, x, *rest):
    return _variance(g, x, *rest)


@row("std_mean")
def _std_mean(g, x, *rest):
    variance, mean = _variance(g, x, *rest)
    return g.op("Sqrt", variance), mean


def _variance(g, x, *rest):
    """(variance, mean). The overloads have unbiased alone, or dimensions, unbiased or correction, keepdim."""
    dims, less, keep = rest if len(rest) == 3 else (None, rest[0] if rest else True, False)
    less = 1 if less is None else int(less)
    mean = reduced(g, "ReduceMean", x, dims, True)
    off = g.op("Sub", x, mean)
    made = reduced(g, "ReduceMean", g.op("Mul", off, off), dims, keep)
    if less:
        made = _corrected(g, made, x, dims, less)
    return made, mean if keep else reduced(g, "ReduceMean", x, dims, False)


def _corrected(g, variance, x, dims, less):
    dims = range(rank_of(x, "var")) if not dims else [dims] if isinstance(dims, int) else dims
    count = 1
    for dim in dims:
        size = g.size(x, dim)
        count = count * size if isinstance(size, int) and isinstance(count, int) else \
            ROWS["aten::mul"](g, count, size)
    if isinstance(count, int):
        return g.op("Mul", variance, g.constant(count / (count - less) if count > less else float("nan"), x.dtype))
    count = g.cast(count, x.dtype)
    return g.op("Div", g.op("Mul", variance, count), g.op("Sub", count, g.constant(less, x.dtype)))


@row("cumsum")
def _cumsum(g, x, dim, dtype=None):
    x = to_dtype(g, x, dtype)
    if _of_integers(x):
        x = g.cast(x, wick.int64)
    return g.op("CumSum", x, g.constant(dim))


# ---- order ----

@row("topk")
def _topk(g, x, count, dim=-1, largest=True, ordered=True):
    counts = g.ints([count]) if not isinstance(count, Value) or count.rank == 0 else count
    return g.op("TopK", x, counts, axis_i=dim_of(dim, rank_of(x, "topk")), largest_i=int(largest),
                sorted_i=int(ordered), outputs=2)


@row("sort")
def _sort(g, x, *rest):
    """Its overloads: dimension and descending; stable, dimension and descending."""
    dim, descending = rest[-2:] if len(rest) > 1 else (-1, False)
    dim = dim_of(dim, rank_of(x, "sort"))
    if x.rank == 0:
        return x, g.constant(0)
    return _topk(g, x, g.size(x, dim), dim, descending)


@row("argsort")
def _argsort(g, x, *rest):
    return _sort(g, x, *rest)[1]


@row("kthvalue")
def _kthvalue(g, x, k, dim=-1, keep=False):
    dim = dim_of(dim, rank_of(x, "kthvalue"))
    parts = _topk(g, x, k, dim, False)
    last = [g.op("Slice", part, [-1], [1 << 62], [dim]) for part in parts]
    return tuple(last) if keep else tuple(g.op("Squeeze", part, [dim]) for part in last)


@row("_unique2", "_unique")
def _unique(g, x, ordered=True, inverse=False, counts=False):
    values, _, back, count = g.op("Unique", x, sorted_i=1, outputs=4)
    back = ROWS["aten::view_as"](g, back, x) if inverse else back
    return values, back, count


@row("searchsorted")
def _searchsorted(g, bounds, x, as_int=False, right=False, *rest):
    if rank_of(bounds, "searchsorted") != 1:
        raise SymbolicValueError("searchsorted of several sequences")
    wide = g.op("Unsqueeze", x, [rank_of(x, "searchsorted")])
    below = ROWS["aten::le" if right else "aten::lt"](g, bounds, wide)
    made = g.op("ReduceSum", g.cast(below, wick.int64), [-1], keepdims_i=0)
    return g.cast(made, wick.int32) if as_int else made


@row("bucketize")
def _bucketize(g, x, bounds, as_int=False, right=False):
    return _searchsorted(g, bounds, x, as_int, right)


