"""Data pipes: streams and sequences of samples that are made of one another, step by step."""
from wick.utils.data.datapipes import iter, map  # noqa: F401
