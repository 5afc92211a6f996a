"""Observers: modules that see what flows through a network, and choose scales and zero points for it."""

import functools

import wick
from wick import nn

_RANGES = {wick.qint8: (-128, 127), wick.quint8: (0, 255)}


def _with_args(cls, **kwargs):
    """A maker of observers with these arguments."""
    made = functools.partial(cls, **kwargs)
    made.with_args = functools.partial(_with_args, made)
    return made


class ObserverBase(nn.Module):
    """What all observers have: the dtype that they choose for."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    with_args = classmethod(_with_args)


class _RangeObserver(ObserverBase):
    """Keeps the least and the greatest, of all elements or of each channel."""

    axis = None

    def __init__(self, dtype=wick.quint8, qscheme=wick.per_tensor_affine, reduce_range=False, quant_min=None,
                 quant_max=None, factory_kwargs=None, eps=None):
        super().__init__(dtype)
        self.qscheme, self.reduce_range = qscheme, reduce_range
        self.eps = wick.finfo(wick.float32).eps if eps is None else eps
        low, high = _RANGES[dtype]
        if reduce_range:
            low, high = (low + 1) // 2 if low < 0 else low, high // 2
            low = -64 if dtype == wick.qint8 else low
        self.quant_min = low if quant_min is None else quant_min
        self.quant_max = high if quant_max is None else quant_max
        self.register_buffer("min_val", wick.tensor(float("inf")))
        self.register_buffer("max_val", wick.tensor(float("-inf")))

    def _ends(self, x):
        if self.axis is None:
            return wick.aminmax(x)
        rows = x.transpose(0, self.axis).flatten(1)
        return wick.aminmax(rows, dim=1)

    def _join(self, low, high):
        return wick.minimum(self.min_val, low), wick.maximum(self.max_val, high)

    def forward(self, x_orig):
        if x_orig.numel():
            low, high = self._ends(x_orig.detach().to(self.min_val.dtype))
            self.min_val, self.max_val = self._join(low, high)
        return x_orig

    def _parameters_of(self, low, high):
        low, high = wick.clamp(low, max=0.0), wick.clamp(high, min=0.0)
        steps = float(self.quant_max - self.quant_min)
        if self.qscheme in (wick.per_tensor_symmetric, wick.per_channel_symmetric):
            scale = wick.maximum(-low, high) / (steps / 2)
            zero = 128 if self.dtype == wick.quint8 else 0
            return scale.clamp(min=self.eps), wick.full_like(scale, zero, dtype=wick.int64)
        scale = ((high - low) / steps).clamp(min=self.eps)
        zero = self.quant_min - wick.round(low / scale).to(wick.int64)
        return scale, zero.clamp(self.quant_min, self.quant_max)

    def calculate_qparams(self):
        """(scales, zero points), of one element or one for each channel."""
        if bool((self.min_val > self.max_val).any()):
            import warnings
            warnings.warn("must run observer before calling calculate_qparams. Returning default scale and zero "
                          "point ")
            return wick.tensor([1.0]), wick.tensor([0])
        scale, zero = self._parameters_of(self.min_val, self.max_val)
        return scale.reshape(-1), zero.reshape(-1)

    def reset_min_max_vals(self):
        """Forgets what was seen."""
        self.min_val, self.max_val = wick.tensor(float("inf")), wick.tensor(float("-inf"))

    def extra_repr(self):
        return "min_val=%s, max_val=%s" % tuple(
            "%s" % (value.item() if value.dim() == 0 else value) for value in (self.min_val, self.max_val))


class MinMaxObserver(_RangeObserver):
    """The range of all that was seen."""


class PerChannelMinMaxObserver(_RangeObserver):
    """The same for each index of a dimension."""

    def __init__(self, ch_axis=0, dtype=wick.quint8, qscheme=wick.per_channel_affine, reduce_range=False,
                 quant_min=None, quant_max=None, factory_kwargs=None, eps=None):
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps)
        self.axis = self.ch_axis = ch_axis


def _moving(self, low, high):
    if bool((self.min_val > self.max_val).any()):
        return low, high
    weight = self.averaging_constant
    return self.min_val + weight * (low - self.min_val), self.max_val + weight * (high - self.max_val)


class MovingAverageMinMaxObserver(_RangeObserver):
    """A range that follows what is seen."""

    _join = _moving

    def __init__(self, averaging_constant=0.01, dtype=wick.quint8, qscheme=wick.per_tensor_affine, reduce_range=False,
                 quant_min=None, quant_max=None, eps=None):
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, None, eps)
        self.averaging_constant = averaging_constant


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """The same for each index of a dimension."""

    _join = _moving

    def __init__(self, averaging_constant=0.01, ch_axis=0, dtype=wick.quint8, qscheme=wick.per_channel_affine,
                 reduce_range=False, quant_min=None, quant_max=None, eps=None):
        super().__init__(ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, None, eps)
        self.averaging_constant = averaging_constant


class HistogramObserver(_RangeObserver):
    """The range whose quantization has the least squared error over a histogram of what was seen."""

    def __init__(self, bins=2048, upsample_rate=128, dtype=wick.quint8, qscheme=wick.per_tensor_affine,
                 reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None, eps=None):
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps)
        self.bins = bins
        self.register_buffer("histogram", wick.zeros(bins))

    def forward(self, x_orig):
        if not x_orig.numel():
            return x_orig
        x = x_orig.detach().float()
        low, high = wick.aminmax(x)
        before = (self.min_val, self.max_val)
        known = bool(self.min_val <= self.max_val)
        self.min_val, self.max_val = self._join(low, high)
        histogram = wick.histc(x, self.bins, min=self.min_val.item(), max=self.max_val.item())
        if known:
            histogram = histogram + self._moved(*before)
        self.histogram = histogram
        return x_orig

    def _moved(self, low, high):
        """The histogram of before over the bins of now."""
        if bool(low == self.min_val) and bool(high == self.max_val):
            return self.histogram
        centers = low + (high - low) * ((wick.arange(self.bins) + 0.5) / self.bins)
        width = (self.max_val - self.min_val) / self.bins
        at = ((centers - self.min_val) / width).long().clamp(0, self.bins - 1)
        return wick.zeros(self.bins).index_add(0, at, self.histogram)

    def _error(self, begin, end):
        """The squared error when bins from `begin` to `end` are the range: those outside of it are at its ends."""
        width = ((self.max_val - self.min_val) / self.bins).double()
        centers = self.min_val.double() + width * (wick.arange(self.bins, dtype=wick.float64) + 0.5)
        low, high = self.min_val.double() + width * begin, self.min_val.double() + width * (end + 1)
        step = (high - low) / (self.quant_max - self.quant_min)
        if step.item() == 0:
            return 0.0
        nearest = low + step * wick.round((centers.clamp(low.item(), high.item()) - low) / step)
        distance = centers - nearest
        # within a bin elements spread evenly around its center
        return (self.histogram.double() * (distance * distance + width * width / 12)).sum().item()

    def _best_range(self):
        share = wick.cumsum(self.histogram.double(), 0) / self.histogram.double().sum()
        begin, end = 0, self.bins - 1
        best, least = (begin, end), self._error(begin, end)
        for cut in [i * 1e-5 for i in range(1, 20)] + [i * 1e-4 for i in range(2, 100)]:
            begins = [begin, int((share < cut).sum())]
            ends = [end, self.bins - 1 - int((share > 1 - cut).sum())]
            for pair in ((begins[1], end), (begin, ends[1]), (begins[1], ends[1])):
                error = self._error(*pair) if pair[0] < pair[1] else least
                if error < least:
                    best, least = pair, error
        return best

    def calculate_qparams(self):
        """(scale, zero point)."""
        if bool(self.min_val > self.max_val):
            return super().calculate_qparams()
        begin, end = self._best_range()
        width = (self.max_val - self.min_val) / self.bins
        scale, zero = self._parameters_of(self.min_val + width * begin, self.min_val + width * (end + 1))
        return scale.reshape(-1), zero.reshape(-1)


class PlaceholderObserver(ObserverBase):
    """Sees nothing: of activations whose scale is chosen as they come."""

    def __init__(self, dtype=wick.float32, custom_op_name="", compute_dtype=None, quant_min=None, quant_max=None,
                 is_dynamic=False):
        super().__init__(dtype)
        self.is_dynamic = is_dynamic

    def forward(self, x):
        return x


class NoopObserver(PlaceholderObserver):
    """Sees nothing."""


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_weight_observer = MinMaxObserver.with_args(dtype=wick.qint8, qscheme=wick.per_tensor_symmetric)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=wick.qint8, qscheme=wick.per_channel_symmetric)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_dynamic_quant_observer = PlaceholderObserver.with_args(dtype=wick.quint8, is_dynamic=True)
