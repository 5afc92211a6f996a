"""Comparing tensors in tests."""
from .. import _C
from .._C import Tensor

_NUMBERS = (bool, int, float, complex)
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}


def _tolerances(actual, expected):
    pairs = [_TOLERANCES.get(str(tensor.dtype)[6:], (0.0, 0.0)) for tensor in (actual, expected)]
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


def _place(index, shape):
    found = []
    for size in reversed(shape):
        found.append(index % size)
        index //= size
    return tuple(reversed(found))


def _mismatch(actual, expected, rtol, atol, equal_nan):
    """None, or what to say of tensors that differ."""
    wide = _C.complex128 if actual.dtype.is_complex else _C.float64
    if actual.dtype.is_floating_point or actual.dtype.is_complex or rtol or atol:
        close = _C.operator("aten::isclose")(actual.to(wide), expected.to(wide), rtol, atol, equal_nan)
    else:
        close = actual == expected
    if bool(close.all()):
        return None
    wrong = (~close).reshape(-1)
    count, total = int(wrong.sum()), wrong.numel()
    difference = (actual.to(wide) - expected.to(wide)).abs().reshape(-1)
    difference = difference.masked_fill(~wrong, 0).nan_to_num(float("inf"))
    worst = int(difference.argmax())
    if not actual.ndim:
        return ("Scalars are not close!\n\nAbsolute difference: %s (up to %s allowed)"
                % (difference[0].item(), atol))
    return ("Tensor-likes are not close!\n\nMismatched elements: %d / %d (%.1f%%)\nGreatest absolute difference: %s "
            "at index %s (up to %s allowed)\nRelative tolerance: %s"
            % (count, total, 100 * count / total, difference[worst].item(), _place(worst, actual.shape), atol, rtol))


def _check_tensors(actual, expected, rtol, atol, equal_nan, options):
    if actual.shape != expected.shape:
        return "The values for attribute 'shape' do not match: %s != %s." % (actual.shape, expected.shape)
    if options["check_dtype"] and actual.dtype != expected.dtype:
        return "The values for attribute 'dtype' do not match: %s != %s." % (actual.dtype, expected.dtype)
    if options["check_device"] and actual.device != expected.device:
        return "The values for attribute 'device' do not match: %s != %s." % (actual.device, expected.device)
    if options["check_layout"] and actual.layout != expected.layout:
        return "The values for attribute 'layout' do not match: %s != %s." % (actual.layout, expected.layout)
    if options["check_stride"] and actual.stride() != expected.stride():
        return "The values for attribute 'stride()' do not match: %s != %s." % (actual.stride(), expected.stride())
    default = _tolerances(actual, expected)
    if actual.dtype != expected.dtype:
        dtype = _C.operator("aten::promote_types")(actual.dtype, expected.dtype)
        actual, expected = actual.to(dtype), expected.to(dtype)
    if actual.is_sparse:
        actual, expected = actual.to_dense(), expected.to_dense()
    return _mismatch(actual.detach(), expected.detach(), default[0] if rtol is None else rtol,
                     default[1] if atol is None else atol, equal_nan)


def _compare(actual, expected, path, rtol, atol, equal_nan, options):
    place = "".join("[%r]" % key for key in path)
    found = None
    if isinstance(expected, dict) and isinstance(actual, dict):
        if set(actual) != set(expected):
            raise AssertionError("The keys of the mappings do not match: %s != %s" % (list(actual), list(expected)))
        for key in expected:
            _compare(actual[key], expected[key], path + (key,), rtol, atol, equal_nan, options)
    elif isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError("The length of the sequences mismatch: %d != %d" % (len(actual), len(expected)))
        for i, pair in enumerate(zip(actual, expected)):
            _compare(pair[0], pair[1], path + (i,), rtol, atol, equal_nan, options)
    elif actual is None and expected is None:
        return
    else:
        if not options["allow_subclasses"] and type(actual) is not type(expected):
            raise TypeError("%s and %s are of different types" % (type(actual), type(expected)))
        if not isinstance(actual, Tensor) or not isinstance(expected, Tensor):
            scalars = isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS)
            if scalars and type(actual) is not type(expected) and options["check_dtype"]:
                raise AssertionError("The types do not match: %s != %s" % (type(actual), type(expected)))
            actual, expected = _C.as_tensor(actual), _C.as_tensor(expected)
            if scalars:
                wide = {_C.float32: _C.float64, _C.complex64: _C.complex128}
                actual = actual.to(wide.get(actual.dtype, actual.dtype))
                expected = expected.to(wide.get(expected.dtype, expected.dtype))
        found = _check_tensors(actual, expected, rtol, atol, equal_nan, options)
    if found is not None:
        message = options["msg"]
        found += "\n\nThe failure occurred for item %s" % place if path else ""
        raise AssertionError(found if message is None else message(found) if callable(message) else message)


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """Fails unless the two are close: tensors, numbers, or sequences and mappings of them. Without tolerances they
    follow from the dtypes."""
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified, but got rtol=%s and atol=%s"
                         % (rtol, atol))
    options = dict(check_device=check_device, check_dtype=check_dtype, check_layout=check_layout,
                   check_stride=check_stride, allow_subclasses=allow_subclasses, msg=msg)
    _compare(actual, expected, (), rtol, atol, equal_nan, options)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """As assert_close, whatever the dtypes are."""
    if rtol is None and atol is None:
        rtol, atol = _tolerances(_C.as_tensor(actual), _C.as_tensor(expected))
    assert_close(_C.as_tensor(actual), _C.as_tensor(expected), rtol=rtol, atol=atol, equal_nan=equal_nan,
                 check_dtype=False, msg=msg or None)
