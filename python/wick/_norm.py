"""norm(), which calls the operators that torch.norm calls."""
from . import _C

_aten = _C.operator


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over dimensions, over all if none are given; "fro" and "nuc" are those of matrices."""
    dims = [dim] if isinstance(dim, int) else dim
    results = {} if out is None else {"out": out}
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError("only valid string values are 'fro' and 'nuc', found %s" % p)
    if p == "nuc":
        given = () if dim is None else (dims,)
        return _aten("aten::nuclear_norm")(input, *given, keepdim=keepdim, **results)
    if p == "fro" and dtype is not None:
        raise ValueError("dtype argument is not supported in frobenius norm")
    if p == "fro" and (dims is None or len(dims) <= 2):
        return _aten("aten::frobenius_norm")(input, [] if dims is None else dims, keepdim, **results)
    if dims is None:
        dims = list(range(input.dim()))
    if dtype is not None:
        results["dtype"] = dtype
    return _aten("aten::norm")(input, 2 if p == "fro" else p, dims, keepdim, **results)
