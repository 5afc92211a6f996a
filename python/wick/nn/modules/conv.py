"""Convolutions and transposed convolutions of one to three dimensions."""
import math
from typing import List, Optional

import wick
from wick import Tensor
from wick.nn import functional as F
from wick.nn import init
from wick.nn.modules.lazy import LazyModuleMixin
from wick.nn.modules.module import Module
from wick.nn.modules.utils import _listed, _ntuple, _reverse_repeat_tuple
from wick.nn.parameter import Parameter, UninitializedParameter

_PADDING_MODES = ('zeros', 'reflect', 'replicate', 'circular')


class _ConvNd(Module):
    """What all convolutions share: sizes, parameters, text."""

    __constants__ = ['stride', 'padding', 'dilation', 'groups', 'padding_mode', 'output_padding', 'in_channels',
                     'out_channels', 'kernel_size']
    __annotations__ = {'bias': Optional[Tensor]}

    _reversed_padding_repeated_twice: List[int]

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                 groups, bias, padding_mode, device=None, dtype=None):
        super().__init__()
        if groups <= 0:
            raise ValueError('groups must be a positive integer')
        if in_channels % groups != 0:
            raise ValueError('in_channels must be divisible by groups')
        if out_channels % groups != 0:
            raise ValueError('out_channels must be divisible by groups')
        if isinstance(padding, str):
            if padding not in ('same', 'valid'):
                raise ValueError("Invalid padding string {!r}, should be one of {{'valid', 'same'}}".format(padding))
            if padding == 'same' and any(step != 1 for step in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError("padding_mode must be one of {}, but got padding_mode='{}'"
                             .format(set(_PADDING_MODES), padding_mode))
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        if padding == 'same':
            around = [d * (k - 1) for d, k in zip(dilation, kernel_size)]
            self._reversed_padding_repeated_twice = [side for both in reversed(around)
                                                     for side in (both // 2, both - both // 2)]
        elif padding == 'valid':
            self._reversed_padding_repeated_twice = [0, 0] * len(kernel_size)
        else:
            self._reversed_padding_repeated_twice = list(_reverse_repeat_tuple(padding, 2))
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(wick.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(wick.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter('bias', None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws new parameters: uniform up to 1 / sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        n = len(self.kernel_size)
        text = '{in_channels}, {out_channels}, kernel_size={kernel_size}, stride={stride}'
        if self.padding != (0,) * n:
            text += ', padding={padding}'
        if self.dilation != (1,) * n:
            text += ', dilation={dilation}'
        if self.output_padding != (0,) * n:
            text += ', output_padding={output_padding}'
        if self.groups != 1:
            text += ', groups={groups}'
        if self.bias is None:
            text += ', bias=False'
        if self.padding_mode != 'zeros':
            text += ', padding_mode={padding_mode}'
        return text.format(**self.__dict__)

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault('padding_mode', 'zeros')


class _Conv(_ConvNd):
    """Convolutions that are not transposed; ``_dims`` is the number of dimensions."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode='zeros', device=None, dtype=None):
        spread = _ntuple(self._dims)
        super().__init__(in_channels, out_channels, spread(kernel_size), spread(stride),
                         padding if isinstance(padding, str) else spread(padding), spread(dilation), False, spread(0),
                         groups, bias, padding_mode, device, dtype)


class Conv1d(_Conv):
    """Convolution of (N, C, L) or (C, L)."""

    _dims = 1

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Optional[Tensor]):
        if self.padding_mode != 'zeros':
            return F.conv1d(F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), weight, bias,
                            self.stride, 0, self.dilation, self.groups)
        return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_Conv):
    """Convolution of (N, C, H, W) or (C, H, W)."""

    _dims = 2

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Optional[Tensor]):
        if self.padding_mode != 'zeros':
            return F.conv2d(F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), weight, bias,
                            self.stride, 0, self.dilation, self.groups)
        return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W) or (C, D, H, W)."""

    _dims = 3

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Optional[Tensor]):
        if self.padding_mode != 'zeros':
            return F.conv3d(F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), weight, bias,
                            self.stride, 0, self.dilation, self.groups)
        return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    """Transposed convolutions; ``_dims`` is the number of dimensions."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None):
        if padding_mode != 'zeros':
            raise ValueError('Only "zeros" padding mode is supported for {}'.format(type(self).__name__))
        spread = _ntuple(self._dims)
        super().__init__(in_channels, out_channels, spread(kernel_size), spread(stride), spread(padding),
                         spread(dilation), True, spread(output_padding), groups, bias, padding_mode, device, dtype)

    def _output_padding(self, input: Tensor, output_size: Optional[List[int]], stride: List[int], padding: List[int],
                        kernel_size: List[int], num_spatial_dims: int, dilation: Optional[List[int]] = None):
        """The extra zeros at the ends that make the result of size ``output_size``."""
        if output_size is None:
            return _listed(self.output_padding)
        batched = input.dim() == num_spatial_dims + 2
        leading = 2 if batched else 1
        if len(output_size) == leading + num_spatial_dims:
            output_size = output_size[leading:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                'ConvTranspose{}D: for {}D input, output_size must have {} or {} elements (got {})'.format(
                    num_spatial_dims, input.dim(), num_spatial_dims, leading + num_spatial_dims, len(output_size)))
        result: List[int] = []
        for d in range(num_spatial_dims):
            least = ((input.size(d + leading) - 1) * stride[d] - 2 * padding[d]
                     + (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1) + 1)
            most = least + stride[d] - 1
            if output_size[d] < least or output_size[d] > most:
                raise ValueError('requested an output size of {}, but the size of dimension {} must be between {} '
                                 'and {} (input size {})'.format(output_size, d, least, most, input.size()[2:]))
            result.append(output_size[d] - least)
        return result


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of (N, C, L) or (C, L)."""

    _dims = 1

    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        assert isinstance(self.padding, tuple)
        output_padding = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, 1,
                                              self.dilation)
        return F.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding, output_padding,
                                  self.groups, self.dilation)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of (N, C, H, W) or (C, H, W)."""

    _dims = 2

    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        assert isinstance(self.padding, tuple)
        output_padding = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, 2,
                                              self.dilation)
        return F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, output_padding,
                                  self.groups, self.dilation)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of (N, C, D, H, W) or (C, D, H, W)."""

    _dims = 3

    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        assert isinstance(self.padding, tuple)
        output_padding = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, 3,
                                              self.dilation)
        return F.conv_transpose3d(input, self.weight, self.bias, self.stride, self.padding, output_padding,
                                  self.groups, self.dilation)


class _LazyConv(LazyModuleMixin):
    """A convolution that learns in_channels from its first input; its arguments leave in_channels out."""

    def __init__(self, out_channels, *args, **kwargs):
        device, dtype = kwargs.get('device'), kwargs.get('dtype')
        super().__init__(0, 0, *args, **kwargs)
        has_bias = self.bias is not None
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if has_bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input, *args):
        """Takes in_channels from the input."""
        if not self.has_uninitialized_params():
            return
        n = self._dims
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError('Expected {}D (unbatched) or {}D (batched) input to {}, but got input of size: {}'
                               .format(n + 1, n + 2, type(self).__name__, input.shape))
        self.in_channels = input.shape[-n - 1]
        if self.in_channels % self.groups != 0:
            raise ValueError('in_channels must be divisible by groups')
        channels = (self.in_channels, self.out_channels // self.groups) if self.transposed else \
            (self.out_channels, self.in_channels // self.groups)
        self.weight.materialize((*channels, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that learns in_channels from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that learns in_channels from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that learns in_channels from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """A ConvTranspose1d that learns in_channels from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """A ConvTranspose2d that learns in_channels from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """A ConvTranspose3d that learns in_channels from its first input."""

    cls_to_become = ConvTranspose3d
