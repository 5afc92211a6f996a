"""Quantized linear layers and convolutions over packed weights, and the ways in and out."""

import wick
from wick import Tensor
from wick.nn.modules.module import Module


def quantized_weight(weight, observer):
    """A weight as its observer says, of qint8."""
    observer(weight)
    scale, zero_point = observer.calculate_qparams()
    weight = weight.detach().float()
    if observer.qscheme in (wick.per_channel_affine, wick.per_channel_symmetric):
        return wick.quantize_per_channel(weight, scale.double(), zero_point, observer.ch_axis, observer.dtype)
    return wick.quantize_per_tensor(weight, float(scale), int(zero_point), observer.dtype)


def weight_observer(module):
    """A new observer as the module's qconfig says."""
    config = getattr(module, "qconfig", None)
    if config is None or config.weight is None:
        from wick.quantization import default_weight_observer
        return default_weight_observer()
    return config.weight()


class Quantize(Module):
    """Quantizes its input with a scale and zero point."""

    def __init__(self, scale, zero_point, dtype):
        super().__init__()
        self.register_buffer("scale", wick.tensor([scale]))
        self.register_buffer("zero_point", wick.tensor([zero_point], dtype=wick.int64))
        self.dtype = dtype

    def forward(self, X: Tensor) -> Tensor:
        return wick.quantize_per_tensor(X, self.scale, self.zero_point, self.dtype)

    @classmethod
    def from_float(cls, mod):
        """Of a QuantStub that was observed."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return cls(float(scale), int(zero_point), mod.activation_post_process.dtype)

    def extra_repr(self):
        return "scale={}, zero_point={}, dtype={}".format(self.scale, self.zero_point, self.dtype)


class DeQuantize(Module):
    """Its input in floating point."""

    def forward(self, Xq: Tensor) -> Tensor:
        return Xq.dequantize()

    @classmethod
    def from_float(cls, mod):
        """Of a DeQuantStub."""
        return cls()


class LinearPackedParams(Module):
    """The packed weight and bias of a linear layer."""

    def __init__(self, weight, bias):
        super().__init__()
        self.dtype = wick.qint8
        self._packed_params = wick.ops.quantized.linear_prepack(weight, bias)

    def _weight_bias(self):
        return wick.ops.quantized.linear_unpack(self._packed_params)

    def forward(self, x: Tensor) -> Tensor:
        return x

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._weight_bias()

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        self.dtype = state_dict.pop(prefix + "dtype")
        self._packed_params = wick.ops.quantized.linear_prepack(*state_dict.pop(prefix + "_packed_params"))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def __repr__(self):
        return repr(self._weight_bias())


class Linear(Module):
    """A linear layer of quantized tensors."""

    def __init__(self, in_features, out_features, weight, bias, scale=1.0, zero_point=0):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.scale: float = scale
        self.zero_point: int = zero_point
        self._packed_params = LinearPackedParams(weight, bias)

    def forward(self, x: Tensor) -> Tensor:
        return wick.ops.quantized.linear(x, self._packed_params._packed_params, self.scale, self.zero_point)

    @wick.jit.unused
    def weight(self):
        """The quantized weight."""
        return self._packed_params._weight_bias()[0]

    @wick.jit.unused
    def bias(self):
        """The bias, in floating point."""
        return self._packed_params._weight_bias()[1]

    @classmethod
    def from_float(cls, mod):
        """Of a linear layer, alone or with ReLU, that was observed."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        observer = weight_observer(mod)
        layer = mod if hasattr(mod, "in_features") else mod[0]
        return cls(layer.in_features, layer.out_features, quantized_weight(layer.weight, observer), layer.bias,
                   float(scale), int(zero_point))

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = wick.tensor(self.scale)
        destination[prefix + "zero_point"] = wick.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        self.scale = float(state_dict.pop(prefix + "scale"))
        self.zero_point = int(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _get_name(self):
        return "QuantizedLinear"

    def extra_repr(self):
        return "in_features={}, out_features={}, scale={}, zero_point={}, qscheme={}".format(
            self.in_features, self.out_features, self.scale, self.zero_point, self.weight().qscheme())

    def __repr__(self):
        return "%s(%s)" % (self._get_name(), self.extra_repr())


class _Conv(Module):
    """Convolutions of quantized tensors, of any number of dimensions."""

    _count = 2

    def __init__(self, layer, weight, scale, zero_point):
        super().__init__()
        if layer.padding_mode != "zeros":
            raise NotImplementedError("quantized convolutions pad with zeros, not %r" % layer.padding_mode)
        for name in ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups"):
            setattr(self, name, getattr(layer, name))
        self.scale: float = scale
        self.zero_point: int = zero_point
        self._set(weight, layer.bias)

    def _set(self, weight, bias):
        self._packed_params = getattr(wick.ops.quantized, "conv%dd_prepack" % self._count)(
            weight, bias, list(self.stride), list(self.padding), list(self.dilation), self.groups)

    @wick.jit.unused
    def _weight_bias(self):
        return getattr(wick.ops.quantized, "conv%dd_unpack" % self._count)(self._packed_params)

    @wick.jit.unused
    def weight(self):
        """The quantized weight."""
        return self._weight_bias()[0]

    @wick.jit.unused
    def bias(self):
        """The bias, in floating point."""
        return self._weight_bias()[1]

    @classmethod
    def from_float(cls, mod):
        """Of a convolution, alone or with ReLU, that was observed."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        observer = weight_observer(mod)
        layer = mod if hasattr(mod, "in_channels") else mod[0]
        return cls(layer, quantized_weight(layer.weight, observer), float(scale), int(zero_point))

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        weight, bias = self._weight_bias()
        destination.update({prefix + "weight": weight, prefix + "bias": bias,
                            prefix + "scale": wick.tensor(self.scale),
                            prefix + "zero_point": wick.tensor(self.zero_point)})

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        self._set(state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias"))
        self.scale = float(state_dict.pop(prefix + "scale"))
        self.zero_point = int(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _get_name(self):
        return "QuantizedConv%dd" % self._count

    def extra_repr(self):
        text = "{in_channels}, {out_channels}, kernel_size={kernel_size}, stride={stride}, scale={scale}, " \
            "zero_point={zero_point}"
        if any(self.padding):
            text += ", padding={padding}"
        if any(number != 1 for number in self.dilation):
            text += ", dilation={dilation}"
        if self.groups != 1:
            text += ", groups={groups}"
        if self.bias() is None:
            text += ", bias=False"
        return text.format(**self.__dict__)


class Conv1d(_Conv):
    """A convolution of (N, C, L)."""

    _count = 1

    def forward(self, input: Tensor) -> Tensor:
        return wick.ops.quantized.conv1d(input, self._packed_params, self.scale, self.zero_point)


class Conv2d(_Conv):
    """A convolution of (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return wick.ops.quantized.conv2d(input, self._packed_params, self.scale, self.zero_point)


class Conv3d(_Conv):
    """A convolution of (N, C, D, H, W)."""

    _count = 3

    def forward(self, input: Tensor) -> Tensor:
        return wick.ops.quantized.conv3d(input, self._packed_params, self.scale, self.zero_point)
