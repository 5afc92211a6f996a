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


def _refuse(name):
    def refuse(*args, **kwargs):
        raise AssertionError("Torch not compiled with CUDA enabled")
    refuse.__name__ = name
    refuse.__doc__ = "AssertionError: there is no such device."
    return refuse


current_device, synchronize, set_device = map(_refuse, ("current_device", "synchronize", "set_device"))
get_device_name, get_device_properties = map(_refuse, ("get_device_name", "get_device_properties"))
