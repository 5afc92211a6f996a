"""Loops run on wick's own threads."""


def is_available():
    """False."""
    return False
