"""Calls in an order of arguments that torch still takes, with a warning: ``x.addcmul_(0.5, a, b)``."""
import warnings

from . import _C

# What the numbers among the positional arguments are, by operator, in their order; the tensors keep theirs.
_NUMBERS = {"add": ("alpha",), "sub": ("alpha",), "addcmul": ("value",), "addcdiv": ("value",)}
_NUMBERS.update(dict.fromkeys(("addbmm", "addmm", "addmv", "addr", "baddbmm"), ("beta", "alpha")))


def call(operator, args):
    """What the operator gives for arguments in the old order; NotImplemented where they are in none."""
    names = _NUMBERS.get(operator.__name__.rstrip("_"), ())
    numbers = [arg for arg in args if isinstance(arg, (int, float, complex)) and not isinstance(arg, bool)]
    tensors = [arg for arg in args if isinstance(arg, _C.Tensor)]
    if not 0 < len(numbers) <= len(names) or len(numbers) + len(tensors) != len(args):
        return NotImplemented
    named = dict(zip(names, numbers))
    made = operator(*tensors, **named)
    warnings.warn("This overload of %s is deprecated: give %s by name, after the tensors"
                  % (operator.__name__, " and ".join(named)), UserWarning, 2)
    return made
