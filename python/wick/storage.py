"""The memory of tensors as a sequence of elements, under the names of torch.storage.

A storage shows the memory of the tensor that it is taken from: ``tensor.storage()`` has all elements of that memory,
``storage.data_ptr()`` is where it begins, and what is written to it the tensor shows, too.
"""
import wick

from ._tensor_types import DTYPES

_NAMES = {dtype: name.replace("Tensor", "Storage") for name, dtype in DTYPES.items()}


class _Storage:
    """A tensor of one dimension over some memory. Elements are numbers of Python."""

    is_sparse = is_sparse_csr = False

    @property
    def device(self):
        return self._elements.device

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def get_device(self):
        return self._elements.get_device()

    def size(self):
        return self._elements.numel()

    __len__ = size

    def element_size(self):
        return self._elements.element_size()

    def nbytes(self):
        return self.size() * self.element_size()

    def data_ptr(self):
        return self._elements.data_ptr()

    _cdata = property(data_ptr)

    def tolist(self):
        return self._elements.tolist()

    def __iter__(self):
        return iter(self.tolist())

    def _place(self, index):
        if not isinstance(index, int):
            raise RuntimeError("can't index a {} with {}".format(type(self), type(index)))
        if not -self.size() <= index < self.size():
            raise IndexError("index {} out of range for storage of size {}".format(index, self.size()))
        return index

    def __getitem__(self, index):
        return self._elements[self._place(index)].item()

    def __setitem__(self, index, value):
        if not isinstance(value, (int, float, complex)):
            raise TypeError("can't assign a {} to a {}".format(type(value).__name__, type(self).__name__))
        self._elements[index if isinstance(index, slice) else self._place(index)] = value

    def fill_(self, value):
        self._elements.fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        if source.size() != self.size():
            raise RuntimeError("size does not match")
        self._elements.copy_(source._elements)
        return self

    def clone(self):
        return self._like(self._elements.clone())

    def cpu(self):
        return self if self.device.type == "cpu" else self._like(self._elements.cpu())

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        """A copy that tensors of the same memory, copied beside it, share."""
        import copy
        return self._like(copy.deepcopy(self._elements, memo))

    def is_shared(self):
        return False

    def is_pinned(self):
        return False

    def __str__(self):
        if self.device.type == "meta":
            return "...\n" + repr(self)[1:]
        return "".join(" {}\n".format(value) for value in self) + self._named()

    def __repr__(self):
        return str(self) if self.device.type != "meta" else "[" + "...\n" + self._named()


class UntypedStorage(_Storage):
    """Memory as bytes: of a size, of a sequence of bytes, or none."""

    def __init__(self, data=0):
        made = wick.empty(data, dtype=wick.uint8) if isinstance(data, int) else wick.tensor(data, dtype=wick.uint8)
        self._elements = made

    @classmethod
    def _over(cls, elements):
        """A storage that shows the memory of a tensor of one dimension."""
        made = cls.__new__(cls)
        made._elements = elements if elements.dtype is wick.uint8 else elements.view(wick.uint8)
        return made

    _like = _over

    def untyped(self):
        return self

    def type(self):
        return "torch.storage.UntypedStorage"

    def __getitem__(self, index):
        return self._over(self._elements[index]) if isinstance(index, slice) else super().__getitem__(index)

    def _named(self):
        return "[torch.storage.UntypedStorage(device={}) of size {}]".format(self.device, self.size())


class TypedStorage(_Storage):
    """Memory as elements of a dtype: of a size, of a sequence of numbers, of ``wrap_storage``, or none."""

    def __init__(self, *args, dtype=None, device=None, wrap_storage=None):
        dtype = wick.get_default_dtype() if dtype is None else dtype
        if wrap_storage is not None:
            self._elements = wrap_storage.untyped()._elements.view(dtype)
            return
        if len(args) > 1 or (args and isinstance(args[0], _Storage)):
            raise RuntimeError("{} received an invalid combination of arguments. Expected one of:\n * no arguments\n "
                               "* (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)".format(
                                   type(self)))
        data = args[0] if args else 0
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        make = wick.empty if isinstance(data, int) else wick.tensor
        self._elements = make(data, dtype=dtype, device=device)

    @classmethod
    def _over(cls, elements):
        """A storage that shows the memory of a tensor of one dimension."""
        made = cls.__new__(cls)
        made._elements = elements
        return made

    def _like(self, elements):
        return TypedStorage._over(elements)

    @property
    def dtype(self):
        return self._elements.dtype

    def untyped(self):
        return UntypedStorage._over(self._elements)

    def pickle_storage_type(self):
        return _NAMES[self.dtype]

    def type(self, dtype=None, non_blocking=False):
        """The name of its old class; with a dtype, or the name of such a class, a copy of that dtype."""
        if dtype is None:
            return "torch." + _NAMES[self.dtype]
        if isinstance(dtype, str):
            dtype = DTYPES[dtype.rpartition(".")[2].replace("Storage", "Tensor")]
        return self._to(dtype)

    def _to(self, dtype):
        return TypedStorage._over(self._elements.to(dtype, copy=True))

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super().__getitem__(index)

    def __reduce__(self):
        return _rebuilt, (self._elements,)

    def _named(self):
        return "[torch.storage.TypedStorage(dtype={}, device={}) of size {}]".format(self.dtype, self.device,
                                                                                     self.size())


def _rebuilt(elements):
    return TypedStorage._over(elements)


def _converting(name, dtype):
    def convert(self):
        return self._to(dtype)
    convert.__name__, convert.__qualname__ = name, "TypedStorage." + name
    convert.__doc__ = "A copy as %s." % str(dtype)[6:]
    setattr(TypedStorage, name, convert)


for _name, _dtype in (("double", wick.float64), ("float", wick.float32), ("half", wick.float16),
                      ("bfloat16", wick.bfloat16), ("long", wick.int64), ("int", wick.int32), ("short", wick.int16),
                      ("char", wick.int8), ("byte", wick.uint8), ("bool", wick.bool),
                      ("complex_double", wick.complex128), ("complex_float", wick.complex64)):
    _converting(_name, _dtype)
del _name, _dtype


class _LegacyMeta(type):
    """Old classes, one for each dtype: they make a TypedStorage, and isinstance asks for the dtype."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    def __call__(cls, *args, wrap_storage=None):
        return TypedStorage(*args, dtype=cls.dtype, wrap_storage=wrap_storage)


def __getattr__(name):
    """``FloatStorage`` and its like; ``Storage`` is the one of the default dtype."""
    for dtype, known in _NAMES.items():
        if name == known or name == "Storage" and dtype == wick.get_default_dtype():
            found = globals()[known] = globals().get(known) or _LegacyMeta(known, (), {
                "__module__": "torch", "dtype": dtype, "__doc__": "Memory of elements of %s." % str(dtype)[6:]})
            return found
    raise AttributeError("module 'wick.storage' has no attribute %r" % name)


def storage_of(tensor):
    """The memory of a tensor."""
    if tensor.layout != wick.strided:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")
    if tensor.is_quantized:
        raise NotImplementedError("wick has no storages of quantized tensors")
    return TypedStorage._over(tensor._whole())


def elements_for(storage, dtype):
    """The memory of a storage as elements of a tensor's dtype."""
    if isinstance(storage, TypedStorage) and storage.dtype != dtype:
        def kind(of):
            return _NAMES[of].replace("Storage", "")
        raise RuntimeError("Expected a Storage of type {} or an UntypedStorage, but got type {} for argument 1 "
                           "'storage'".format(kind(dtype).lower(), kind(storage.dtype)))
    return storage._elements.view(dtype)
