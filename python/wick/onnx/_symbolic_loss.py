"""How losses are exported."""
from ._rows import ROWS, rank_of, row
from ._symbolic_reduce import reduced
from .errors import SymbolicValueError

_REDUCTIONS = ("none", "mean", "sum")


def _ended(g, loss, reduction):
    kind = (None, "ReduceMean", "ReduceSum")[reduction]
    return loss if kind is None else reduced(g, kind, loss)


@row("mse_loss")
def _mse(g, x, target, reduction=1):
    off = ROWS["aten::sub"](g, x, target)
    return _ended(g, g.op("Mul", off, off), reduction)


@row("l1_loss")
def _l1(g, x, target, reduction=1):
    return _ended(g, g.op("Abs", ROWS["aten::sub"](g, x, target)), reduction)


@row("smooth_l1_loss")
def _smooth_l1(g, x, target, reduction=1, beta=1.0):
    off = g.op("Abs", ROWS["aten::sub"](g, x, target))
    if beta == 0:
        return _ended(g, off, reduction)
    half, bound = g.constant(0.5 / beta, x.dtype), g.constant(float(beta), x.dtype)
    inner = g.op("Mul", g.op("Mul", off, off), half)
    outer = g.op("Sub", off, g.constant(0.5 * beta, x.dtype))
    return _ended(g, g.op("Where", g.op("Less", off, bound), inner, outer), reduction)


@row("kl_div")
def _kl_div(g, x, target, reduction=1, log_target=False):
    if log_target:
        loss = g.op("Mul", g.op("Exp", target), g.op("Sub", target, x))
    else:
        parts = g.op("Mul", target, g.op("Sub", g.op("Log", target), x))
        loss = g.op("Where", g.op("Greater", target, g.constant(0., x.dtype)), parts, g.constant(0., x.dtype))
    return _ended(g, loss, reduction)


@row("nll_loss", "nll_loss_nd", "nll_loss2d")
def _nll(g, x, target, weight=None, reduction=1, ignored=-100):
    if rank_of(x, "nll_loss") == 1:
        x, target = g.op("Unsqueeze", x, [0]), g.op("Unsqueeze", target, [0])
        made = _nll(g, x, target, weight, reduction, ignored)
        return g.op("Squeeze", made, [0]) if reduction == 0 else made
    inputs = [x, target] if weight is None else [x, target, weight]
    made = g.op("NegativeLogLikelihoodLoss", *inputs, reduction_s=_REDUCTIONS[reduction], ignore_index_i=ignored)
    made.dtype, made.shape = x.dtype, target.shape if reduction == 0 else ()
    return made


@row("cross_entropy_loss")
def _cross_entropy(g, x, target, weight=None, reduction=1, ignored=-100, smoothing=0.0):
    dim = 0 if rank_of(x, "cross_entropy_loss") == 1 else 1
    logs = g.op("LogSoftmax", x, axis_i=dim)
    if target.dtype.is_floating_point or smoothing:
        raise SymbolicValueError("cross_entropy_loss of probabilities, or with label smoothing")
    return _nll(g, logs, target, weight, reduction, ignored)


@row("binary_cross_entropy")
def _binary(g, x, target, weight=None, reduction=1):
    floor = g.constant(-100., x.dtype)
    logs = g.op("Max", g.op("Log", x), floor)
    others = g.op("Max", g.op("Log", g.op("Sub", g.constant(1., x.dtype), x)), floor)
    rest = g.op("Sub", g.constant(1., x.dtype), target)
    loss = g.op("Neg", g.op("Add", g.op("Mul", target, logs), g.op("Mul", rest, others)))
    return _ended(g, loss if weight is None else g.op("Mul", loss, weight), reduction)


@row("binary_cross_entropy_with_logits")
def _binary_of_logits(g, x, target, weight=None, positive=None, reduction=1):
    one = g.constant(1., x.dtype)
    below = g.op("Softplus", g.op("Neg", x))  # -log(sigmoid(x))
    factor = below if positive is None else \
        g.op("Mul", below, g.op("Add", g.op("Mul", g.op("Sub", positive, one), target), one))
    loss = g.op("Add", g.op("Mul", g.op("Sub", one, target), x), factor)
    loss = loss if weight is None else g.op("Mul", loss, weight)
    return _ended(g, loss, reduction)
