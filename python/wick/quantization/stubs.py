"""Where a network's numbers become quantized, and where they become floating point again."""

from wick import nn


class _Stub(nn.Module):
    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class QuantStub(_Stub):
    """Passes its input on; `convert` makes it quantize."""


class DeQuantStub(_Stub):
    """Passes its input on; `convert` makes it dequantize."""


class QuantWrapper(nn.Module):
    """A module between both."""

    def __init__(self, module):
        super().__init__()
        self.add_module("quant", QuantStub(getattr(module, "qconfig", None)))
        self.add_module("dequant", DeQuantStub(getattr(module, "qconfig", None)))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X):
        return self.dequant(self.module(self.quant(X)))
