"""Padding: constants, mirrored and repeated edges; sizes from the last dimension to the first, before and after."""
from typing import Sequence

from wick import Tensor
from wick.nn import functional as F
from wick.nn.modules.module import Module
from wick.nn.modules.utils import _ntuple


class _ConstantPadNd(Module):
    __constants__ = ['padding', 'value']
    value: float
    padding: Sequence[int]

    def __init__(self, padding, value):
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, 'constant', self.value)

    def extra_repr(self):
        return 'padding={}, value={}'.format(self.padding, self.value)


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with a number."""

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with a number."""

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with a number."""

    _dims = 3


class ZeroPad2d(ConstantPad2d):
    """Pads the last two dimensions with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.)

    def extra_repr(self):
        return '{}'.format(self.padding)


class _EdgePadNd(Module):
    __constants__ = ['padding']
    padding: Sequence[int]

    def __init__(self, padding):
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)

    def extra_repr(self):
        return '{}'.format(self.padding)


class _ReflectionPadNd(_EdgePadNd):
    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, 'reflect')


class ReflectionPad1d(_ReflectionPadNd):
    """Mirrors the last dimension at its ends."""

    _dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Mirrors the last two dimensions at their ends."""

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Mirrors the last three dimensions at their ends."""

    _dims = 3


class _ReplicationPadNd(_EdgePadNd):
    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, 'replicate')


class ReplicationPad1d(_ReplicationPadNd):
    """Repeats the ends of the last dimension."""

    _dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Repeats the ends of the last two dimensions."""

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Repeats the ends of the last three dimensions."""

    _dims = 3
