"""Rows of a table by index, alone and in bags."""
from typing import Optional

import wick
from wick import Tensor
from wick.nn import functional as F
from wick.nn import init
from wick.nn.modules.module import Module
from wick.nn.parameter import Parameter


def _checked_padding(padding_idx, num_embeddings):
    """The padding row's index from the front."""
    if padding_idx is None:
        return None
    assert -num_embeddings <= padding_idx < num_embeddings, 'Padding_idx must be within num_embeddings'
    return padding_idx % num_embeddings if padding_idx < 0 else padding_idx


class _Table(Module):
    """The weights of both kinds of embedding."""

    def _make_weight(self, given, device, dtype):
        sizes = (self.num_embeddings, self.embedding_dim)
        if given is not None:
            assert tuple(given.shape) == sizes, 'Shape of weight does not match num_embeddings and embedding_dim'
            self.weight = Parameter(given)
            return
        self.weight = Parameter(wick.empty(sizes, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Draws normal weights; the padding row becomes zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            with wick.no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """Rows of a table of (num_embeddings, embedding_dim) by index.

    ``padding_idx`` is a row without gradient; ``max_norm`` shortens rows that are used; ``sparse`` makes the weight's
    gradient sparse.
    """

    __constants__ = ['num_embeddings', 'embedding_dim', 'padding_idx', 'max_norm', 'norm_type', 'scale_grad_by_freq',
                     'sparse']
    padding_idx: Optional[int]
    max_norm: Optional[float]

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.,
                 scale_grad_by_freq=False, sparse=False, _weight=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _checked_padding(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._make_weight(_weight, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
                           self.scale_grad_by_freq, self.sparse)

    def extra_repr(self):
        text = '{num_embeddings}, {embedding_dim}'
        if self.padding_idx is not None:
            text += ', padding_idx={padding_idx}'
        if self.max_norm is not None:
            text += ', max_norm={max_norm}'
        if self.norm_type != 2:
            text += ', norm_type={norm_type}'
        if self.scale_grad_by_freq is not False:
            text += ', scale_grad_by_freq={scale_grad_by_freq}'
        if self.sparse is not False:
            text += ', sparse=True'
        return text.format(**self.__dict__)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.,
                        scale_grad_by_freq=False, sparse=False):
        """An Embedding over a table that is there; ``freeze``: without gradients."""
        assert embeddings.dim() == 2, 'Embeddings parameter is expected to be 2-dimensional'
        rows, columns = embeddings.shape
        result = cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight=embeddings)
        result.weight.requires_grad = not freeze
        return result


class EmbeddingBag(_Table):
    """Sums, means or maxima of rows of a table over bags of indices."""

    __constants__ = ['num_embeddings', 'embedding_dim', 'max_norm', 'norm_type', 'scale_grad_by_freq', 'mode',
                     'sparse', 'include_last_offset', 'padding_idx']
    max_norm: Optional[float]
    padding_idx: Optional[int]

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2., scale_grad_by_freq=False,
                 mode='mean', sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None,
                 dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _checked_padding(padding_idx, num_embeddings)
        self._make_weight(_weight, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Optional[Tensor] = None,
                per_sample_weights: Optional[Tensor] = None) -> Tensor:
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        text = '{num_embeddings}, {embedding_dim}'
        if self.max_norm is not None:
            text += ', max_norm={max_norm}'
        if self.norm_type != 2:
            text += ', norm_type={norm_type}'
        if self.scale_grad_by_freq is not False:
            text += ', scale_grad_by_freq={scale_grad_by_freq}'
        text += ', mode={mode}'
        if self.padding_idx is not None:
            text += ', padding_idx={padding_idx}'
        return text.format(**self.__dict__)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2., scale_grad_by_freq=False,
                        mode='mean', sparse=False, include_last_offset=False, padding_idx=None):
        """An EmbeddingBag over a table that is there; ``freeze``: without gradients."""
        assert embeddings.dim() == 2, 'Embeddings parameter is expected to be 2-dimensional'
        rows, columns = embeddings.shape
        result = cls(rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
                     include_last_offset, padding_idx)
        result.weight.requires_grad = not freeze
        return result
