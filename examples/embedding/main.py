"""Loads a model and calls it with a 2 by 3 tensor, by ctypes: python3 main.py linear.pt"""
import ctypes, sys
from contextlib import ExitStack
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_int64, c_size_t, c_uint32, c_void_p

wick = ctypes.CDLL("libwick.so.0")
OUT = POINTER(c_void_p)
FLOAT32 = 6  # WICK_FLOAT32


def declare(name, result, *parameters):
    function = getattr(wick, name)
    function.restype, function.argtypes = result, parameters
    return function


def fallible(name, *parameters):
    """A function that answers a status; its last parameter, the error, becomes an exception."""
    function = declare(name, c_int32, *parameters, OUT)

    def call(*arguments):
        error = c_void_p()
        if function(*arguments, byref(error)):
            message = error_message(error).decode()
            error_free(error)
            raise RuntimeError(message)
    return call


error_message = declare("wick_error_message", c_char_p, c_void_p)
error_free = declare("wick_error_free", None, c_void_p)
module_release = declare("wick_module_release", None, c_void_p)
value_release = declare("wick_value_release", None, c_void_p)
tensor_count = declare("wick_tensor_count", c_int64, c_void_p)
load = fallible("wick_load", c_void_p, c_char_p, c_void_p, OUT)
tensor_new = fallible("wick_tensor_new", c_uint32, c_int32, POINTER(c_int64), OUT)
copy_from = fallible("wick_tensor_copy_from", c_void_p, c_void_p, c_size_t)
copy_to = fallible("wick_tensor_copy_to", c_void_p, c_void_p, c_size_t)
forward = fallible("wick_forward", c_void_p, OUT, c_size_t, OUT)


def call_model(path):
    module, tensor, output = c_void_p(), c_void_p(), c_void_p()
    with ExitStack() as at_end:
        for release, handle in (module_release, module), (value_release, tensor), (value_release, output):
            at_end.callback(release, handle)  # as it will be then; NULL is allowed
        load(None, path.encode(), None, byref(module))
        numbers = (c_float * 6)(1, 2, 3, 4, 5, 6)
        tensor_new(FLOAT32, 2, (c_int64 * 2)(2, 3), byref(tensor))
        copy_from(tensor, numbers, ctypes.sizeof(numbers))
        forward(module, (c_void_p * 1)(tensor), 1, byref(output))
        result = (c_float * tensor_count(output))()
        copy_to(output, result, ctypes.sizeof(result))
        return list(result)


try:
    print(*(f"{number:.4f}" for number in call_model(sys.argv[1] if len(sys.argv) > 1 else "model.pt")))
except RuntimeError as error:
    sys.exit(str(error))
