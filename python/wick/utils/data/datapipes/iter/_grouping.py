"""Streams of batches: made, grouped by a key, and taken apart."""
import collections

from wick.utils.data.datapipes._base import DataChunk, IterDataPipe, functional_datapipe, length_of


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Lists of so many samples; the last may be shorter, or is dropped."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self):
        batch = []
        for data in self.datapipe:
            batch.append(data)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        count = length_of(self.datapipe, self)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The samples of batches, so many levels down; of all levels with -1."""

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self):
        for data in self.datapipe:
            yield from self._dive(data, self.unbatch_level)

    def _dive(self, data, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level == -1:
            if isinstance(data, (list, DataChunk)):
                for inner in data:
                    yield from self._dive(inner, -1)
            else:
                yield data
        elif level == 0:
            yield data
        elif isinstance(data, (list, DataChunk)):
            for inner in data:
                yield from self._dive(inner, level - 1)
        else:
            raise IndexError("unbatch_level {} exceeds the depth of the DataPipe".format(self.unbatch_level))


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Batches of samples with one key, given when they are full, or when the buffer is."""

    def __init__(self, datapipe, group_key_fn, *, buffer_size=10000, group_size=None, guaranteed_group_size=None,
                 drop_remaining=False):
        if group_size is None and guaranteed_group_size is not None:
            raise RuntimeError("guaranteed_group_size needs group_size")
        self.guaranteed_group_size = guaranteed_group_size
        if group_size is not None and buffer_size is not None:
            assert 0 < group_size <= buffer_size
            self.guaranteed_group_size = group_size if guaranteed_group_size is None else guaranteed_group_size
        self.datapipe, self.group_key_fn, self.max_buffer_size = datapipe, group_key_fn, buffer_size
        self.group_size, self.drop_remaining = group_size, drop_remaining

    def _largest(self, groups):
        key = max(groups, key=lambda one: len(groups[one]))
        size = len(groups[key])
        enough = self.guaranteed_group_size is None or size >= self.guaranteed_group_size
        if not enough and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(groups[key]))
        return key, enough

    def __iter__(self):
        groups, held = collections.defaultdict(list), 0
        for data in self.datapipe:
            key = self.group_key_fn(data)
            groups[key].append(data)
            held += 1
            if self.group_size is not None and self.group_size == len(groups[key]):
                held -= len(groups[key])
                yield DataChunk(groups.pop(key))
            elif held == self.max_buffer_size:
                key, enough = self._largest(groups)
                held -= len(groups[key])
                found = groups.pop(key)
                if enough:
                    yield DataChunk(found)
        for key in tuple(groups):
            yield DataChunk(groups.pop(key))
