"""Networks with weights, or weights and activations, of 8 bits: linear layers, convolutions, recurrent layers.

    small = quantization.quantize_dynamic(net, {nn.Linear, nn.LSTM})

    net.qconfig = quantization.get_default_qconfig("fbgemm")
    ready = quantization.prepare(net)
    for x in examples: ready(x)
    small = quantization.convert(ready)
"""

from .fuse import fuse_modules  # noqa: F401
from .observer import (  # noqa: F401
    HistogramObserver, MinMaxObserver, MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver,
    NoopObserver, ObserverBase, PerChannelMinMaxObserver, PlaceholderObserver, default_dynamic_quant_observer,
    default_histogram_observer, default_observer, default_per_channel_weight_observer, default_weight_observer,
)
from .qconfig import (  # noqa: F401
    QConfig, default_dynamic_qconfig, default_per_channel_qconfig, default_qconfig, get_default_qconfig,
    per_channel_dynamic_qconfig,
)
from .quantize import (  # noqa: F401
    add_quant_dequant, convert, prepare, propagate_qconfig_, quantize, quantize_dynamic,
)
from .stubs import DeQuantStub, QuantStub, QuantWrapper  # noqa: F401
