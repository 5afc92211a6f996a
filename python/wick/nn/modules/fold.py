"""Sliding blocks of images as columns, and back."""
from wick import Tensor
from wick.nn import functional as F
from wick.nn.modules.module import Module


class Fold(Module):
    """Adds blocks, columns of (N, C * block, L), up to images of ``output_size``."""

    __constants__ = ['output_size', 'kernel_size', 'dilation', 'padding', 'stride']

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return 'output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, padding={padding}, ' \
               'stride={stride}'.format(**self.__dict__)


class Unfold(Module):
    """Blocks of (N, C, H, W) as columns of (N, C * block, L)."""

    __constants__ = ['kernel_size', 'dilation', 'padding', 'stride']

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return 'kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}'.format(
            **self.__dict__)
