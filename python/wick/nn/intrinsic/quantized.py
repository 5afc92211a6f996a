"""Quantized layers with ReLU in them."""

import wick
from wick import Tensor
from wick.nn import quantized


class LinearReLU(quantized.Linear):
    """relu(linear(x)) of quantized tensors."""

    def forward(self, x: Tensor) -> Tensor:
        return wick.ops.quantized.linear_relu(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedLinearReLU"


class ConvReLU1d(quantized.Conv1d):
    """relu(convolution(x)) of quantized tensors."""

    def forward(self, input: Tensor) -> Tensor:
        return wick.ops.quantized.conv1d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedConvReLU1d"


class ConvReLU2d(quantized.Conv2d):
    """relu(convolution(x)) of quantized tensors."""

    def forward(self, input: Tensor) -> Tensor:
        return wick.ops.quantized.conv2d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedConvReLU2d"


class ConvReLU3d(quantized.Conv3d):
    """relu(convolution(x)) of quantized tensors."""

    def forward(self, input: Tensor) -> Tensor:
        return wick.ops.quantized.conv3d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedConvReLU3d"
