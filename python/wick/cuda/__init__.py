"""wick computes on the processor: what programs ask of CUDA before they choose a device, and its answers."""


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def manual_seed(seed):
    """Nothing: there is no generator to seed."""


manual_seed_all = manual_seed


def empty_cache():
    """Nothing: there is no cache to empty."""


def is_bf16_supported():
    """False."""
    return False


def _nothing_allocated(name):
    def allocated(device=None):
        return 0
    allocated.__name__ = name
    allocated.__doc__ = "0: nothing is on such a device."
    return allocated


memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved = map(
    _nothing_allocated, ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"))


def reset_peak_memory_stats(device=None):
    """Nothing: there are none."""


def get_arch_list():
    """None are compiled for."""
    return []


def _refuse(name):
    def refuse(*args, **kwargs):
        raise AssertionError("Torch not compiled with CUDA enabled")
    refuse.__name__ = name
    refuse.__doc__ = "AssertionError: there is no such device."
    return refuse


current_device, synchronize, set_device = map(_refuse, ("current_device", "synchronize", "set_device"))
get_device_name, get_device_properties = map(_refuse, ("get_device_name", "get_device_properties"))
current_stream, default_stream, init = map(_refuse, ("current_stream", "default_stream", "init"))
get_device_capability, mem_get_info = map(_refuse, ("get_device_capability", "mem_get_info"))


class _WithoutDevice:
    """A context that changes nothing, where there is no device to change to."""

    def __init__(self, device=None):
        self.device = device

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class device(_WithoutDevice):
    """`with cuda.device(0)`."""


class device_of(_WithoutDevice):
    """`with cuda.device_of(tensor)`."""


def __getattr__(name):
    if name == "amp":
        import importlib
        return importlib.import_module(".amp", __name__)
    raise AttributeError("module 'wick.cuda' has no attribute %r" % name)
