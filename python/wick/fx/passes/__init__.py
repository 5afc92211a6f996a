"""Passes over Graphs of Python."""
from . import shape_prop, split_module  # noqa: F401
