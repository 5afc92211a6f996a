"""__torch_function__: what Tensor's derived classes have of it, unless they say otherwise."""
from . import _C
from ._C import Tensor


class DisableTorchFunction:
    """A context in which calls of this thread are not overridden."""

    def __enter__(self):
        self._before = _C._disable_torch_function(True)

    def __exit__(self, *error):
        _C._disable_torch_function(self._before)


_C.DisableTorchFunction = DisableTorchFunction


def nowrap_functions():
    """What gives tensors as they are, not as objects of the derived class."""
    return {Tensor.grad.__get__}


def _as(result, cls):
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        return type(result)(_as(item, cls) for item in result)
    return result


def __torch_function__(cls, func, types, args=(), kwargs=None):
    """Calls the function, and gives its tensors as objects of the class; NotImplemented where one of the types is no
    class that this one derives from."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    result = _C._disabled_torch_function_impl(func, types, args, kwargs)
    return result if cls is Tensor or func in nowrap_functions() else _as(result, cls)


__torch_function__.__qualname__ = "Tensor.__torch_function__"
Tensor.__torch_function__ = classmethod(__torch_function__)
