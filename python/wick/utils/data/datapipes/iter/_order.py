"""Streams in another order, and parts of streams."""
from wick.utils.data.datapipes._base import IterDataPipe, Seeded, functional_datapipe, length_of
from wick.utils.data.sampler import SequentialSampler


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(Seeded, IterDataPipe):
    """Samples in random order, drawn from a buffer; a seed comes from wick's generator unless one is set."""

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        assert buffer_size > 0, "buffer_size should be larger than 0"
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size = buffer_size
        self._buffer = []
        self._begin()

    def reset(self):
        """Draws a seed where none is set."""
        self._buffer = []
        self._draw()

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        for data in self.datapipe:
            if len(self._buffer) == self.buffer_size:
                at = self._rng.randint(0, len(self._buffer) - 1)
                given, self._buffer[at] = self._buffer[at], data
                yield given
            else:
                self._buffer.append(data)
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self):
        return length_of(self.datapipe, self)


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe):
    """Every n-th sample: a worker's own."""

    def __init__(self, source_datapipe):
        self.source_datapipe = source_datapipe
        self.num_of_instances, self.instance_id = 1, 0

    def is_shardable(self):
        """True: it can be told which part is meant."""
        return True

    def apply_sharding(self, num_of_instances, instance_id):
        """Of so many parts, the one of that number."""
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self):
        for i, data in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield data

    def __len__(self):
        count = length_of(self.source_datapipe, self)
        return count // self.num_of_instances + (self.instance_id < count % self.num_of_instances)


class SamplerIterDataPipe(IterDataPipe):
    """What a sampler gives for a pipe."""

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        self.datapipe, self.sampler_args = datapipe, () if sampler_args is None else sampler_args
        self.sampler_kwargs = {} if sampler_kwargs is None else dict(sampler_kwargs)
        self.sampler_kwargs["data_source"] = datapipe
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        return length_of(self.sampler, self)
