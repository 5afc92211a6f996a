"""torch's modules compiled by wick: their classes are read as wick's own are, their tensors are shared by DLPack."""

import sys
import weakref

_shared = {}  # id of a tensor of torch -> (a weak reference to it, wick's of the same memory)


def is_torch_tensor(value):
    """Whether it is a torch.Tensor; torch is not imported for that, and may be wick by that name."""
    torch = sys.modules.get("torch")
    return getattr(torch, "__name__", None) == "torch" and isinstance(value, torch.Tensor)


def adopt(value):
    """A tensor of torch as wick's over the same memory, each once; other values as they are."""
    if not is_torch_tensor(value):
        return value
    key = id(value)
    known = _shared[key][1] if key in _shared else None
    if known is None:
        import torch
        from .. import from_dlpack, nn
        plain = value.detach()
        known = from_dlpack(torch.utils.dlpack.to_dlpack(plain)) if plain.numel() else _empty(plain)
        if isinstance(value, torch.nn.Parameter):
            known = nn.Parameter(known, requires_grad=value.requires_grad)
        _shared[key] = weakref.ref(value, lambda _: _shared.pop(key, None)), known
    return known


def _empty(value):
    from .. import empty
    import wick
    return empty(tuple(value.shape), dtype=getattr(wick, str(value.dtype).rpartition(".")[2]))
