"""Sizes as layers take them: one number for every dimension, or a sequence."""
from collections import abc
from typing import List


def _ntuple(n):
    def parse(value):
        return tuple(value) if isinstance(value, abc.Iterable) else (value,) * n
    parse.__name__ = '_ntuple_{}'.format(n)
    return parse


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)


def _reverse_repeat_tuple(values, times):
    """The values from the last to the first, each ``times`` times: how ``pad`` takes what stands around."""
    return tuple(value for value in reversed(values) for _ in range(times))


def _listed(values: List[int]) -> List[int]:
    """The values; to the compiler, which brings tuples to that type as it calls, they are a list."""
    return values
