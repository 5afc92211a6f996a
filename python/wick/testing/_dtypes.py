"""Lists of dtypes by kind: ``floating_types()``, and ``floating_types_and(...)`` with others after them."""
import wick

__all__ = [
    "all_types", "all_types_and", "all_types_and_complex", "all_types_and_complex_and", "all_types_and_half",
    "complex_types", "complex_types_and", "double_types", "empty_types", "floating_and_complex_types",
    "floating_and_complex_types_and", "floating_types", "floating_types_and", "floating_types_and_half",
    "get_all_complex_dtypes", "get_all_device_types", "get_all_dtypes", "get_all_fp_dtypes", "get_all_int_dtypes",
    "get_all_math_dtypes", "get_all_qint_dtypes", "integral_types", "integral_types_and",
]

_FLOATING = (wick.float32, wick.float64)
_COMPLEX = (wick.complex64, wick.complex128)
_INTEGRAL = (wick.uint8, wick.int8, wick.int16, wick.int32, wick.int64)


class _dispatch_dtypes(tuple):
    """Dtypes; sums of them and tuples are such, too."""

    def __add__(self, other):
        assert isinstance(other, tuple)
        return _dispatch_dtypes(tuple.__add__(self, other))


def _getters(name, *dtypes):
    """The function that gives a list, and the one that gives it with others."""
    dtypes = _dispatch_dtypes(dtypes)

    def plain():
        return dtypes

    def followed(*others):
        assert all(isinstance(other, wick.dtype) for other in others)
        return dtypes + others
    plain.__name__, followed.__name__ = name, name + "_and"
    plain.__qualname__, followed.__qualname__ = name, name + "_and"
    return plain, followed


floating_types, floating_types_and = _getters("floating_types", *_FLOATING)
integral_types, integral_types_and = _getters("integral_types", *_INTEGRAL)
complex_types, complex_types_and = _getters("complex_types", *_COMPLEX)
floating_and_complex_types, floating_and_complex_types_and = _getters(
    "floating_and_complex_types", *_FLOATING, *_COMPLEX)
all_types, all_types_and = _getters("all_types", *_FLOATING, *_INTEGRAL)
all_types_and_complex, all_types_and_complex_and = _getters(
    "all_types_and_complex", *_FLOATING, *_INTEGRAL, *_COMPLEX)
empty_types = _getters("empty_types")[0]
double_types = _getters("double_types", wick.float64, wick.complex128)[0]
floating_types_and_half = _getters("floating_types_and_half", *_FLOATING, wick.half)[0]
all_types_and_half = _getters("all_types_and_half", *_FLOATING, *_INTEGRAL, wick.half)[0]


def get_all_int_dtypes():
    return list(_INTEGRAL)


def get_all_fp_dtypes(include_half=True, include_bfloat16=True):
    return list(_FLOATING) + [wick.float16] * include_half + [wick.bfloat16] * include_bfloat16


def get_all_complex_dtypes(include_complex32=False):
    return [wick.complex32] * include_complex32 + list(_COMPLEX)


def get_all_qint_dtypes():
    return [wick.qint8, wick.quint8, wick.qint32, wick.quint4x2, wick.quint2x4]


def get_all_dtypes(include_half=True, include_bfloat16=True, include_bool=True, include_complex=True,
                   include_complex32=False, include_qint=False):
    return (get_all_int_dtypes() + get_all_fp_dtypes(include_half, include_bfloat16) + [wick.bool] * include_bool +
            (get_all_complex_dtypes(include_complex32) if include_complex else []) +
            (get_all_qint_dtypes() if include_qint else []))


def get_all_math_dtypes(device):
    """Those that a device computes with; half precision counts on cards alone."""
    return (get_all_int_dtypes() + get_all_fp_dtypes(device.startswith("cuda"), False) + get_all_complex_dtypes())


def get_all_device_types():
    return ["cpu", "cuda"] if wick.cuda.is_available() else ["cpu"]
