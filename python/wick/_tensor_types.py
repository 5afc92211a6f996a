"""Tensor types of old: ``FloatTensor`` and so on, names for a dtype that make tensors and that isinstance asks."""
from . import _C
from ._C import Size, Tensor

DTYPES = {
    "FloatTensor": _C.float32, "DoubleTensor": _C.float64, "HalfTensor": _C.float16, "BFloat16Tensor": _C.bfloat16,
    "ByteTensor": _C.uint8, "CharTensor": _C.int8, "ShortTensor": _C.int16, "IntTensor": _C.int32,
    "LongTensor": _C.int64, "BoolTensor": _C.bool, "ComplexFloatTensor": _C.complex64,
    "ComplexDoubleTensor": _C.complex128,
}
PUBLIC = [name for name, dtype in DTYPES.items() if not dtype.is_complex]  # torch has no others


class tensortype(type):
    """The type of these types."""

    __module__ = "torch"

    def __new__(cls, name, bases, fields):
        if bases:
            raise TypeError("type 'torch.%s' is not an acceptable base type" % bases[0].__name__)
        return super().__new__(cls, name, bases, fields)

    def __call__(cls, *args):
        """A tensor of sizes, uninitialized, or of data."""
        if len(args) == 1 and isinstance(args[0], str):
            raise TypeError("new(): invalid data type 'str'")
        if len(args) == 1 and not isinstance(args[0], (int, Size)):
            return _C.tensor(args[0], dtype=cls.dtype)
        sizes = args[0] if args and isinstance(args[0], Size) else args
        return _C.operator("aten::empty")(tuple(sizes) or (0,), dtype=cls.dtype)

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and instance.device.type == "cpu" \
            and instance.layout == cls.layout


def _make(name):
    return tensortype(name, (), {
        "__module__": "torch", "__doc__": "Tensors of %s in the processor's memory." % str(DTYPES[name])[6:],
        "dtype": DTYPES[name], "is_cuda": False, "is_sparse": False, "layout": _C.strided})


def __getattr__(name):
    if name not in PUBLIC:
        raise AttributeError("module 'wick._tensor_types' has no attribute %r" % name)
    found = globals()[name] = _make(name)
    return found


def set_default_tensor_type(t):
    """The default dtype by the name of an old type: "torch.DoubleTensor", or DoubleTensor."""
    dtype = DTYPES[t.rsplit(".", 1)[-1]] if isinstance(t, str) else t.dtype
    if not dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(dtype)
