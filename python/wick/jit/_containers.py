"""ScriptList and ScriptDict: lists and dicts that Python and programs hold together. `script` of a list or dict."""

from .. import _C


class _Container:
    """A value of a program; what is asked of it, operators answer."""

    _script_handle = None

    def __init__(self, items):
        self._script_handle = _C.Kept(_C, items)

    def _call(self, name, *arguments):
        return self._script_handle.call(name, *arguments)

    def _typed(self, name, *arguments):
        """The same with TypeError for what is of another type than the container's."""
        try:
            return self._call(name, *arguments)
        except (IndexError, KeyError, ValueError):
            raise
        except (RuntimeError, TypeError) as error:
            raise TypeError(str(error)) from None

    def __len__(self):
        return len(self._script_handle)

    def __bool__(self):
        return len(self) > 0

    def __repr__(self):
        return self._script_handle.print()

    @property
    def _type(self):
        return self._script_handle.type()


class ScriptList(_Container):
    """A list of one type of items. What a program or Python changes, the other sees."""

    def __init__(self, items):
        items = list(items)
        _check_types(items, "list: List")
        super().__init__(items)

    def __iter__(self):
        return iter(self._script_handle.get())

    def __contains__(self, item):
        return bool(self._typed("aten::__contains__", item))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return ScriptList(self._script_handle.get()[index])
        return self._call("aten::__getitem__", _index(index))

    def __setitem__(self, index, item):
        if not isinstance(index, slice):
            self._typed("aten::_set_item", _index(index), item)
            return
        places, items = range(len(self))[index], list(item)
        if len(places) != len(items):
            raise RuntimeError("Left and right hand size of slice assignment have different sizes")
        for place, each in zip(places, items):
            self._typed("aten::_set_item", place, each)

    def __delitem__(self, index):
        if isinstance(index, slice):
            raise TypeError("__delitem__(): slices of a ScriptList can't be deleted")
        self._call("aten::Delete", _index(index))

    def append(self, item):
        """Adds an item at the end; TypeError for one of another type."""
        self._typed("aten::append", item)

    def extend(self, items):
        """Adds the items of a ScriptList, or of anything that has items."""
        items = list(items)
        if items:
            self._typed("aten::extend", items)

    def insert(self, index, item):
        """Puts an item before the one at the index."""
        self._typed("aten::insert", _index(index), item)

    def pop(self, index=-1):
        """Takes the last item out, or the one at the index."""
        if not len(self):
            raise IndexError("pop from empty list")
        return self._call("aten::pop", _index(index))

    def remove(self, item):
        """Takes the first item out that equals it; ValueError where none does."""
        if self.count(item) == 0:
            raise ValueError
        self._typed("aten::remove", item)

    def count(self, item):
        """How many items equal it."""
        return self._typed("aten::count", item)

    def clear(self):
        """Takes all items out."""
        self._call("aten::clear")


class ScriptDict(_Container):
    """A dict of one type of keys and one of values. What a program or Python changes, the other sees."""

    def __init__(self, items):
        items = dict(items)
        _check_types(items.keys(), "dictionary: Dictionary")
        _check_types(items.values(), "dictionary: Dictionary")
        super().__init__(items)

    def __iter__(self):
        return iter(self._script_handle.get())

    def keys(self):
        """An iterator over its keys."""
        return iter(self)

    def items(self):
        """An iterator over pairs of keys and values."""
        return iter(self._script_handle.get().items())

    def _of_key(self, name, key, *value):
        try:
            return self._call(name, key, *value)
        except RuntimeError:
            raise KeyError("") from None

    def __contains__(self, key):
        return bool(self._of_key("aten::__contains__", key))

    def __getitem__(self, key):
        return self._of_key("aten::__getitem__", key)

    def __setitem__(self, key, value):
        self._typed("aten::_set_item", key, value)

    def __delitem__(self, key):
        if not self._typed("aten::__contains__", key):
            raise KeyError("")
        self._call("aten::Delete", key)


for _class in (ScriptList, ScriptDict):
    _class.__module__ = "torch._C"
del _class


def _index(index):
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        raise TypeError("a ScriptList is indexed by ints or slices, not %s" % type(index).__name__)
    return index.__index__()


def _check_types(items, what):
    names = list(dict.fromkeys(_type_name(item) for item in items))
    if len(names) > 1 and "NoneType" not in names:
        raise _C.JITException("Unable to infer type of %s inputs to traced functions must have consistent%s type. "
                              "Found %s and %s" % (what, " element" if what[0] == "l" else "", names[0], names[1]))


def _type_name(item):
    return "Tensor" if isinstance(item, _C.Tensor) else type(item).__name__


def script_container(items):
    """The ScriptList of a list, the ScriptDict of a dict."""
    return ScriptDict(items) if isinstance(items, dict) else ScriptList(items)
