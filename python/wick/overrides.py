"""Calls that objects override by __torch_function__: functions of Python that offer it, and questions about it."""
import functools
import types

from . import _C
from ._C import Tensor
from ._override import DisableTorchFunction  # noqa: F401

__all__ = ["get_ignored_functions", "get_overridable_functions", "handle_torch_function", "has_torch_function",
           "is_tensor_like", "is_tensor_method_or_property", "resolve_name", "wrap_torch_function"]

has_torch_function = _C._has_torch_function


def has_torch_function_unary(tensor):
    """Whether the object overrides calls."""
    return _C._has_torch_function((tensor,))


def has_torch_function_variadic(*tensors):
    """Whether one of the objects overrides calls."""
    return _C._has_torch_function(tensors)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """The call of ``public_api`` as ``__torch_function__`` of the relevant arguments makes it."""
    name = getattr(public_api, "__name__", str(public_api))
    return _C._handle_torch_function(public_api, relevant_args, args, kwargs, name)


def wrap_torch_function(dispatcher):
    """Makes a function of Python one that can be overridden: ``dispatcher`` is called with its arguments, and gives
    the relevant ones."""
    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)
        return wrapped
    return inner


def is_tensor_like(inp):
    """Whether it is a tensor, or an object that overrides calls."""
    return type(inp) is Tensor or hasattr(type(inp), "__torch_function__")


# ---- what can be overridden ----

@functools.lru_cache(None)
def get_ignored_functions():
    """Functions that never ask for __torch_function__, as a set."""
    import wick
    names = ("Generator", "as_tensor", "device", "dtype", "enable_grad", "from_numpy", "get_default_dtype",
             "is_grad_enabled", "is_tensor", "load", "manual_seed", "no_grad", "save", "set_default_dtype",
             "set_grad_enabled", "set_num_threads", "set_torch_version", "tensor", "torch_version", "arange", "empty",
             "eye", "full", "linspace",
             "logspace", "ones", "rand", "randint", "randn", "randperm", "range", "zeros", "empty_strided",
             "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window", "tril_indices",
             "triu_indices")
    found = {getattr(wick, name) for name in names if hasattr(wick, name)}
    return found | {Tensor.as_subclass, Tensor._make_subclass, Tensor.__torch_function__}


def _namespaces():
    import wick
    from . import fft, linalg, special
    from .nn import functional
    return (("torch.nn.functional", functional, None), ("torch.linalg", linalg, "aten::linalg_"),
            ("torch.fft", fft, "aten::fft_"), ("torch.special", special, "aten::special_"),
            ("torch", wick, "aten::"), ("torch.Tensor", Tensor, None))  # names are of the first that has a function


def _members(namespace, operators):
    """Public names and what they are; operators that nobody has named yet are looked up, not kept."""
    known = _C.operator_names()
    for name in dir(namespace):
        if name.startswith("_"):
            continue
        if operators is None or name in vars(namespace):
            yield name, getattr(namespace, name, None)
        elif operators + name in known:
            found = _C.operator(operators + name)
            if found.is_callable:
                yield name, found


def _is_function(found):
    return isinstance(found, (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType,
                              type(_C.operator("aten::add"))))


@functools.lru_cache(None)
def _overridable():
    by_namespace, names = {}, {}
    ignored = get_ignored_functions()
    for prefix, namespace, operators in _namespaces():
        functions = []
        for name, found in _members(namespace, operators):
            if isinstance(found, (types.GetSetDescriptorType, property)) and namespace is Tensor:
                by_namespace[found] = [found.__get__]
                names.setdefault(found.__get__, "%s.%s.__get__" % (prefix, name))
            elif _is_function(found) and found not in ignored:
                functions.append(found)
                names.setdefault(found, "%s.%s" % (prefix, name))
        by_namespace[namespace] = functions
    return by_namespace, names


def get_overridable_functions():
    """Lists of the functions that can be overridden, by where they are."""
    return dict(_overridable()[0])


def resolve_name(f):
    """Where a function that can be overridden is, as "torch.add"; None for others. What is a function and a method
    has the function's name."""
    return _overridable()[1].get(f)


@functools.lru_cache(None)
def _of_tensor():
    by_namespace = _overridable()[0]
    getters = {getter for key, found in by_namespace.items()
               if isinstance(key, (types.GetSetDescriptorType, property)) for getter in found}
    return getters | set(by_namespace[Tensor])


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or what gets one of its attributes."""
    return func in _of_tensor() or getattr(func, "__name__", None) == "__get__"
