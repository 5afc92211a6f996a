"""Folding, sampling and resizing."""
import math
from typing import List, Optional

import wick
from wick import Tensor
from wick.nn.functional._arguments import _sizes


def fold(input: Tensor, output_size, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Adds sliding blocks, columns of the input, up to images."""
    return wick.col2im(input, _sizes(output_size, 2), _sizes(kernel_size, 2), _sizes(dilation, 2), _sizes(padding, 2),
                       _sizes(stride, 2))


def unfold(input: Tensor, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Sliding blocks of images as columns."""
    return wick.im2col(input, _sizes(kernel_size, 2), _sizes(dilation, 2), _sizes(padding, 2), _sizes(stride, 2))


def _number_of(choices, value: str, what: str) -> int:
    if value not in choices:
        listed = "'bilinear', 'nearest' or 'bicubic'" if what == 'mode' else "'zeros', 'border', or 'reflection'"
        raise ValueError("nn.functional.grid_sample(): expected {} to be {}, but got: '{}'"
                         .format(what, listed, value))
    return choices.index(value)


def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros',
                align_corners: Optional[bool] = None) -> Tensor:
    """Samples images at the places that ``grid`` names, from -1 to 1."""
    how = _number_of(('bilinear', 'nearest', 'bicubic'), mode, 'mode')
    outside = _number_of(('zeros', 'border', 'reflection'), padding_mode, 'padding_mode')
    return wick.grid_sampler(input, grid, how, outside, bool(align_corners))


def affine_grid(theta: Tensor, size: List[int], align_corners: Optional[bool] = None) -> Tensor:
    """The grid for ``grid_sample`` of affine maps ``theta``."""
    if not theta.is_floating_point():
        raise ValueError('Expected theta to have floating point type, but got {}'.format(theta.dtype))
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError('affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, '
                                  'respectively. Got size {}.'.format(size))
    if theta.dim() != 3 or tuple(theta.size()[1:]) != (n, n + 1):
        raise ValueError('Expected a batch of {}D affine matrices of shape Nx{}x{} for size {}. Got {}.'
                         .format(n, n, n + 1, size, theta.size()))
    if min(size) <= 0:
        raise ValueError('Expected non-zero, positive output size. Got {}'.format(size))
    return wick.affine_grid_generator(theta, size, bool(align_corners))


_UPSAMPLING = {('nearest', 3): 'upsample_nearest1d', ('nearest', 4): 'upsample_nearest2d',
               ('nearest', 5): 'upsample_nearest3d', ('nearest-exact', 3): '_upsample_nearest_exact1d',
               ('nearest-exact', 4): '_upsample_nearest_exact2d', ('nearest-exact', 5): '_upsample_nearest_exact3d',
               ('linear', 3): 'upsample_linear1d', ('bilinear', 4): 'upsample_bilinear2d',
               ('trilinear', 5): 'upsample_trilinear3d', ('bicubic', 4): 'upsample_bicubic2d'}


def interpolate(input: Tensor, size=None, scale_factor=None, mode: str = 'nearest',
                align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None,
                antialias: bool = False) -> Tensor:
    """Samples (N, C, ...) up or down to ``size``, or by ``scale_factor``.

    ``mode``: nearest, nearest-exact, area, linear (3D), bilinear, bicubic (4D), trilinear (5D).
    """
    n = input.dim() - 2
    corners = mode in ('linear', 'bilinear', 'bicubic', 'trilinear')
    if not corners and align_corners is not None:
        raise ValueError('align_corners option can only be set with the interpolating modes: linear | bilinear | '
                         'bicubic | trilinear')
    if (size is None) == (scale_factor is None):
        raise ValueError('either size or scale_factor should be defined' if size is None else
                         'only one of size or scale_factor should be defined')
    scales = None
    if size is not None:
        size = size if isinstance(size, (list, tuple)) else [size] * n
        if len(size) != n:
            raise ValueError(
                'Input and output must have the same number of spatial dimensions, but got input with spatial '
                'dimensions of {} and output size of {}. Please provide input tensor in (N, C, d1, d2, ...,dK) '
                'format and output size in (o1, o2, ...,oK) format.'.format(list(input.shape[2:]), size))
        if recompute_scale_factor:
            raise ValueError('recompute_scale_factor is not meaningful with an explicit size.')
    else:
        scales = [float(each) for each in scale_factor] if isinstance(scale_factor, (list, tuple)) else \
            [float(scale_factor)] * n
        if len(scales) != n:
            raise ValueError(
                'Input and scale_factor must have the same number of spatial dimensions, but got input with spatial '
                'dimensions of {} and scale_factor of shape {}. Please provide input tensor in (N, C, d1, d2, '
                '...,dK) format and scale_factor in (s1, s2, ...,sK) format.'
                .format(list(input.shape[2:]), scale_factor))
        if recompute_scale_factor or mode == 'area':
            size, scales = [math.floor(float(input.size(d + 2)) * scales[d]) for d in range(n)], None
    if antialias and not (mode in ('bilinear', 'bicubic') and n == 2):
        raise ValueError('Anti-alias option is only supported for bilinear and bicubic modes')
    if mode == 'area' and n in (1, 2, 3):
        return (wick.adaptive_avg_pool1d, wick.adaptive_avg_pool2d, wick.adaptive_avg_pool3d)[n - 1](input, size)
    name = _UPSAMPLING.get((mode, n + 2))
    if name is None:
        if mode in ('linear', 'bilinear', 'trilinear') and n in (1, 2, 3):
            raise NotImplementedError('Got {}D input, but {} mode needs {}D input'.format(
                n + 2, mode, {'linear': 3, 'bilinear': 4, 'trilinear': 5}[mode]))
        raise NotImplementedError('Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the modes: '
                                  'nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {})'
                                  .format(n + 2, mode))
    if antialias:
        name = '_' + name + '_aa'
    operator = getattr(wick, name)
    return operator(input, size, bool(align_corners), scales) if corners else operator(input, size, scales)


def upsample(input: Tensor, size=None, scale_factor=None, mode: str = 'nearest',
             align_corners: Optional[bool] = None) -> Tensor:
    """The older name of interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size=None, scale_factor=None) -> Tensor:
    """interpolate with mode nearest."""
    return interpolate(input, size, scale_factor, 'nearest')


def upsample_bilinear(input: Tensor, size=None, scale_factor=None) -> Tensor:
    """interpolate with mode bilinear and corners aligned."""
    return interpolate(input, size, scale_factor, 'bilinear', True)
