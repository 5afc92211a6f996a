"""Which operator a function of Python's is in programs, under torch's names."""

from . import _program


def _find_builtin(fn):
    """"aten::add" of torch.add; None: it is no operator."""
    path = _program.language_name(fn) if callable(fn) else None
    if path is None or not path.startswith("torch."):
        return None
    from .. import _C
    name = "aten::" + path.rpartition(".")[2]
    return name if _C.operator_exists(name) else None
