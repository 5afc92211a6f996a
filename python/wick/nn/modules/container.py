"""Modules that hold modules or parameters in order or by name."""
import operator
from collections import OrderedDict, abc

import wick
from wick.nn.modules.module import Module, _typename
from wick.nn.parameter import Parameter


def _position(index, count):
    """A whole number from -count to count - 1 as a position from the front."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError('index {} is out of range'.format(index))
    return index % count


class _Numbered(Module):
    """What Sequential and ModuleList share: children under '0', '1', ..."""

    def _key(self, index):
        return list(self._modules)[_position(index, len(self))]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._part(list(self._modules.items())[index])
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules):
        self._modules = OrderedDict((str(i), module) for i, module in enumerate(modules))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        """Adds a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Puts a module before the one at ``index``."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)

    def pop(self, index):
        """Takes out the module at ``index`` and returns it."""
        module = self[index]
        del self[index]
        return module

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Calls its modules one after another, each with the result of the one before.

    Args: the modules, or one OrderedDict of modules by name.
    """

    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def _part(self, items):
        return type(self)(OrderedDict(items))

    def insert(self, index, module):
        """Puts a module before the one at ``index``; returns self."""
        if not isinstance(module, Module):
            raise AssertionError('module should be of type: {}'.format(Module))
        if not -len(self) <= index <= len(self):
            raise IndexError('Index out of range: {}'.format(index))
        super().insert(index, module)
        return self

    def extend(self, modules):
        """Adds modules at the end; returns self."""
        for module in modules:
            self.append(module)
        return self

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError('add operator supports only objects of Sequential class, but {} is given.'
                             .format(type(other)))
        return type(self)(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError('add operator supports only objects of Sequential class, but {} is given.'
                             .format(type(other)))
        return self.extend(list(other))

    def __mul__(self, times):
        return type(self)(*(list(self) * _repeats(times)))

    __rmul__ = __mul__

    def __imul__(self, times):
        return self.extend(list(self) * (_repeats(times) - 1))

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


def _repeats(times):
    if not isinstance(times, int):
        raise TypeError('unsupported operand type(s) for *: {} and {}'.format(Sequential, type(times)))
    if times <= 0:
        raise ValueError('Non-positive multiplication factor {} for {}'.format(times, Sequential))
    return times


class ModuleList(_Numbered):
    """A list of modules, which the module that has it knows of."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _part(self, items):
        return type(self)(module for _, module in items)

    def extend(self, modules):
        """Adds modules at the end; returns self."""
        if not isinstance(modules, abc.Iterable):
            raise TypeError('ModuleList.extend should be called with an iterable, but got ' + type(modules).__name__)
        for module in modules:
            self.append(module)
        return self

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return type(self)([*self, *other])


class ModuleDict(Module):
    """A dictionary of modules by name, in order of insertion, which the module that has it knows of."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Takes out all modules."""
        self._modules.clear()

    def pop(self, key):
        """Takes out the module under ``key`` and returns it."""
        module = self[key]
        del self[key]
        return module

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """Pairs of name and module."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Takes modules from a mapping or from pairs of name and module; names that are there get new modules."""
        for key, module in _pairs(modules, 'ModuleDict'):
            self[key] = module


def _pairs(given, what):
    if not isinstance(given, abc.Iterable):
        raise TypeError('{}.update should be called with an iterable of key/value pairs, but got {}'
                        .format(what, type(given).__name__))
    if isinstance(given, (abc.Mapping, ModuleDict, ParameterDict)):
        return list(given.items())
    pairs = list(given)
    for i, pair in enumerate(pairs):
        if not isinstance(pair, abc.Iterable):
            raise TypeError('{} update sequence element #{} should be Iterable; is {}'
                            .format(what, i, type(pair).__name__))
        if len(pair) != 2:
            raise ValueError('{} update sequence element #{} has length {}; 2 is required'.format(what, i, len(pair)))
    return pairs


def _as_parameter(value):
    """Tensors as parameters; other values as they are."""
    if isinstance(value, wick.Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _described(value, kind_of):
    if not isinstance(value, wick.Tensor):
        return 'Object of type: ' + type(value).__name__
    kind = 'Parameter' if isinstance(value, Parameter) else 'Tensor'
    return '{} containing: [{} of size {}]'.format(kind, kind_of(value), 'x'.join(map(str, value.size())))


class ParameterList(Module):
    """A list of parameters (tensors become such) and other values."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(getattr(self, str(i)) for i in range(*index.indices(len(self))))
        return getattr(self, str(_position(index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Adds a value at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Adds values at the end; returns self."""
        if not isinstance(values, abc.Iterable) or isinstance(values, wick.Tensor):
            raise TypeError('ParameterList.extend should be called with an iterable, but got '
                            + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return '\n'.join('  ({}): {}'.format(i, _described(value, lambda each: each.dtype))
                         for i, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError('ParameterList should not be called.')


class ParameterDict(Module):
    """A dictionary of parameters (tensors become such) and other values by name, in order of insertion."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, self._name(key))

    def __setitem__(self, key, value):
        name = self._name(key)
        self._keys[key] = None
        setattr(self, name, _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._name(key))

    @staticmethod
    def _name(key):
        if not isinstance(key, str):
            raise TypeError('Index given to ParameterDict cannot be used as a key as it is not a string (type is '
                            "'{}'). Open an issue on github if you need non-string keys.".format(type(key).__name__))
        return key

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Pairs of name and value."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """The values."""
        return (self[key] for key in self._keys)

    def get(self, key, default=None):
        """The value under ``key``, or ``default``."""
        return self[key] if key in self else default

    def setdefault(self, key, default=None):
        """The value under ``key``, which becomes ``default`` when there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self):
        """Another dictionary of the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def clear(self):
        """Takes out all values."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Takes out the value under ``key`` and returns it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Takes out the last pair and returns it."""
        key = next(reversed(self))
        return key, self.pop(key)

    @classmethod
    def fromkeys(cls, keys, default=None):
        """A dictionary with ``default`` under every key."""
        return cls((key, default) for key in keys)

    def update(self, parameters):
        """Takes values from a mapping or from pairs of name and value."""
        pairs = _pairs(parameters, 'ParameterDict')
        if isinstance(parameters, abc.Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs)
        for key, value in pairs:
            self[key] = value

    def __or__(self, other):
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other):
        result = ParameterDict(other)
        result.update(self)
        return result

    def __ior__(self, other):
        self.update(other)
        return self

    def extra_repr(self):
        return '\n'.join('  ({}): {}'.format(key, _described(value, _typename)) for key, value in self.items())

    def __call__(self, *args, **kwargs):
        raise RuntimeError('ParameterDict should not be called.')
