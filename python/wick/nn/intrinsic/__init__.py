"""Layers with the ReLU that follows them: what quantization.fuse_modules makes."""

from wick import nn


class _Fused(nn.Sequential):
    """One after the other."""


class LinearReLU(_Fused):
    """A linear layer and ReLU."""


class ConvReLU1d(_Fused):
    """A convolution and ReLU."""


class ConvReLU2d(_Fused):
    """A convolution and ReLU."""


class ConvReLU3d(_Fused):
    """A convolution and ReLU."""


WITH_RELU = {nn.Linear: LinearReLU, nn.Conv1d: ConvReLU1d, nn.Conv2d: ConvReLU2d, nn.Conv3d: ConvReLU3d}

from . import quantized  # noqa: E402,F401
