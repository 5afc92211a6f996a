"""Streams of samples, each by itself: from an iterable, mapped, filtered, collated."""
import copy
import warnings

from wick.utils.data._utils.collate import default_collate
from wick.utils.data.datapipes._base import IterDataPipe, functional_datapipe, length_of


class IterableWrapperIterDataPipe(IterDataPipe):
    """The items of an iterable, of a deep copy of it for each pass if there can be one."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:
                warnings.warn("The input iterable can not be deepcopied, please be aware of in-place modification "
                              "would affect source data.")
        yield from source

    def __len__(self):
        return len(self.iterable)


def _columns(data, input_col):
    if input_col is None:
        return (data,)
    if isinstance(input_col, (list, tuple)):
        return tuple(data[column] for column in input_col)
    return (data[input_col],)


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """What a function makes of each sample, or of columns of it, which go to other columns."""

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def _apply(self, data):
        if self.input_col is None:
            return self.fn(data)
        made = self.fn(*_columns(data, self.input_col))
        is_tuple = isinstance(data, tuple)
        data = list(data) if is_tuple else data
        if self.output_col is None:
            several = isinstance(self.input_col, (list, tuple))
            data[self.input_col[0] if several else self.input_col] = made
            if several:
                for column in sorted(self.input_col[1:], reverse=True):
                    del data[column]
        elif self.output_col == -1:
            data.append(made)
        else:
            data[self.output_col] = made
        return tuple(data) if is_tuple else data

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply(data)

    def __len__(self):
        return length_of(self.datapipe, self)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """A tensor of each batch, or what another function makes of it."""

    def __init__(self, datapipe, conversion=default_collate, collate_fn=None):
        if not callable(conversion):
            raise TypeError("collate of columns is not there: give a function")
        super().__init__(datapipe, collate_fn if collate_fn is not None else conversion)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples of which a function is true."""

    def __init__(self, datapipe, filter_fn, drop_empty_batches=None, input_col=None):
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self):
        for data in self.datapipe:
            keeps = self.filter_fn(*_columns(data, self.input_col))
            if not isinstance(keeps, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got",
                                 type(keeps))
            if keeps:
                yield data
