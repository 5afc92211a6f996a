"""Decompositions, solvers and norms of batches of matrices: ``linalg.inv`` is the operator ``aten::linalg_inv``."""
from ._namespace import lazily

__getattr__, __dir__ = lazily(__name__, "linalg")

LinAlgError = RuntimeError  # what solvers raise where a matrix has no solution


def multi_dot(tensors, *, out=None):
    """The product of matrices, in the order that takes the fewest multiplications."""
    from . import _C
    operator = _C.operator("aten::linalg_multi_dot")
    return operator(list(tensors)) if out is None else operator(list(tensors), out=out)
