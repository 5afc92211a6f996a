"""Layers with weights of 8 bits whose inputs are quantized as they come. quantization.quantize_dynamic makes them."""

from typing import Optional, Tuple

import wick
from wick import Tensor
from wick.nn.modules.module import Module

from .. import layers as _layers


class Linear(_layers.Linear):
    """A linear layer: numbers in and out, a weight of 8 bits."""

    def forward(self, x: Tensor) -> Tensor:
        return wick.ops.quantized.linear_dynamic(x, self._packed_params._packed_params, True).to(x.dtype)

    @classmethod
    def from_float(cls, mod):
        """Of a linear layer."""
        observer = _layers.weight_observer(mod)
        return cls(mod.in_features, mod.out_features, _layers.quantized_weight(mod.weight, observer), mod.bias)

    def _get_name(self):
        return "DynamicQuantizedLinear"

    def extra_repr(self):
        return "in_features={}, out_features={}, dtype={}, qscheme={}".format(
            self.in_features, self.out_features, self._packed_params.dtype, self.weight().qscheme())


class PackedParameter(Module):
    """The weights of one layer and direction."""

    def __init__(self, param):
        super().__init__()
        self.param = param

    def forward(self, x: Tensor) -> Tensor:
        return x


class _Recurrent(Module):
    """Recurrent layers over packed weights."""

    def __init__(self, layer):
        super().__init__()
        for name in ("mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
                     "bidirectional"):
            setattr(self, name, getattr(layer, name))
        self.training = False
        observer = getattr(layer, "qconfig", None)
        cells = []
        for k in range(self.num_layers):
            for suffix in ("", "_reverse") if self.bidirectional else ("",):
                cells.append(PackedParameter(self._packed(layer, "_l%d%s" % (k, suffix), observer)))
        self._all_weight_values = wick.nn.ModuleList(cells)

    def _packed(self, layer, suffix, observer):
        parts, biases = [], []
        for side in ("ih", "hh"):
            weight = getattr(layer, "weight_" + side + suffix)
            bias = getattr(layer, "bias_" + side + suffix) if self.bias else wick.zeros(weight.size(0))
            biases.append(bias.detach())
            parts.append(wick.ops.quantized.linear_prepack(
                _layers.quantized_weight(weight, _layers.weight_observer(layer)), biases[-1]))
        return wick.ops.quantized.make_quantized_cell_params_dynamic(parts[0], parts[1], biases[0], biases[1], True)

    @classmethod
    def from_float(cls, mod):
        """Of the layer in floating point."""
        if getattr(mod, "proj_size", 0):
            raise NotImplementedError("quantized LSTMs have no projection")
        return cls(mod)

    def extra_repr(self):
        text = "{input_size}, {hidden_size}"
        if self.num_layers != 1:
            text += ", num_layers={num_layers}"
        if self.bias is not True:
            text += ", bias={bias}"
        if self.batch_first is not False:
            text += ", batch_first={batch_first}"
        if self.dropout != 0:
            text += ", dropout={dropout}"
        if self.bidirectional is not False:
            text += ", bidirectional={bidirectional}"
        return text.format(**self.__dict__)

    def _get_name(self):
        return "DynamicQuantized" + self.mode

    def __repr__(self):
        return "%s(%s)" % (self._get_name(), self.extra_repr())


class LSTM(_Recurrent):
    """Long short-term memory with weights of 8 bits."""

    def forward(self, input: Tensor,
                hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        if hx is None:
            count = self.num_layers * (2 if self.bidirectional else 1)
            zeros = wick.zeros(count, input.size(0 if self.batch_first else 1), self.hidden_size, dtype=input.dtype)
            hx = (zeros, zeros)
        params = [cell.param for cell in self._all_weight_values]
        output, hidden, cell_state = wick.quantized_lstm(
            input, [hx[0], hx[1]], params, self.bias, self.num_layers, float(self.dropout), self.training,
            self.bidirectional, self.batch_first, dtype=wick.qint8, use_dynamic=True)
        return output, (hidden, cell_state)


class GRU(_Recurrent):
    """Gated recurrent units with weights of 8 bits."""

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        if hx is None:
            count = self.num_layers * (2 if self.bidirectional else 1)
            hx = wick.zeros(count, input.size(0 if self.batch_first else 1), self.hidden_size, dtype=input.dtype)
        params = [cell.param for cell in self._all_weight_values]
        return wick.quantized_gru(input, hx, params, self.bias, self.num_layers, self.dropout, self.training,
                                  self.bidirectional, self.batch_first)
