"""What was built."""
from . import _C

__version__ = _C.__version__
cuda = hip = None
debug = False
