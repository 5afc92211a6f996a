"""`torch` for tests that hold of both packages: wick, and PyTorch where the file is run with the argument --torch.

test_beside.py runs each such file with PyTorch 1.13 where that is installed.
"""
import sys

if "--torch" in sys.argv:
    sys.argv.remove("--torch")
    import torch  # noqa: F401
else:
    import wick as torch  # noqa: F401
