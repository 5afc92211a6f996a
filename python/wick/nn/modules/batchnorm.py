"""Batch normalization."""
import wick
from wick import Tensor
from wick.nn import functional as F
from wick.nn import init
from wick.nn.modules.lazy import LazyModuleMixin
from wick.nn.modules.module import Module
from wick.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter


class _NormBase(Module):
    """Scale, shift and running statistics of channels."""

    _version = 2
    __constants__ = ['track_running_stats', 'momentum', 'eps', 'num_features', 'affine']

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None):
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name in ('weight', 'bias'):
            self.register_parameter(name, Parameter(wick.empty(num_features, device=device, dtype=dtype))
                                    if affine else None)
        if track_running_stats:
            self.register_buffer('running_mean', wick.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer('running_var', wick.ones(num_features, device=device, dtype=dtype))
            self.register_buffer('num_batches_tracked', wick.tensor(0, dtype=wick.int64, device=device))
        else:
            for name in ('running_mean', 'running_var', 'num_batches_tracked'):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Starts the running statistics anew: mean 0, variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Scale 1, shift 0, and statistics anew."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def extra_repr(self):
        return '{num_features}, eps={eps}, momentum={momentum}, affine={affine}, ' \
               'track_running_stats={track_running_stats}'.format(**self.__dict__)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        version = local_metadata.get('version')
        key = prefix + 'num_batches_tracked'
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = wick.tensor(0, dtype=wick.int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


class _BatchNorm(_NormBase):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        if self.momentum is None:
            exponential_average_factor = 0.0
        else:
            exponential_average_factor = self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    exponential_average_factor = 1.0 / float(self.num_batches_tracked)
                else:
                    exponential_average_factor = self.momentum
        if self.training:
            bn_training = True
        else:
            bn_training = (self.running_mean is None) and (self.running_var is None)
        return F.batch_norm(input,
                            self.running_mean if not self.training or self.track_running_stats else None,
                            self.running_var if not self.training or self.track_running_stats else None,
                            self.weight, self.bias, bn_training, exponential_average_factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L)."""

    def _check_input_dim(self, input):
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError('expected 2D or 3D input (got {}D input)'.format(input.dim()))


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W)."""

    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError('expected 4D input (got {}D input)'.format(input.dim()))


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (N, C, D, H, W)."""

    def _check_input_dim(self, input):
        if input.dim() != 5:
            raise ValueError('expected 5D input (got {}D input)'.format(input.dim()))


class SyncBatchNorm(_BatchNorm):
    """Batch normalization of at least two dimensions, in one process."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True,
                 process_group=None, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        if process_group is not None:
            raise NotImplementedError('SyncBatchNorm over several processes is not supported')
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError('expected at least 2D input (got {}D input)'.format(input.dim()))


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Learns num_features from its first input."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = wick.tensor(0, dtype=wick.int64)

    def reset_parameters(self):
        if self.num_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Takes num_features from the input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[self._channel_dim(input)]
            for value in [*self._parameters.values(), self.running_mean, self.running_var]:
                if value is not None:
                    value.materialize((self.num_features,))
            self.reset_parameters()

    def _channel_dim(self, input):
        return 1


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d that learns num_features from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d that learns num_features from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d that learns num_features from its first input."""

    cls_to_become = BatchNorm3d
