"""What data pipes have in common: functional forms, and one iterator at a time."""
import functools
import random

import wick
from wick.utils.data.dataset import Dataset, IterableDataset


class _Functional:
    """Steps that pipes have as methods: `pipe.map(f)` is `Mapper(pipe, f)`."""

    def __getattr__(self, name):
        step = type(self).functions.get(name)
        if step is None:
            raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))
        return functools.partial(step, self)

    @classmethod
    def register_function(cls, name, function):
        """Makes a function of a pipe one of its methods."""
        cls.functions[name] = function

    @classmethod
    def register_datapipe_as_function(cls, name, cls_to_register, enable_df_api_tracing=False):
        """Makes a class of pipes one of the methods that give a pipe."""
        if name in cls.functions:
            raise Exception("Unable to add DataPipe function name {} as it is already taken".format(name))
        cls.functions[name] = cls_to_register

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __reduce_ex__(self, *args):
        return super().__reduce_ex__(*args)

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(type(self).functions))

    def __repr__(self):
        return type(self).__qualname__

    __str__ = __repr__


class MapDataPipe(_Functional, Dataset):
    """A data pipe whose samples are had by index."""

    functions = {}


class _Valid:
    """An iterator that ends with an error once its pipe has given another one."""

    def __init__(self, pipe, samples):
        self._pipe, self._samples, self._number = pipe, samples, pipe.__dict__["_iterators"]

    def __iter__(self):
        return self

    def __next__(self):
        if self._number != self._pipe.__dict__["_iterators"]:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created from the same "
                "IterDataPipe: {}\nThis may be caused multiple references to the same IterDataPipe. We recommend "
                "using `.fork()` if that is necessary.".format(self._pipe))
        return next(self._samples)


def _one_at_a_time(begin):
    @functools.wraps(begin)
    def start(self):
        self.__dict__["_iterators"] = self.__dict__.get("_iterators", 0) + 1
        self.reset()
        return _Valid(self, begin(self))
    start._is_counted = True
    return start


class IterDataPipe(_Functional, IterableDataset):
    """A data pipe that is a stream. One iterator of it is valid, the last that was asked for."""

    functions = {}
    _is_shared = False  # several iterators at once: a child of fork or demux counts by itself

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        begin = cls.__dict__.get("__iter__")
        if begin is not None and not cls._is_shared and not getattr(begin, "_is_counted", False):
            cls.__iter__ = _one_at_a_time(begin)

    def reset(self):
        """Called when an iterator is asked for: puts a pipe with a state at its beginning."""


class DFIterDataPipe(IterDataPipe):
    """A stream of data frames."""


class functional_datapipe:
    """Decorates a class of data pipes: pipes have it as a method of this name."""

    def __init__(self, name, enable_df_api_tracing=False):
        self.name = name

    def __call__(self, cls):
        for base in (IterDataPipe, MapDataPipe):
            if isinstance(cls, type) and issubclass(cls, base):
                base.register_datapipe_as_function(self.name, cls)
                return cls
        raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")


class Seeded:
    """What the pipes share that draw an order: whether they do, and from which seed."""

    def _begin(self):
        self._enabled, self._seed, self._rng = True, None, random.Random()

    def set_shuffle(self, shuffle=True):
        """Whether it shuffles at all."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """The seed of the next pass; without one it comes from wick's generator."""
        self._seed = seed
        return self

    def _draw(self):
        """Seeds the generator of a pass; whether it shuffles."""
        if self._enabled:
            if self._seed is None:
                self._seed = int(wick.empty((), dtype=wick.int64).random_().item())
            self._rng.seed(self._seed)
            self._seed = None
        return self._enabled


def length_of(pipe, owner):
    """len() of a pipe; TypeError that names the owner where it has none."""
    try:
        return len(pipe)
    except (TypeError, NotImplementedError):
        raise TypeError("{} instance doesn't have valid length".format(type(owner).__name__)) from None


class DataChunk(list):
    """A batch of samples, itself a list."""

    def __init__(self, items):
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        """Its items in brackets."""
        return indent + "[" + ", ".join(str(item) for item in iter(self)) + "]"

    def raw_iterator(self):
        """Its items."""
        yield from self.items
