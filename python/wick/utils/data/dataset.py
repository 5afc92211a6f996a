"""Data sets: by index, as streams, joined, and in parts."""
import bisect
import itertools
import math
import warnings

import wick


class _Subscripted:
    """Lets a class be written ``Dataset[T]``, which means the class itself."""

    def __class_getitem__(cls, item):
        return cls


class Dataset(_Subscripted):
    """Samples by index: a subclass defines ``__getitem__`` and, for most uses, ``__len__``."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Samples as a stream: a subclass defines ``__iter__``."""

    def __iter__(self):
        raise NotImplementedError

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Rows of tensors with the same size of the first dimension."""

    def __init__(self, *tensors):
        assert all(tensors[0].size(0) == tensor.size(0) for tensor in tensors), 'Size mismatch between tensors'
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class ConcatDataset(Dataset):
    """Data sets one after another."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        assert len(self.datasets) > 0, 'datasets should not be an empty iterable'
        assert not any(isinstance(dataset, IterableDataset) for dataset in self.datasets), \
            'ConcatDataset does not support IterableDataset'
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError('absolute value of index should not exceed dataset length')
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which > 0 else 0)]


class ChainDataset(IterableDataset):
    """Streams one after another."""

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self):
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset):
    """The samples of a data set at ``indices``."""

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Parts of a data set, drawn at random, of the given lengths or, when these sum up to 1, shares."""
    count = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = []
        for i, share in enumerate(lengths):
            if share < 0 or share > 1:
                raise ValueError('Fraction at index {} is not between 0 and 1'.format(i))
            sizes.append(int(math.floor(count * share)))
        for i in range(count - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i, size in enumerate(sizes):
            if size == 0:
                warnings.warn('Length of split at index {} is 0. This might result in an empty dataset.'.format(i))
        lengths = sizes
    if sum(lengths) != count:
        raise ValueError('Sum of input lengths does not equal the length of the input dataset!')
    order = wick.randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length:end]) for end, length in zip(ends, lengths)]
