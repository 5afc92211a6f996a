"""Methods of Tensor that only arrange calls of operators; set on the class when the package is imported."""
import builtins

from . import _C
from ._C import Tensor

_aten = _C.operator


def _method(function):
    setattr(Tensor, function.__name__, function)
    return function


def _attribute(function):
    setattr(Tensor, function.__name__, property(function, doc=function.__doc__))
    return function


# Every operator that takes a tensor first and whose name is not taken is a method.
def _add_operators():
    own = set(vars(Tensor))
    for name in _C.method_names():
        if name not in own:
            setattr(Tensor, name, _aten("aten::" + name))


_add_operators()


@_method
def qscheme(self):
    """How a quantized tensor's scales are laid out: `torch.per_tensor_affine` and its like."""
    from ._qscheme import schemes
    return schemes[_aten("aten::qscheme")(self)]


# ---- attributes ----

@_attribute
def T(self):
    """Its dimensions in reverse order."""
    return self.numpy_T()


@_attribute
def mT(self):
    """Its matrices transposed."""
    return _aten("aten::mT")(self)


@_attribute
def H(self):
    """A matrix, transposed and conjugated."""
    if self.ndim not in (0, 2):
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor." % self.ndim)
    return self.transpose(0, 1).conj() if self.ndim else self.conj()


@_attribute
def mH(self):
    """Its matrices, transposed and conjugated."""
    return self.mT.conj()


@_attribute
def real(self):
    """The real parts."""
    return _aten("aten::real")(self)


@_attribute
def imag(self):
    """The imaginary parts."""
    return _aten("aten::imag")(self)


@_attribute
def grad_fn(self):
    """The recorded call that made it, or None."""
    name = self._history
    return None if name is None else GradFn(name)


@_attribute
def retains_grad(self):
    """Whether backward keeps its gradient though it is no leaf."""
    return getattr(self, "_retains_grad", False)


@_attribute
def names(self):
    """Names of dimensions: there are none."""
    return (None,) * self.ndim


@_attribute
def is_mkldnn(self):
    """Whether oneDNN laid out its elements: never."""
    return False


def _never(name, what):
    setattr(Tensor, name, property(lambda self: False, doc="Whether %s: never." % what))


for _name in ("is_ipu", "is_mps", "is_ort", "is_vulkan", "is_xpu"):
    _never(_name, "its elements are on such a device")
_never("is_nested", "it is a nested tensor")
_never("is_sparse_csr", "its layout is compressed")
_never("volatile", "it is volatile")
del _name


@_attribute
def is_cpu(self):
    """Whether its elements are in the processor's memory."""
    return self.device.type == "cpu"


@_attribute
def name(self):
    """A name: there is none."""
    return None


class GradFn:
    """A recorded call, by its name."""

    def __init__(self, name):
        self._name = name

    def name(self):
        """As torch names it: "AddBackward0"."""
        return self._name

    def __repr__(self):
        return "<%s object>" % self._name


# ---- Python's protocols ----

@_method
def __contains__(self, element):
    if isinstance(element, (Tensor, int, float, complex, bool)):
        return bool((self == element).any())
    raise RuntimeError("Tensor.__contains__ only supports Tensor or scalar, but you passed in a %s."
                       % builtins.type(element))


@_method
def __reversed__(self):
    return self.flip(0) if self.ndim else self


@_method
def __format__(self, specification):
    if self.dim() == 0 and not self.is_meta and builtins.type(self) is Tensor:
        return format(self.item(), specification)
    return object.__format__(self, specification)


@_method
def __complex__(self):
    return complex(self.item())


@_method
def __array_wrap__(self, array, context=None, return_scalar=False):
    if array.dtype == bool:
        array = array.astype("uint8")
    return _C.from_buffer(array)


Tensor.__array_priority__ = 1000  # NumPy leaves `array + tensor` to the tensor


@_method
def __copy__(self):
    copy = self.detach()
    copy = copy if builtins.type(self) is Tensor else copy.as_subclass(builtins.type(self))
    copy.requires_grad = self.requires_grad
    copy.__dict__.update(self.__dict__)
    return copy


def _copied_memory(tensor, memo):
    """A copy of the tensor's elements that shares memory with the copies of what shares memory with the tensor."""
    if tensor.is_sparse or tensor.is_quantized or tensor.is_meta or tensor.device.type != "cpu" or not tensor.numel():
        return tensor.detach().clone()
    whole = tensor._whole()
    key = ("memory of a tensor", whole.data_ptr(), whole.dtype)
    if key not in memo:
        memo[key] = whole.clone()
    made = _aten("aten::empty")(0, dtype=tensor.dtype)
    made.set_(memo[key], tensor.storage_offset(), tensor.shape, tensor.stride())
    return made


@_method
def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                           "at the moment")
    if id(self) in memo:
        return memo[id(self)]
    import copy
    made = _copied_memory(self, memo)
    if builtins.type(self) is not Tensor:
        made = made.as_subclass(builtins.type(self))
    if self.requires_grad:
        made.requires_grad_()
    if self.grad is not None:
        made.grad = copy.deepcopy(self.grad, memo)
    memo[id(self)] = made
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def _rebuild(cls, data, sizes, dtype, requires_grad, attributes):
    if data:
        made = _C.from_buffer(bytearray(data)).view(dtype).reshape(sizes)
    else:
        made = _aten("aten::empty")(sizes, dtype=dtype)
    if cls is not Tensor:
        made = made.as_subclass(cls)
    if requires_grad:
        made.requires_grad_()
    if attributes:
        made.__dict__.update(attributes)
    return made


@_method
def __reduce_ex__(self, protocol):
    plain = self.detach().resolve_conj().resolve_neg().contiguous()
    data = bytes(memoryview(plain.reshape(-1).view(_C.uint8))) if plain.numel() else b""
    attributes = {name: value for name, value in self.__dict__.items() if not name.startswith("_retains")}
    return _rebuild, (builtins.type(self), data, tuple(self.shape), self.dtype, self.requires_grad, attributes)


# ---- dtype and device ----

_to = _aten("aten::to")
_PLACES = (str, _C.device, builtins.int)


@_method
def to(self, *args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None, other=None):
    """Its elements with another dtype, on another device or in another memory format, all given or those of another
    tensor: to(dtype), to(device), to(device, dtype), to(other). Itself where nothing changes, unless copy is true."""
    args = list(args)
    if args and isinstance(args[0], Tensor):
        other = args.pop(0)
    elif args and (args[0] is None or isinstance(args[0], _PLACES)):
        device = args.pop(0)
        if args and not isinstance(args[0], builtins.bool):
            dtype = args.pop(0)
    elif args:
        dtype = args.pop(0)
    if len(args) > 2:
        raise TypeError("to() takes at most non_blocking and copy after dtype and device")
    non_blocking, copy = (args + [non_blocking, copy][len(args):])[:2]
    if other is not None:
        device, dtype = other.device, other.dtype
    if device is not None and dtype is not None:
        return _to(self, device, dtype, non_blocking, copy, memory_format)
    moved = self if device is None else _to(self, device, None, non_blocking, False)
    copy = copy and moved is self
    if memory_format is None or memory_format is _C.preserve_format:
        return moved if dtype is None and not copy else _to(moved, dtype or moved.dtype, non_blocking, copy)
    return _to(moved, dtype or moved.dtype, non_blocking, copy, memory_format)


def _cast(name, dtype):
    def method(self, memory_format=_C.preserve_format):
        return self.to(dtype, memory_format=memory_format)
    method.__name__ = name
    method.__doc__ = "Its elements as %s; itself where they are." % str(dtype)[6:]
    setattr(Tensor, name, method)


for _name in ("half", "float", "double", "bfloat16", "short", "int", "long", "bool", "cfloat", "cdouble"):
    _cast(_name, getattr(_C, _name))
_cast("byte", _C.uint8)
_cast("char", _C.int8)
del _name

@_method
def type(self, dtype=None, non_blocking=False):
    """Without dtype the name of its old type, "torch.FloatTensor"; else its elements as dtype."""
    from ._tensor_types import DTYPES
    if dtype is None:
        return "torch." + {kind: name for name, kind in DTYPES.items()}[self.dtype]
    if isinstance(dtype, str):
        dtype = DTYPES.get(dtype.rsplit(".", 1)[-1], dtype)
    return self.to(getattr(dtype, "dtype", dtype))


@_method
def cpu(self, memory_format=_C.preserve_format):
    """Its elements in the processor's memory."""
    return self.to("cpu", memory_format=memory_format)


@_method
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A tensor of the data, with this one's dtype and device if none are given."""
    return _C.tensor(data, dtype=self.dtype if dtype is None else dtype,
                     device=self.device if device is None else device, requires_grad=requires_grad)


@_method
def new(self, *args):
    """A tensor of this one's dtype: of sizes, uninitialized, or of data."""
    if len(args) == 1 and not isinstance(args[0], (_C.Size, builtins.int)):
        return _C.tensor(args[0], dtype=self.dtype)
    sizes = args[0] if len(args) == 1 and isinstance(args[0], _C.Size) else args
    return self.new_empty(tuple(sizes) or (0,))


@_method
def split(self, split_size, dim=0):
    """Parts of a size, or of several sizes, along a dimension."""
    if isinstance(split_size, (list, tuple)):
        return _aten("aten::split_with_sizes")(self, split_size, dim)
    return _aten("aten::split")(self, split_size, dim)


@_method
def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    """As wick.norm."""
    from ._norm import norm
    return norm(self, p, dim, keepdim, dtype=dtype)


@_method
def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """As wick.unique."""
    from ._functions import unique
    return unique(self, sorted, return_inverse, return_counts, dim)


@_method
def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    """As wick.unique_consecutive."""
    from ._functions import unique_consecutive
    return unique_consecutive(self, return_inverse, return_counts, dim)


@_method
def is_contiguous(self, memory_format=_C.contiguous_format):
    """Whether its elements lie in memory in that order."""
    return _aten("aten::is_contiguous")(self, memory_format=memory_format)


@_method
def get_device(self):
    """The number of its GPU; -1 on the processor."""
    return -1 if self.device.index is None else self.device.index


@_method
def is_floating_point(self):
    """Whether its elements are floats."""
    return self.dtype.is_floating_point


@_method
def is_complex(self):
    """Whether its elements are complex."""
    return self.dtype.is_complex


@_method
def is_signed(self):
    """Whether its elements can be below zero."""
    return self.dtype.is_signed


@_method
def is_shared(self):
    """Whether other processes share its memory: never."""
    return False


@_method
def is_pinned(self):
    """Whether its memory is locked for a GPU: never."""
    return False


@_method
def pin_memory(self):
    """Itself: there is no GPU to lock memory for."""
    return self


@_method
def where(self, condition, other):
    """Its elements where the condition holds, the other's elsewhere."""
    return _aten("aten::where")(condition, self, other)


@_method
def polygamma(self, n):
    """The n-th derivative of digamma."""
    return _aten("aten::polygamma")(n, self)


@_method
def nonzero(self, *, as_tuple=False):
    """The indices of elements that are not zero: a row for each, or a tensor for each dimension."""
    return _aten("aten::nonzero_numpy")(self) if as_tuple else _aten("aten::nonzero")(self)


@_method
def stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None):
    """Fourier transforms of overlapping windows; with ``center`` the first is around the signal's begin."""
    from ._functions import stft
    return stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)


@_method
def map_(self, other, callable):
    """Each element becomes what the function gives for it and the other's, in place; slow."""
    pairs = zip(self.reshape(-1).tolist(), other.expand(self.shape).reshape(-1).tolist())
    values = _C.tensor([callable(*pair) for pair in pairs], dtype=self.dtype)
    self.detach().copy_(values.reshape(self.shape))
    return self


@_method
def share_memory_(self):
    """Not there: memory is the process's own."""
    raise NotImplementedError("wick's tensors are not shared between processes")


@_method
def apply_(self, callable):
    """Each element becomes what the function gives for it, in place; slow."""
    values = _C.tensor([callable(value) for value in self.reshape(-1).tolist()], dtype=self.dtype)
    self.detach().copy_(values.reshape(self.shape))
    return self


# ---- gradients ----

@_method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of this tensor to those of the leaves that it was computed from."""
    from . import autograd
    autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@_method
def register_hook(self, hook):
    """Calls hook(grad) whenever backward has its gradient; what it gives takes the gradient's place."""
    from . import autograd
    return autograd._register_hook(self, hook)


@_method
def retain_grad(self):
    """Backward keeps this tensor's gradient though it is no leaf."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if not self.is_leaf:
        _aten("aten::retain_grad")(self)
        self._retains_grad = True


# ---- memory ----

@_method
def storage(self):
    """Its memory as a sequence of elements that it shares (`torch.storage.TypedStorage`)."""
    from .storage import storage_of
    return storage_of(self)


@_method
def storage_type(self):
    """The old class of its memory: `torch.FloatStorage` and so on."""
    from . import storage as storages
    return getattr(storages, self.type().rpartition(".")[2].replace("Tensor", "Storage"))


@_method
def set_(self, *args, **kwargs):
    """Has it show other memory: that of a tensor, or of a storage, with an offset, sizes and strides."""
    source = args[0] if args else kwargs.get("source")
    if source is None or isinstance(source, Tensor):
        return _aten("aten::set_")(self, *args, **kwargs)
    from .storage import elements_for
    elements = elements_for(source, self.dtype)
    if args:
        args = (elements,) + args[1:]
        if len(args) == 3:  # contiguous sizes
            args += (_contiguous_strides(args[2]),)
    else:
        kwargs["source"] = elements
    return _aten("aten::set_")(self, *args, **kwargs)


def _contiguous_strides(size):
    strides = [1]
    for length in reversed(list(size)[1:]):
        strides.append(strides[-1] * max(length, 1))
    return strides[::-1] if len(size) else []


# ---- named dimensions, which there are not ----

@_method
def has_names(self):
    """False."""
    return False


def _refused(name):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError("wick has no named dimensions: Tensor.%s" % name)
    refuse.__name__, refuse.__qualname__, refuse.__doc__ = name, "Tensor." + name, "Refused."
    setattr(Tensor, name, refuse)


for _name in ("align_as", "align_to", "refine_names", "rename", "rename_"):
    _refused(_name)
del _name
