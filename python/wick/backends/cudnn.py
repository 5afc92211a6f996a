"""cuDNN is not there. Its switches keep what is set and change nothing, as in any PyTorch without a card."""
import contextlib

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available():
    """False."""
    return False


def version():
    """None."""
    return None


@contextlib.contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    """The switches of this module, set within the context."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    given = (enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    before = [globals()[name] for name in names]
    globals().update(zip(names, given))
    try:
        yield
    finally:
        globals().update(zip(names, before))
