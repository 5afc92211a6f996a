"""Reading Python's source, under torch's names."""

import inspect

from ._frontend import FrontendError, NotSupportedError, UnsupportedNodeError  # noqa: F401


class FrontendTypeError(FrontendError):
    """A type that programs can't have."""


class Name:
    """A name in a tree."""

    def __init__(self, name):
        self.name = name


class Def:
    """The tree of a definition; str() is its text."""

    def __init__(self, tree, name):
        self._tree, self._name = tree, name

    def name(self):
        """What is defined."""
        return Name(self._name)

    def __str__(self):
        from .. import _C
        return _C.print_tree(self._tree)


def get_jit_def(fn, def_name, self_name=None, is_classmethod=False):
    """The tree of a function's source, named `def_name`."""
    from . import _program
    return Def(_program.Builder().function_tree(fn, def_name), def_name)


def get_default_args(fn):
    """The values that parameters have where they are not given, by name."""
    if fn is None:
        return {}
    return {name: one.default for name, one in inspect.signature(fn).parameters.items()
            if one.default is not inspect.Parameter.empty}
