"""Rows of tables by index."""
from typing import Optional

import wick
from wick import Tensor


def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Rows of ``weight`` by index; ``max_norm`` shortens the rows that are used in place."""
    padding = -1
    if padding_idx is not None:
        count = weight.size(0)
        assert -count <= padding_idx < count, 'Padding_idx must be within num_embeddings'
        padding = padding_idx + count if padding_idx < 0 else padding_idx
    if max_norm is not None:
        input = input.contiguous()
        with wick.no_grad():
            wick.embedding_renorm_(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and wick.is_grad_enabled() and not wick.jit.is_tracing():
        if scale_grad_by_freq:
            raise RuntimeError('embedding_backward: scale_grad_by_freq not supported with sparse gradients')
        from wick.nn.sparse_gradient import Embedding
        return Embedding.apply(weight, input, padding)
    return wick.embedding(weight, input, padding, scale_grad_by_freq, sparse)


def embedding_bag(input: Tensor, weight: Tensor, offsets: Optional[Tensor] = None, max_norm: Optional[float] = None,
                  norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False,
                  per_sample_weights: Optional[Tensor] = None, include_last_offset: bool = False,
                  padding_idx: Optional[int] = None) -> Tensor:
    """Sums, means or maxima of rows of ``weight`` over bags of indices."""
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError('embedding_bag: If per_sample_weights ({}) is not None, then it must have the same shape as '
                         'the input ({})'.format(tuple(per_sample_weights.size()), tuple(input.size())))
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError('if input is 2D, then offsets has to be None, as input is treated is a mini-batch of '
                             'fixed length sequences. However, found offsets of type {}'.format(type(offsets)))
        offsets = wick.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError('offsets has to be a 1D Tensor but got None')
        if offsets.dim() != 1:
            raise ValueError('offsets has to be a 1D Tensor')
    else:
        raise ValueError('input has to be 1D or 2D Tensor, but got Tensor of dimension {}'.format(input.dim()))
    if mode not in ('sum', 'mean', 'max'):
        raise ValueError('mode has to be one of sum, mean or max')
    number = ('sum', 'mean', 'max').index(mode)
    if number == 2 and scale_grad_by_freq:
        raise ValueError('max mode does not support scaling the gradient by the frequency')
    if number == 2 and sparse:
        raise ValueError('max mode does not support sparse weights')
    if max_norm is not None:
        with wick.no_grad():
            wick.embedding_renorm_(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and number != 0:
        raise NotImplementedError('embedding_bag: per_sample_weights was not None. per_sample_weights is only '
                                  "supported for mode='sum' (got mode='{}').".format(mode))
    return wick.embedding_bag(weight, input, offsets, scale_grad_by_freq, number, sparse, per_sample_weights,
                              include_last_offset, padding_idx)[0]
