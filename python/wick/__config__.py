"""How wick was built."""

from . import _C


def show():
    """A text of it."""
    return "wick built with:\n  - version %s\n  - C17, no CUDA, no MKL-DNN\n" % _C.__version__


def parallel_info():
    """Of threads."""
    from . import get_num_interop_threads, get_num_threads
    return "at::get_num_threads() : %d\nat::get_num_interop_threads() : %d\n" % (
        get_num_threads(), get_num_interop_threads())
