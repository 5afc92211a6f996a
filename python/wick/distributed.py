"""Several processes or machines: wick works in one. What programs ask before they do otherwise."""


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError("module 'wick.distributed' has no attribute %r: wick works in one process" % name)
