"""Several streams as one, and one as several."""
import collections

from wick.utils.data.datapipes._base import IterDataPipe, functional_datapipe, length_of


def _check(pipes):
    if not pipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, IterDataPipe) for pipe in pipes):
        raise TypeError("Expected all inputs to be `IterDataPipe`")


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """One stream after the other."""

    def __init__(self, *datapipes):
        _check(datapipes)
        self.datapipes = datapipes

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self):
        return sum(length_of(pipe, self) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe):
    """Tuples of one sample of each, as long as the shortest has some."""

    def __init__(self, *datapipes):
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*self.datapipes)

    def __len__(self):
        return min(length_of(pipe, self) for pipe in self.datapipes)


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe):
    """One sample of each in turn, until the shortest ends."""

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __iter__(self):
        streams = [iter(pipe) for pipe in self.datapipes]
        while streams:
            values = []
            for stream in streams:
                try:
                    values.append(next(stream))
                except StopIteration:
                    return
            yield from values

    def __len__(self):
        return min(length_of(pipe, self) for pipe in self.datapipes) * len(self.datapipes)


class _Source:
    """A stream that several read: what one has not taken yet is kept for it."""

    def __init__(self, datapipe, count, buffer_size, numbers_of):
        self.datapipe, self.count, self.buffer_size, self.numbers_of = datapipe, count, buffer_size, numbers_of
        self.stream, self.kept = None, None
        self.begun = [False] * count

    def begin(self, number):
        """A reader begins; all begin anew once one that has begun does."""
        if self.stream is None or self.begun[number]:
            self.stream = iter(self.datapipe)
            self.kept = [collections.deque() for _ in range(self.count)]
            self.begun = [False] * self.count
        self.begun[number] = True

    def next(self, number):
        """The next sample for a reader; StopIteration at the end."""
        while not self.kept[number]:
            data = next(self.stream)
            for taker in self.numbers_of(data):
                if self.buffer_size >= 0 and sum(map(len, self.kept)) >= self.buffer_size + self.count:
                    raise BufferError("The buffer of {} samples is full: one reader is that far ahead of another"
                                      .format(self.buffer_size))
                self.kept[taker].append(data)
        return self.kept[number].popleft()

    def __getstate__(self):
        return dict(self.__dict__, stream=None, kept=None, begun=[False] * self.count)


class _ChildDataPipe(IterDataPipe):
    """One of the readers of a stream."""

    def __init__(self, source, number, has_length):
        self.source, self.number, self.has_length = source, number, has_length

    def reset(self):
        """Begins anew."""
        self.source.begin(self.number)

    def __iter__(self):
        while True:
            try:
                yield self.source.next(self.number)
            except StopIteration:
                return

    def __len__(self):
        if not self.has_length:
            raise TypeError("{} instance doesn't have valid length".format(type(self).__name__))
        return length_of(self.source.datapipe, self)


def _check_count(num_instances):
    if num_instances < 1:
        raise ValueError("Expected `num_instances` larger than 0, but {} is found".format(num_instances))


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """So many streams of the same samples. It gives a list of them."""

    def __new__(cls, datapipe, num_instances, buffer_size=1000):
        _check_count(num_instances)
        if num_instances == 1:
            return datapipe
        everyone = range(num_instances)
        source = _Source(datapipe, num_instances, buffer_size, _Everyone(everyone))
        return [_ChildDataPipe(source, i, True) for i in everyone]


class _Everyone:
    def __init__(self, numbers):
        self.numbers = numbers

    def __call__(self, data):
        return self.numbers


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """So many streams, each of the samples that a function gives its number for. It gives a list of them."""

    def __new__(cls, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        _check_count(num_instances)
        source = _Source(datapipe, num_instances, buffer_size,
                         _Classes(num_instances, classifier_fn, drop_none))
        return [_ChildDataPipe(source, i, False) for i in range(num_instances)]


class _Classes:
    def __init__(self, count, classifier, drop_none):
        self.count, self.classifier, self.drop_none = count, classifier, drop_none

    def __call__(self, data):
        found = self.classifier(data)
        if found is None and self.drop_none:
            return ()
        if found is None or not 0 <= found < self.count:
            raise ValueError("Output of the classification fn should be between 0 and {}. {} is returned.".format(
                self.count - 1, found))
        return (found,)
