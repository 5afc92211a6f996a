"""Data pipes whose samples are had by index."""
import copy
import random
import warnings

import wick
from wick.utils.data.datapipes._base import (
    DataChunk, IterDataPipe, MapDataPipe, functional_datapipe)

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """The items of a sequence or mapping, of a deep copy of it if there can be one."""

    def __init__(self, sequence, deepcopy=True):
        if deepcopy:
            try:
                sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn("The input sequence can not be deepcopied, please be aware of in-place modification "
                              "would affect source data")
        self.sequence = sequence

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """What a function makes of each sample."""

    def __init__(self, datapipe, fn=lambda data: data):
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])

    def __len__(self):
        return len(self.datapipe)


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """One sequence after the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        self.datapipes = datapipes

    def __getitem__(self, index):
        before = 0
        for pipe in self.datapipes:
            if index - before < len(pipe):
                return pipe[index - before]
            before += len(pipe)
        raise IndexError("Index {} is out of range.".format(index))

    def __len__(self):
        return sum(len(pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of one sample of each."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        self.datapipes = datapipes

    def __getitem__(self, index):
        return tuple(pipe[index] for pipe in self.datapipes)

    def __len__(self):
        return min(len(pipe) for pipe in self.datapipes)


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Lists of so many samples; the last may be shorter, or is dropped."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index):
        begin, count = index * self.batch_size, len(self.datapipe)
        end = begin + self.batch_size
        if index < 0 or begin >= count or (self.drop_last and end > count):
            raise IndexError("Index {} is out of bound.".format(index))
        return self.wrapper_class([self.datapipe[i] for i in range(begin, min(end, count))])

    def __len__(self):
        count = len(self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class ShufflerIterDataPipe(IterDataPipe):
    """The samples in random order, as a stream; a seed comes from wick's generator unless one is set."""

    def __init__(self, datapipe, *, indices=None):
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._enabled, self._seed, self._rng = True, None, random.Random()
        self._shuffled = self.indices

    def set_shuffle(self, shuffle=True):
        """Whether it shuffles at all."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """The seed of the next pass."""
        self._seed = seed
        return self

    def reset(self):
        """Draws an order."""
        if self._enabled:
            if self._seed is None:
                self._seed = int(wick.empty((), dtype=wick.int64).random_().item())
            self._rng.seed(self._seed)
            self._seed = None
            self._shuffled = self._rng.sample(self.indices, len(self.indices))[::-1]
        else:
            self._shuffled = self.indices

    def __iter__(self):
        for index in self._shuffled:
            yield self.datapipe[index]

    def __len__(self):
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)

Batcher, Concater, Mapper = BatcherMapDataPipe, ConcaterMapDataPipe, MapperMapDataPipe
SequenceWrapper, Shuffler, Zipper = SequenceWrapperMapDataPipe, ShufflerIterDataPipe, ZipperMapDataPipe
