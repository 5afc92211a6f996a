"""MKL is not there."""


def is_available():
    """False."""
    return False
