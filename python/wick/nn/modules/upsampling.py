"""Sampling up and down."""
from wick import Tensor
from wick.nn import functional as F
from wick.nn.modules.module import Module


class Upsample(Module):
    """Samples (N, C, ...) to ``size`` or by ``scale_factor``."""

    __constants__ = ['size', 'scale_factor', 'mode', 'align_corners', 'name', 'recompute_scale_factor']

    def __init__(self, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)

    def extra_repr(self):
        what = 'size' if self.scale_factor is None else 'scale_factor'
        return '{}={}, mode={}'.format(what, getattr(self, what), self.mode)


class UpsamplingNearest2d(Upsample):
    """Upsample with mode nearest."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode='nearest')


class UpsamplingBilinear2d(Upsample):
    """Upsample with mode bilinear and corners aligned."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode='bilinear', align_corners=True)
