#!/bin/sh
# A server's developer calls a model from Python by ctypes alone, from many threads, and reads errors.
. "$(dirname "$0")/begin.sh"
needs python3
install
cat > server.py <<'PY'
import concurrent.futures, ctypes, sys
wick = ctypes.CDLL("libwick.so.0")
for name in ("wick_value_item", "wick_value_to_string", "wick_error_message", "wick_value_int"):
    getattr(wick, name).restype = ctypes.c_void_p
wick.wick_value_to_int.restype = ctypes.c_int64

class Failed(Exception):
    pass

def check(status, error):
    if status:
        message = ctypes.string_at(wick.wick_error_message(error)).decode()
        wick.wick_error_free(error)
        raise Failed(message)

def call(module, method, number):
    error, result = ctypes.c_void_p(), ctypes.c_void_p()
    argument = ctypes.c_void_p(wick.wick_value_int(ctypes.c_int64(number)))
    arguments = (ctypes.c_void_p * 1)(argument)
    try:
        check(wick.wick_run(module, method, arguments, ctypes.c_size_t(1), None, ctypes.c_size_t(0), None,
                            ctypes.byref(result), ctypes.byref(error)), error)
        answer = wick.wick_value_to_int(result)
        wick.wick_value_release(result)
        return answer
    finally:
        wick.wick_value_release(argument)

text = b"def f(n: int):\n    if n < 0:\n        raise ValueError('below zero')\n    return n * n\n"
module, error = ctypes.c_void_p(), ctypes.c_void_p()
check(wick.wick_compile(None, text, ctypes.c_size_t(len(text)), b"f.py", ctypes.byref(module), ctypes.byref(error)), error)
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(lambda n: call(module, b"f", n), range(2000)))
print(answers == [n * n for n in range(2000)])
try:
    call(module, b"f", -1)
except Failed as failure:
    print(failure)
wick.wick_module_release(module)
PY
says 0 "True" python3 server.py
says 0 "below zero" python3 server.py
