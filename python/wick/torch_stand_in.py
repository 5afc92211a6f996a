"""wick in the place of torch: after install(), `import torch` gives wick, `torch.jit` wick.jit, and so on.

    python -m wick.torch_stand_in program.py ARGUMENT...
    python -m wick.torch_stand_in -m module ARGUMENT...

runs a program of torch so. What wick has not raises an error that names it where the program asks for it.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys


# Extensions that link PyTorch's own library and that their packages import for what they register. wick's libraries
# have those operators; a module without names stands for the extension.
_EXTENSIONS = ("torchaudio._torchaudio",)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch and its modules in wick."""

    def find_spec(self, name, path=None, target=None):
        """A spec for names of torch's, None for others."""
        if not _is_torch(name) and name not in _EXTENSIONS:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        """The default: exec_module puts wick's in its place."""
        return None

    def exec_module(self, module):
        """Puts wick's module in the place of the one that is being imported."""
        name = module.__spec__.name
        if _is_torch(name):
            sys.modules[name] = _wicks(name)


def _wicks(name):
    own = "wick" + name[len("torch"):]
    try:
        return importlib.import_module(own)
    except ModuleNotFoundError as error:
        if error.name is None or not own.startswith(error.name):
            raise
        outer, _, last = own.rpartition(".")
        found = getattr(sys.modules.get(outer), last, None) if outer else None
        if found is not None:
            return found
        raise ModuleNotFoundError("wick, which stands in for torch, has no module '%s'" % name, name=name) from None


def _is_torch(name):
    return name == "torch" or name.startswith("torch.")


def install():
    """From now on `import torch` gives wick. Refused where torch itself was imported."""
    known = sys.modules.get("torch")
    if known is not None and getattr(known, "__name__", "") != "wick":
        raise RuntimeError("torch was imported already: install() comes before")
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    return importlib.import_module("torch")


def uninstall():
    """From now on `import torch` gives torch, where that is installed."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for name in [name for name in sys.modules if _is_torch(name)]:
        if getattr(sys.modules[name], "__name__", "").startswith("wick"):
            del sys.modules[name]


def main(arguments):
    """Runs a program, or with -m a module."""
    import os
    import runpy
    if not arguments or arguments == ["-m"]:
        print("usage: python -m wick.torch_stand_in (program.py | -m module) [ARGUMENT...]", file=sys.stderr)
        return 2
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
