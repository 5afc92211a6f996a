"""The order in which a DataLoader takes samples."""
import itertools

import wick
from wick.utils.data.dataset import _Subscripted


class Sampler(_Subscripted):
    """Indices of a data set: a subclass defines ``__iter__``."""

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """From the first to the last."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _new_generator():
    """A generator whose seed the default generator draws."""
    generator = wick.Generator()
    generator.manual_seed(int(wick.empty((), dtype=wick.int64).random_().item()))
    return generator


class RandomSampler(Sampler):
    """In random order; with ``replacement`` samples may come again; ``num_samples`` of them."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        if not isinstance(replacement, bool):
            raise TypeError('replacement should be a boolean value, but got replacement={}'.format(replacement))
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError('num_samples should be a positive integer value, but got num_samples={}'
                             .format(self.num_samples))

    @property
    def num_samples(self):
        """How many samples come."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        count = len(self.data_source)
        generator = _new_generator() if self.generator is None else self.generator
        if self.replacement:
            for _ in range(self.num_samples // 32):
                yield from wick.randint(high=count, size=(32,), dtype=wick.int64, generator=generator).tolist()
            yield from wick.randint(high=count, size=(self.num_samples % 32,), dtype=wick.int64,
                                    generator=generator).tolist()
            return
        for _ in range(self.num_samples // count):
            yield from wick.randperm(count, generator=generator).tolist()
        yield from wick.randperm(count, generator=generator).tolist()[:self.num_samples % count]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in wick.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probabilities in the ratio of ``weights``."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError('num_samples should be a positive integer value, but got num_samples={}'
                             .format(num_samples))
        if not isinstance(replacement, bool):
            raise ValueError('replacement should be a boolean value, but got replacement={}'.format(replacement))
        self.weights = wick.as_tensor(weights, dtype=wick.double)
        if self.weights.dim() != 1:
            raise ValueError('weights should be a 1d sequence but given weights have shape {}'
                             .format(tuple(self.weights.shape)))
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        return iter(wick.multinomial(self.weights, self.num_samples, self.replacement,
                                     generator=self.generator).tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of ``batch_size`` indices of another sampler."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError('batch_size should be a positive integer value, but got batch_size={}'
                             .format(batch_size))
        if not isinstance(drop_last, bool):
            raise ValueError('drop_last should be a boolean value, but got drop_last={}'.format(drop_last))
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while True:
            batch = list(itertools.islice(indices, self.batch_size))
            if not batch or (self.drop_last and len(batch) < self.batch_size):
                return
            yield batch

    def __len__(self):
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
