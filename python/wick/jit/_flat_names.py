"""Names of torch.jit that stand for parts of a trace or of a module, beside those of programs."""

from collections import OrderedDict

from . import _unit_internals

_flatten, _unflatten = _unit_internals.flatten, _unit_internals.unflatten


def _unique_state_dict(module, keep_vars=False):
    """The state_dict, tensors that stand in it more than once only where they are first."""
    made, seen = OrderedDict(), set()
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            made[name] = value if keep_vars else value.detach()
    return made


def set_module(obj, mod):
    """Says in which module something is."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
