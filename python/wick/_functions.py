"""Functions of the package that are no rows of the registry, or whose arguments Python passes in another form."""
import collections
import math as _math

from . import _C
from ._C import Size, Tensor, as_tensor, dtype

__all__ = [
    "_assert",
    "align_tensors", "asarray", "atleast_1d", "atleast_2d",
    "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "chain_matmul",
    "e", "einsum", "finfo", "from_numpy", "frombuffer", "iinfo", "inf", "is_complex", "is_floating_point",
    "is_nonzero", "is_storage", "is_tensor", "meshgrid", "nan", "newaxis", "numel", "pi",
    "nonzero", "split", "stft", "tensordot", "to_dlpack", "typename", "unique", "unique_consecutive",
]

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
_aten = _C.operator


def is_tensor(obj):
    """Whether the object is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj):
    """Whether the object is a storage: wick shows none."""
    return False


def numel(input):
    """How many elements a tensor has."""
    return input.numel()


def is_floating_point(input):
    """Whether the elements are floats."""
    return input.dtype.is_floating_point


def is_complex(input):
    """Whether the elements are complex."""
    return input.dtype.is_complex


def is_nonzero(input):
    """Whether the only element is not zero."""
    if input.numel() != 1:
        raise RuntimeError("Boolean value of Tensor with %s is ambiguous"
                           % ("more than one value" if input.numel() else "no values"))
    return bool(input)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """A tensor of the object: over its memory where that is possible, unless copy is true."""
    if copy:
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    made = as_tensor(obj, dtype=dtype, device=device)
    if copy is False and isinstance(obj, (int, float, complex, list, tuple)):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    return made.requires_grad_() if requires_grad else made


def _assert(condition, message):
    """Fails with the message unless the condition holds."""
    if type(condition) is not Tensor and _C._has_torch_function((condition,)):  # traces record it
        return _C._handle_torch_function(_assert, (condition,), (condition, message), {}, "_assert")
    assert condition, message


def to_dlpack(tensor):
    """A capsule of DLPack over the tensor's memory."""
    return tensor.__dlpack__()


def typename(o):
    """The name of an object's type: "torch.FloatTensor" for tensors."""
    return o.type() if isinstance(o, Tensor) else "%s.%s" % (type(o).__module__, type(o).__qualname__)


def from_numpy(ndarray):
    """A tensor over an array's memory."""
    if type(ndarray).__module__ != "numpy":
        raise TypeError("expected np.ndarray (got %s)" % type(ndarray).__name__)
    return _C.from_buffer(ndarray)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor of one dimension over the memory of an object with the buffer protocol."""
    view = memoryview(buffer).cast("B")
    size = dtype.itemsize
    if not 0 <= offset < len(view):
        raise ValueError("offset must be non-negative and no greater than buffer length (%d bytes), but got %d"
                         % (len(view), offset))
    if count < 0:
        if (len(view) - offset) % size:
            raise ValueError("buffer length (%d bytes) after offset (%d bytes) must be a multiple of element size "
                             "(%d)" % (len(view), offset, size))
        count = (len(view) - offset) // size
    if offset + count * size > len(view):
        raise ValueError("requested buffer length (%d * %d bytes) after offset (%d bytes) must not be greater than "
                         "actual buffer length (%d bytes)" % (count, size, offset, len(view)))
    made = _C.from_buffer(view[offset:offset + count * size]).view(dtype)
    return made.requires_grad_() if requires_grad else made


# ---- what dtypes hold ----

class finfo:
    """Limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    _LIMITS = {  # bits of the element, of the fraction, the least and the greatest exponent
        "float16": (16, 10, -14, 15), "bfloat16": (16, 7, -126, 127), "float32": (32, 23, -126, 127),
        "float64": (64, 52, -1022, 1023), "float8_e5m2": (8, 2, -14, 15),
    }
    _ODD = {  # the greatest number, the least normal one and eps of dtypes without infinities, as PyTorch has them
        "float8_e4m3fn": (448.0, 2.0 ** -6, 0.125), "float8_e4m3fnuz": (240.0, 2.0 ** -7, 0.125),
        "float8_e5m2fnuz": (57344.0, 2.0 ** -15, 0.125), "float8_e8m0fnu": (2.0 ** 127, 2.0 ** -127, 1.0),
    }
    _DECIMALS = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6, "float64": 1e-15}

    def __init__(self, type=None):
        type = _C.get_default_dtype() if type is None else type
        name = str(type)[6:]
        name = {"complex64": "float32", "complex128": "float64"}.get(name, name)
        if name not in self._LIMITS and name not in self._ODD:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle '%s'"
                            % type)
        self.dtype = name
        if name in self._ODD:
            self.bits, (self.max, self.tiny, self.eps) = 8, self._ODD[name]
        else:
            self.bits, fraction, low, high = self._LIMITS[name]
            self.max, self.tiny, self.eps = (2.0 - 2.0 ** -fraction) * 2.0 ** high, 2.0 ** low, 2.0 ** -fraction
        self.smallest_normal = self.tiny
        self.min = self.tiny if name == "float8_e8m0fnu" else -self.max  # which has no sign
        self.resolution = self._DECIMALS.get(name, 1.0)

    def __repr__(self):
        return ("finfo(resolution=%g, min=%g, max=%g, eps=%g, smallest_normal=%g, tiny=%g, dtype=%s)"
                % (self.resolution, self.min, self.max, self.eps, self.smallest_normal, self.tiny, self.dtype))


class iinfo:
    """Limits of an integral dtype: bits, max, min."""

    _BITS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint16": 16, "uint32": 32, "uint64": 64}

    def __init__(self, type):
        name = str(type)[6:]
        if name not in self._BITS:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle '%s'" % type)
        self.bits = self._BITS[name]
        self.dtype = name
        unsigned = name.startswith("uint")
        self.max = 2 ** (self.bits - (not unsigned)) - 1
        self.min = 0 if unsigned else -self.max - 1

    def __repr__(self):
        return "iinfo(min=%d, max=%d, dtype=%s)" % (self.min, self.max, self.dtype)


# ---- several tensors ----

def _tensors(tensors):
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def broadcast_tensors(*tensors):
    """The tensors, shown with the sizes that they broadcast to."""
    return _aten("aten::broadcast_tensors")(list(_tensors(tensors)))


def broadcast_shapes(*shapes):
    """The sizes that tensors of these sizes broadcast to."""
    sizes = []
    for shape in shapes:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        sizes = [1] * (len(shape) - len(sizes)) + sizes
        for i, size in enumerate(reversed(shape), 1):
            if size < 0:
                raise RuntimeError("Trying to create tensor with negative dimension (%d): (%d)" % (size, size))
            if size != 1 and sizes[-i] not in (1, size):
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            sizes[-i] = max(sizes[-i], size) if size and sizes[-i] else 0
    return Size(sizes)


def meshgrid(*tensors, indexing=None):
    """Grids of coordinates from tensors of one dimension."""
    tensors = list(_tensors(tensors))
    options = {} if indexing is None else {"indexing": indexing}
    return _aten("aten::meshgrid")(tensors, **options)


def einsum(equation, *operands):
    """Sums of products by Einstein's notation: einsum("ij,jk->ik", a, b)."""
    if not isinstance(equation, str):
        raise NotImplementedError("einsum takes an equation as text")
    operands = list(_tensors(operands))
    if _C._has_torch_function(operands):  # traces record it by its operands, not by a list of them
        return _C._handle_torch_function(einsum, operands, (equation,) + tuple(operands), {}, "einsum")
    return _aten("aten::einsum")(equation, operands)


def _given(out):
    """The argument ``out``, where there is one: the schemas of programs, and so of traces, have no None for it."""
    return {} if out is None else {"out": out}


def tensordot(a, b, dims=2, out=None):
    """The product summed over the last ``dims`` dimensions of a and the first of b, or over two lists of them."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)):
        of_a, of_b = dims
        if isinstance(of_a, int):
            of_a, of_b = [of_a], [of_b]
    else:
        if dims < 0:
            raise RuntimeError("tensordot expects dims >= 0, but got dims=%s" % dims)
        of_a, of_b = list(range(-dims, 0)), list(range(dims))
    return _aten("aten::tensordot")(a, b, list(of_a), list(of_b), **_given(out))


def block_diag(*tensors):
    """A matrix with the tensors as blocks along its diagonal."""
    return _aten("aten::block_diag")(list(_tensors(tensors)))


def cartesian_prod(*tensors):
    """All tuples of elements of tensors of one dimension."""
    return _aten("aten::cartesian_prod")(list(_tensors(tensors)))


def chain_matmul(*matrices, out=None):
    """The product of matrices, in the order that takes the fewest multiplications."""
    return _aten("aten::linalg_multi_dot")(list(_tensors(matrices)), **_given(out))


def align_tensors(*tensors):
    """Not there: dimensions have no names."""
    raise NotImplementedError("wick's tensors have no named dimensions")


def _atleast(name):
    def function(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return _aten(name)(tensors[0])
        return _aten(name)(list(_tensors(tensors)))
    function.__name__ = name[6:]
    function.__doc__ = "The tensors with at least so many dimensions."
    return function


atleast_1d = _atleast("aten::atleast_1d")
atleast_2d = _atleast("aten::atleast_2d")
atleast_3d = _atleast("aten::atleast_3d")


def split(tensor, split_size_or_sections, dim=0):
    """Parts of a size, or of several sizes, along a dimension."""
    return Tensor.split(tensor, split_size_or_sections, dim)


def nonzero(input, *, out=None, as_tuple=False):
    """The indices of elements that are not zero: a row for each, or a tensor for each dimension."""
    if as_tuple:
        return _aten("aten::nonzero_numpy")(input)
    return _aten("aten::nonzero")(input, **_given(out))


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None):
    """Fourier transforms of overlapping windows; with ``center`` the first is around the signal's begin."""
    if center:
        batched = input.reshape([1] * (3 - input.ndim) + list(input.shape))
        padded = _aten("aten::pad")(batched, [n_fft // 2, n_fft // 2], pad_mode)
        input = padded.reshape(padded.shape[3 - input.ndim:])
    return _aten("aten::stft")(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)


def _chosen(results, *wanted):
    chosen = [results[0]] + [result for result, want in zip(results[1:], wanted) if want]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or parts along a dimension; with where each came from and how often, if wanted."""
    if dim is None:
        results = _aten("aten::_unique2")(input, sorted, return_inverse, return_counts)
    else:
        results = _aten("aten::unique_dim")(input, dim, sorted, return_inverse, return_counts)
    return _chosen(results, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements, or parts along a dimension, that differ from the one before."""
    results = _aten("aten::unique_consecutive")(input, return_inverse, return_counts, dim)
    return _chosen(results, return_inverse, return_counts)
