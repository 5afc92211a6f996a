"""What a layer is quantized by: makers of observers for its output and for its weight."""

import collections

from . import observer as _o


class QConfig(collections.namedtuple("QConfig", ["activation", "weight"])):
    """`QConfig(activation=MinMaxObserver, weight=default_weight_observer)`."""


default_qconfig = QConfig(_o.default_observer, _o.default_weight_observer)
default_per_channel_qconfig = QConfig(_o.default_observer, _o.default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(_o.default_dynamic_quant_observer, _o.default_weight_observer)
per_channel_dynamic_qconfig = QConfig(_o.default_dynamic_quant_observer, _o.default_per_channel_weight_observer)


def get_default_qconfig(backend="fbgemm", version=0):
    """What suits an engine."""
    if backend in ("fbgemm", "x86"):
        return QConfig(_o.HistogramObserver.with_args(reduce_range=True), _o.default_per_channel_weight_observer)
    if backend == "qnnpack":
        return QConfig(_o.HistogramObserver.with_args(reduce_range=False), _o.default_weight_observer)
    if backend == "onednn":
        return QConfig(_o.HistogramObserver.with_args(reduce_range=False), _o.default_per_channel_weight_observer)
    return default_qconfig
