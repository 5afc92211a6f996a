"""Sequences of different lengths in one tensor: padded, or packed step by step without the padding."""
from typing import List, NamedTuple, Optional, Tuple

import wick
from wick import Tensor
from wick._jit_internal import is_scripting


class PackedSequence_(NamedTuple):
    """The parts of a PackedSequence."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Optional[Tensor]
    unsorted_indices: Optional[Tensor]


class PackedSequence(PackedSequence_):
    """Sequences step by step: ``data`` has the first elements of all, then the second ones, ..., longest first.

    ``batch_sizes`` (int64, on the CPU) says how many sequences reach each step; ``sorted_indices`` how the sequences
    were brought into that order, ``unsorted_indices`` how to go back.
    """

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            data, batch_sizes = data
        if batch_sizes.device.type != 'cpu':
            raise ValueError('batch_sizes should always be on CPU. Instances of PackedSequence should never be '
                             'created manually. They should be instantiated by functions like pack_sequence and '
                             'pack_padded_sequences in nn.utils.rnn')
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with_data(self, data):
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices,
                                                         self.unsorted_indices)

    def to(self, *args, **kwargs):
        """As Tensor.to, of the data."""
        return self._with_data(self.data.to(*args, **kwargs))

    def cpu(self):
        """On the processor."""
        return self.to('cpu')

    def cuda(self, *args, **kwargs):
        """On a graphics processor, where there is one."""
        return self.to('cuda', *args, **kwargs)

    def pin_memory(self):
        """With the data pinned."""
        return self._with_data(self.data.pin_memory())

    @property
    def is_cuda(self):
        """Whether the data are on a graphics processor."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data are pinned."""
        return self.data.is_pinned()


def _add_conversions():
    for name in ('double', 'float', 'half', 'long', 'int', 'short', 'char', 'byte'):
        def convert(self, _name=name):
            return self._with_data(getattr(self.data, _name)())
        convert.__name__ = name
        convert.__doc__ = 'With the data converted as by Tensor.{}.'.format(name)
        setattr(PackedSequence, name, convert)


_add_conversions()


def invert_permutation(permutation: Optional[Tensor]) -> Optional[Tensor]:
    """The permutation that undoes ``permutation``; None of None."""
    if permutation is None:
        return None
    output = wick.empty_like(permutation)
    output.scatter_(0, permutation, wick.arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """Packs (T, B, ...) sequences, or (B, T, ...) with ``batch_first``, of the given lengths.

    With ``enforce_sorted`` the lengths must decrease already; else the sequences are sorted.
    """
    if not is_scripting():
        lengths = lengths if isinstance(lengths, Tensor) else wick.as_tensor(lengths, dtype=wick.int64, device='cpu')
    sorted_indices: Optional[Tensor] = None
    if not enforce_sorted:
        lengths, sorted_indices = wick.sort(lengths, descending=True)
        order = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
        sorted_indices = order
    data, batch_sizes = wick._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, invert_permutation(sorted_indices))


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    """The padded sequences and their lengths; ``total_length`` pads further."""
    longest = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < longest:
            raise ValueError('Expected total_length to be at least the length of the longest sequence in input, but '
                             'got total_length={} and max sequence length being {}'.format(total_length, longest))
        longest = total_length
    padded, lengths = wick._pad_packed_sequence(sequence.data, sequence.batch_sizes, batch_first, padding_value,
                                                longest)
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order]
    return padded, lengths


def pad_sequence(sequences: List[Tensor], batch_first: bool = False, padding_value: float = 0.0) -> Tensor:
    """Tensors of (L, ...) as one of (longest L, B, ...), or (B, longest L, ...) with ``batch_first``."""
    if not is_scripting():
        sequences = sequences.unbind(0) if isinstance(sequences, Tensor) else list(sequences)
    return wick.pad_sequence(sequences, batch_first, padding_value)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> List[Tensor]:
    """The sequences that ``pad_sequence`` padded, in a list."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [padded_sequences[i][:int(lengths[i])] for i in range(lengths.size(0))]


def pack_sequence(sequences: List[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs tensors of (L, ...)."""
    lengths = wick.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> List[Tensor]:
    """The sequences that ``pack_sequence`` packed, in a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
