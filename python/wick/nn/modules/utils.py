"""Sizes as layers take them: one number for every dimension, or a sequence."""
from collections import abc
from typing import List


def _ntuple(n):
    def parse(value):
        return tuple(value) if isinstance(value, abc.Iterable) else (value,) * n
    parse.__name__ = '_ntuple_{}'.format(n)
    return parse


def _operator(name):
    """Marks a function that programs call as an operator."""
    def mark(function):
        function.qualified_name = 'aten::' + name
        return function
    return mark


_single = _operator('_single')(_ntuple(1))
_pair = _operator('_pair')(_ntuple(2))
_triple = _operator('_triple')(_ntuple(3))
_quadruple = _operator('_quadruple')(_ntuple(4))


@_operator('list_with_default')
def _list_with_default(out_size: List[int], defaults: List[int]) -> List[int]:
    """The sizes, those that are None as the defaults say."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError('Input dimension should be at least {}'.format(len(out_size) + 1))
    last = defaults[len(defaults) - len(out_size):]
    return [default if size is None else size for size, default in zip(out_size, last)]


def _reverse_repeat_tuple(values, times):
    """The values from the last to the first, each ``times`` times: how ``pad`` takes what stands around."""
    return tuple(value for value in reversed(values) for _ in range(times))


def _listed(values: List[int]) -> List[int]:
    """The values; to the compiler, which brings tuples to that type as it calls, they are a list."""
    return values
