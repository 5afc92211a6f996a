"""``ops.aten.add`` is the operator over all overloads, ``ops.aten.add.Tensor`` one of them; ``ops.load_library``
opens a library of operators."""
import os

from . import _C


def _overload_members():
    """What overloads, objects of C, have by torch's names besides."""
    def schema(self):
        """Its schema as an object."""
        from .jit._function_schema import parse_schema
        return parse_schema(self.schemas[0])

    def head(self):
        name, _, overload = self.schemas[0].partition("(")[0].partition(".")
        return name, overload or "default"

    def name(self):
        """"aten::add.Tensor"."""
        qualified, overload = head(self)
        return qualified if overload == "default" else "%s.%s" % (qualified, overload)

    def packet(self):
        """The operator over all overloads."""
        namespace, _, inner = head(self)[0].partition("::")
        return getattr(getattr(ops, namespace), inner)
    kind = type(_C.whole_operator("aten::add"))
    kind._schema, kind.name, kind.overloadpacket = property(schema), name, property(packet)
    kind.namespace = property(lambda self: head(self)[0].partition("::")[0])
    kind._overloadname = property(lambda self: head(self)[1])


class _Packet:
    """An operator, and its overloads as attributes; ``default`` is the one without a name."""

    def __init__(self, name):
        self._operator = _C.whole_operator(name)
        self._name = name
        self.__name__ = name.split("::")[1]
        self.__doc__ = self._operator.__doc__

    def __call__(self, *args, **kwargs):
        return self._operator(*args, **kwargs)

    def overloads(self):
        """The names of its overloads."""
        heads = [schema[len(self._name):schema.index("(")] for schema in self._operator.schemas]
        return [head[1:] or "default" for head in heads]

    def __getattr__(self, name):
        if name.startswith("__") or name not in self.overloads():
            raise AttributeError("The underlying op of '%s' has no overload name '%s'"
                                 % (self._name.replace("::", "."), name))
        found = _C.operator("%s.%s" % (self._name, name))
        setattr(self, name, found)
        return found

    def __dir__(self):
        return self.overloads()

    def __repr__(self):
        return "<OpOverloadPacket(op='%s')>" % self._name.replace("::", ".")


class _Namespace:
    """The operators of a namespace."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        try:
            found = _Packet("%s::%s" % (self._name, name))
        except AttributeError:
            raise AttributeError("'_OpNamespace' '%s' object has no attribute '%s'" % (self._name, name)) from None
        setattr(self, name, found)
        return found

    def __dir__(self):
        begin = self._name + "::"
        return sorted(name[len(begin):] for name in _C.operator_names() if name.startswith(begin))


class _Ops:
    """All namespaces of operators."""

    def __init__(self):
        self.loaded_libraries = set()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = _Namespace(name)
        setattr(self, name, found)
        return found

    def load_library(self, path):
        """Opens a library that registers operators: a file, or a name that wick finds. For a file that was built for
        PyTorch, as `torchvision/_C.so`, wick's own library of the package's name is opened."""
        path = os.fspath(path)
        if os.path.isfile(path) and not _registers_with_wick(path):
            if not _open_own(path):
                raise OSError("%s: no library of operators for wick" % path)
        else:
            try:
                _C.load_library(path)
            except RuntimeError as error:
                raise OSError(str(error)) from None
        self.loaded_libraries.add(path)


def _registers_with_wick(path):
    """Whether a file names the function that wick calls; what was built for PyTorch would bring that along."""
    with open(path, "rb") as file:
        return b"wick_library_init" in file.read()


def _open_own(path):
    """Whether wick has a library of the package that the file belongs to, and that opens."""
    package = os.path.basename(os.path.dirname(path))
    if package == "lib":
        package = os.path.basename(os.path.dirname(os.path.dirname(path)))
    if not package:
        return False
    try:
        _C.load_library(package)
    except RuntimeError:
        return False
    return True


ops = _Ops()
_overload_members()
