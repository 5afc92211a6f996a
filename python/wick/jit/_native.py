"""Objects of classes that are written in C, wick's own and those that libraries bring: torch.classes."""

import functools
import io

from .. import _C
from . import _later, _types
from ._graph_types import ClassType

_PREFIX = "__torch__.torch.classes."


@functools.lru_cache(256)
def _program(what, types, is_method):
    """A function that calls a class, or a method of its first argument, with arguments of such types."""
    from ._script import ScriptFunction
    names = ["a%d" % i for i in range(len(types))]
    called = "a0.%s(%s)" % (what, ", ".join(names[1:])) if is_method else "%s(%s)" % (what, ", ".join(names))
    text = "def call(%s):\n    return %s\n" % (", ".join(map("%s: %s".__mod__, zip(names, types))), called)
    return ScriptFunction(_C.compile_text(text, "<torch.classes>"), "call")


def _call(what, arguments, is_method):
    types = tuple(_types.value_type_text(argument) for argument in arguments)
    return _program(what, types, is_method)(*arguments)


class NativeObject:
    """An object of such a class; its methods are called as programs call them."""

    _script_handle = None

    def __init__(self, kept):
        self.__dict__["_script_handle"] = kept

    def _type(self):
        return ClassType(self._script_handle.type())

    def __getattr__(self, name):
        if name.startswith("_") and name not in ("__getstate__", "__setstate__", "__len__", "__str__", "__repr__"):
            raise AttributeError(name)
        return lambda *arguments: _call(name, (self,) + arguments, True)

    def __getstate__(self):
        return _call("__getstate__", (self,), True)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self  # as copies of programs share what such objects hold

    def __reduce__(self):
        return _from_archive, (_archive_of(self),)

    def __repr__(self):
        return "<torch.ScriptObject object of %s>" % self._script_handle.type()


def _archive_of(held):
    """The bytes of an archive of a module that holds such an object: as archives keep it, by its __getstate__."""
    from .. import nn

    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.held = held

        def forward(self):
            return self.held
    data = io.BytesIO()
    _later.save_archive(_later.compile_module(Holder()), data)
    return data.getvalue()


def _from_archive(data):
    return _later.load_archive(io.BytesIO(data)).held


class ScriptClass:
    """A class of a library: called, it makes an object."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *arguments):
        try:
            return _call("torch.classes." + self._name, arguments, False)
        except RuntimeError as error:
            raise RuntimeError("%s can't be made: %s" % (self._name, error)) from None

    def qualified_name(self):
        """As programs name it."""
        return _PREFIX + self._name

    def __repr__(self):
        return "<torch.classes.%s>" % self._name
