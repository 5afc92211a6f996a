"""Fourier transforms: ``fft.rfft`` is the operator ``aten::fft_rfft``."""
from ._namespace import lazily

__getattr__, __dir__ = lazily(__name__, "fft")
