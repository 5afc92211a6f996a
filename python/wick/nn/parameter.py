"""Tensors that a Module keeps as its parameters, and those whose sizes a first call decides."""
from collections import OrderedDict

import wick
from wick import Tensor, _C

_UNREADY = ("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes.")


def _rebuild_parameter(data, requires_grad, backward_hooks):
    parameter = Parameter(data, requires_grad)
    if backward_hooks:
        parameter._backward_hooks = backward_hooks
    return parameter


class _ParameterClass(type(Tensor)):
    """An object of another class derived from Tensor is a Parameter too, once Parameter() has made it one."""

    def __instancecheck__(cls, instance):
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterClass):
    """A Tensor that becomes one of a Module's parameters when it is assigned as an attribute.

    Args:
        data: the tensor whose memory the parameter shares; None for an empty one.
        requires_grad: whether gradients are recorded for it, also under ``no_grad``.
    """

    def __new__(cls, data=None, requires_grad=True):
        kind = Tensor if data is None else type(data)
        if kind is Tensor or issubclass(kind, Parameter):
            return Tensor._make_subclass(cls, wick.empty(0) if data is None else data.detach(), requires_grad)
        made = data.detach().requires_grad_(requires_grad)
        if type(made) is not kind:
            raise RuntimeError("Creating a Parameter from an instance of type %s requires that detach() returns an "
                               "instance of the same type, but return type %s was found instead. To use the type as "
                               "a Parameter, please correct the detach() semantics defined by its "
                               "__torch_dispatch__() implementation." % (kind.__name__, type(made).__name__))
        made._is_param = True
        return made

    _is_param = True
    __torch_function__ = _C._disabled_torch_function_impl

    def __deepcopy__(self, memo):
        found = memo.get(id(self))
        if found is None:
            with wick.no_grad():
                found = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return found

    def __repr__(self):
        return 'Parameter containing:\n' + super().__repr__()

    def __reduce_ex__(self, protocol):
        return _rebuild_parameter, (self.detach(), self.requires_grad, OrderedDict())


class _Uninitialized:
    """What a parameter and a buffer without sizes share: they take a dtype and a device, and become the real ones."""

    _class_when_ready = None

    @property
    def shape(self):
        raise RuntimeError(_UNREADY)

    def share_memory_(self):
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize "
                           "the parameters before calling `module.share_memory()`.")

    def materialize(self, shape, device=None, dtype=None):
        """Becomes an ordinary parameter or buffer of uninitialized elements, sizes ``shape``, in place."""
        dtype = self.data.dtype if dtype is None else dtype
        device = self.data.device if device is None else device
        self.data = wick.empty(shape, device=device, dtype=dtype)
        self.__class__ = self._class_when_ready

    def __repr__(self):
        return '<{}>'.format(type(self).__name__)

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, str(self.data.device), self.data.dtype)

    def __deepcopy__(self, memo):
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return found


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter of a lazy module before its first call."""

    _class_when_ready = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return Tensor._make_subclass(cls, wick.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer of a lazy module before its first call."""

    _class_when_ready = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None):
        return Tensor._make_subclass(cls, wick.empty(0, device=device, dtype=dtype), requires_grad)


def is_lazy(value):
    """Whether ``value`` is a parameter or buffer that has no sizes yet."""
    return isinstance(value, _Uninitialized)
