"""What was built."""
from . import __version__  # noqa: F401

cuda = hip = None
debug = False
