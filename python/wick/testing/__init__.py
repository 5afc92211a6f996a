"""Comparing tensors and texts of graphs in tests, tensors to test with, and lists of dtypes."""
from .._file_check import FileCheck  # noqa: F401
from ._comparison import assert_allclose, assert_close  # noqa: F401
from ._creation import make_non_contiguous, make_tensor, rand, randn  # noqa: F401
from ._dtypes import *  # noqa: F401,F403
