"""Switches of a PyTorch process that have nothing to switch here, where torch's do nothing on a processor either.

What can't be had is refused: denormal numbers stay as they are, so ``set_flush_denormal`` says False.
"""
import warnings

__all__ = [
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
    "get_num_interop_threads", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
    "set_warn_always", "use_deterministic_algorithms",
]

_deterministic = _warn_only = _warn_always = False
_precision = "highest"
_interop_threads = 1


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Kept for ``are_deterministic_algorithms_enabled``; wick's operators give the same bits at every call."""
    global _deterministic, _warn_only
    _deterministic, _warn_only = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled():
    """What ``use_deterministic_algorithms`` was told."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled():
    """What ``use_deterministic_algorithms`` was told of ``warn_only``."""
    return _warn_only


_DEBUG_MODES = {"default": (False, False), "warn": (True, True), "error": (True, False)}


def set_deterministic_debug_mode(debug_mode):
    """'default' (0), 'warn' (1) or 'error' (2), as ``use_deterministic_algorithms``."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError("debug_mode must be str or int, but got {}".format(type(debug_mode)))
    if isinstance(debug_mode, int):
        if not 0 <= debug_mode < len(_DEBUG_MODES):
            raise RuntimeError("invalid value of debug_mode, expected 0, 1, or 2, but got {}".format(debug_mode))
        debug_mode = list(_DEBUG_MODES)[debug_mode]
    if debug_mode not in _DEBUG_MODES:
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                           "{}".format(debug_mode))
    mode, warn_only = _DEBUG_MODES[debug_mode]
    use_deterministic_algorithms(mode, warn_only=warn_only)


def get_deterministic_debug_mode():
    """0, 1 or 2."""
    return (1 if _warn_only else 2) if _deterministic else 0


def set_float32_matmul_precision(precision):
    """'highest', 'high' or 'medium'; products of float32 are computed in float32 with all of them."""
    global _precision
    if precision not in ("highest", "high", "medium"):
        warnings.warn("{} is not one of 'highest', 'high', or 'medium'; the current setfloat32MatmulPrecision call "
                      "has no effect.".format(precision))
        return
    _precision = precision


def get_float32_matmul_precision():
    """What ``set_float32_matmul_precision`` was told."""
    return _precision


def set_num_interop_threads(threads):
    """Kept for ``get_num_interop_threads``: forks of programs share the threads of ``set_num_threads``."""
    global _interop_threads
    if not isinstance(threads, int):
        raise RuntimeError("set_num_interop_threads expects an int, but got {}".format(type(threads).__name__))
    if threads <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _interop_threads = threads


def get_num_interop_threads():
    """What ``set_num_interop_threads`` was told; 1 before."""
    return _interop_threads


def set_flush_denormal(mode):
    """False: not supported, for True; denormal numbers are not flushed to zero. For False: True."""
    return not mode


def set_warn_always(value):
    """Kept for ``is_warn_always_enabled``."""
    global _warn_always
    if not isinstance(value, bool):
        raise RuntimeError("setWarnOnlyOnce expects a bool, but got {}".format(type(value).__name__))
    _warn_always = value


def is_warn_always_enabled():
    """What ``set_warn_always`` was told."""
    return _warn_always

