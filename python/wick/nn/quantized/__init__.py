"""Layers whose weights, inputs and outputs are quantized. quantization.convert makes them."""

from .layers import Conv1d, Conv2d, Conv3d, DeQuantize, Linear, LinearPackedParams, Quantize  # noqa: F401
from . import dynamic  # noqa: E402,F401
