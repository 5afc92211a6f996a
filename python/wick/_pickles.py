"""Files of torch.save whose values are more than programs have: sets, defaultdicts, NumPy's arrays, Namespaces.

Reading makes values of the classes that are listed here and calls nothing else that a file names; so does writing.
"""

import argparse
import collections
import io
import pickle
import re
import zipfile

from . import _C
from ._functions import frombuffer

# storage class of torch -> dtype
_STORAGES = {
    "FloatStorage": _C.float32, "DoubleStorage": _C.float64, "HalfStorage": _C.float16,
        "BFloat16Storage": _C.bfloat16,
    "LongStorage": _C.int64, "IntStorage": _C.int32, "ShortStorage": _C.int16, "CharStorage": _C.int8,
    "ByteStorage": _C.uint8, "BoolStorage": _C.bool, "ComplexFloatStorage": _C.complex64,
    "ComplexDoubleStorage": _C.complex128,
}
_NAMES = {dtype: name for name, dtype in _STORAGES.items()}
_OF_BUILTINS = {kind.__name__: kind for kind in (set, frozenset, complex, bytearray, slice, range, list, dict, tuple,
                                                 int, float, bool, str, bytes, object)}
_OF_BUILTINS.update(xrange=range, Ellipsis=Ellipsis)  # as pickles of protocol 2 name them
_OF_COLLECTIONS = {kind.__name__: kind for kind in (collections.OrderedDict, collections.defaultdict,
                                                    collections.deque, collections.Counter)}


class _Storage:
    """The bytes of a storage, as a tensor of one dimension."""

    def __init__(self, flat):
        self.flat = flat


def _rebuild_tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    made = storage.flat.as_strided(tuple(size), tuple(stride), offset)
    return made.requires_grad_() if requires_grad else made


def _rebuild_tensor_of_bytes(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    if len(storage.flat) == 0:
        return _C.tensor([], dtype=dtype).as_strided(tuple(size), tuple(stride))
    return _rebuild_tensor(_Storage(storage.flat.view(dtype)), offset, size, stride, requires_grad)


def _same(value, text=None):
    return value


def _rebuild_parameter(data, requires_grad, hooks):
    from .nn.parameter import Parameter
    return Parameter(data, requires_grad)


def _encode(text, encoding):
    if encoding != "latin1":
        raise pickle.UnpicklingError("_codecs.encode to %s" % encoding)
    return text.encode(encoding)


def _numpy(module, name):
    import numpy
    if name in ("ndarray", "dtype"):
        return getattr(numpy, name)
    if module.endswith("multiarray") and name in ("_reconstruct", "scalar"):
        return getattr(numpy.core.multiarray, name)
    return None


class _Reader(pickle.Unpickler):
    def __init__(self, data, archive, folder):
        super().__init__(io.BytesIO(data), encoding="utf-8")
        self._archive, self._folder, self._storages = archive, folder, {}

    def find_class(self, module, name):
        found = None
        if module in ("builtins", "__builtin__"):
            found = _OF_BUILTINS.get(name)
        elif module == "collections":
            found = _OF_COLLECTIONS.get(name)
        elif (module, name) == ("argparse", "Namespace"):
            found = argparse.Namespace
        elif (module, name) == ("_codecs", "encode"):
            found = _encode
        elif module.split(".")[0] == "numpy":
            found = _numpy(module, name)
        elif module == "torch._utils":
            found = {"_rebuild_tensor_v2": _rebuild_tensor, "_rebuild_tensor_v3": _rebuild_tensor_of_bytes,
                     "_rebuild_parameter": _rebuild_parameter}.get(name)
        elif module == "torch.jit._pickle":  # values of programs: with the types of containers
            found = _same if name == "restore_type_tag" or re.fullmatch("build_[a-z]+list", name) else None
        elif (module, name) == ("torch.storage", "UntypedStorage"):
            found = _C.uint8
        elif module == "torch":
            found = _STORAGES.get(name, getattr(_C, name, None) if name in _C_NAMES else None)
        if found is None:
            raise pickle.UnpicklingError("the pickle names %s.%s, which is not among the names that stand for data"
                                         % (module, name))
        return found

    def persistent_load(self, pid):
        kind, dtype, key, _, count = pid
        if kind != "storage":
            raise pickle.UnpicklingError("a persistent %r" % (kind,))
        if key not in self._storages:
            data = bytearray(self._archive.read("%s/data/%s" % (self._folder, key)))
            self._storages[key] = _Storage(frombuffer(data, dtype=dtype) if data else _C.tensor([], dtype=dtype))
        return self._storages[key]


_C_NAMES = frozenset(name for name, value in vars(_C).items()
                     if isinstance(value, (_C.dtype, _C.layout, _C.memory_format))) | {"device", "Size"}


def load(file):
    """The value of a file, its path or its bytes."""
    with zipfile.ZipFile(io.BytesIO(file) if isinstance(file, bytes) else file) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        return _Reader(archive.read(name), archive, name[:-len("/data.pkl")]).load()


# ---- writing ----

def _may_be_written(kind):
    return (kind in (type(None), type(Ellipsis), _Global, _Call, _StorageOut, argparse.Namespace, type,
                     type(_rebuild_tensor),
                         type(len)) or kind in _OF_BUILTINS.values() or kind in _OF_COLLECTIONS.values()
            or kind.__module__.split(".")[0] == "numpy")


class _Global:
    """A name of torch's in a pickle."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class _Call:
    """What a pickle calls a name of torch's with."""

    def __init__(self, module, name, arguments):
        self.function, self.arguments = _Global(module, name), arguments


class _Writer(pickle._Pickler):
    """Python's own pickler, which can write names of modules that are not there."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file, value):
        super().__init__(file, 2)
        self.storages, self._calls = {}, {}
        self._ends = {}  # base address of a storage -> how many elements of it are seen
        _find_ends(value, self._ends, set())

    def persistent_id(self, obj):
        return obj.pid if isinstance(obj, _StorageOut) else None

    def _of_global(self, obj):
        self.write(pickle.GLOBAL + ("%s\n%s\n" % (obj.module, obj.name)).encode())
        self.memoize(obj)
    dispatch[_Global] = _of_global

    def _of_call(self, obj):
        self.save_reduce(obj.function, obj.arguments, obj=obj)
    dispatch[_Call] = _of_call

    def save_reduce(self, func, args, *rest, obj=None, **words):
        if isinstance(func, _Global):
            self.save(func)
            self.save(args)
            self.write(pickle.REDUCE)
            if obj is not None:
                self.memoize(obj)
        else:
            super().save_reduce(func, args, *rest, obj=obj, **words)

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, _C.Tensor):
            obj = self._tensor(obj)
        elif isinstance(obj, (_C.dtype, _C.layout, _C.memory_format)):
            obj = _Global("torch", str(obj)[len("torch."):])
        elif isinstance(obj, _C.device):
            obj = _Call("torch", "device", (obj.type,) if obj.index is None else (obj.type, obj.index))
        elif type(obj) is _C.Size:
            obj = _Call("torch", "Size", (tuple(obj),))
        elif not _may_be_written(type(obj)):
            raise TypeError("%r can't be saved: files hold values, not objects of classes. Save a module's "
                            "state_dict()" % type(obj))
        super().save(obj, save_persistent_id)

    def _tensor(self, tensor):
        known = self._calls.get(id(tensor))
        if known is not None:
            return known[1]
        plain = tensor.detach()
        if plain.layout is not _C.strided or plain.is_quantized or plain.dtype not in _NAMES:
            raise TypeError("a tensor of %s, %s can't be saved beside such values" % (plain.dtype, plain.layout))
        is_parameter = type(tensor).__name__ == "Parameter"
        made = _Call("torch._utils", "_rebuild_tensor_v2", (
            self._storage(plain), plain.storage_offset(), tuple(plain.shape), tuple(plain.stride()),
            tensor.requires_grad and not is_parameter, _Call("collections", "OrderedDict", ())))
        if is_parameter:
            made = _Call("torch._utils", "_rebuild_parameter", (
                made, tensor.requires_grad, _Call("collections", "OrderedDict", ())))
        self._calls[id(tensor)] = tensor, made
        return made

    def _storage(self, plain):
        base = _base(plain)
        if base not in self.storages:
            _find_ends(plain, self._ends, set())
            self.storages[base] = _StorageOut(str(len(self.storages)), plain, self._ends[base])
        return self.storages[base]


def _base(tensor):
    return tensor.data_ptr() - tensor.storage_offset() * tensor.element_size(), tensor.dtype


def _find_ends(value, ends, seen):
    """Notes how far tensors within a value reach in their storages."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, _C.Tensor):
        if value.layout is _C.strided and not value.is_quantized:
            reach = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride()))
            end = value.storage_offset() + reach + 1 if value.numel() else 0
            ends[_base(value)] = max(ends.get(_base(value), 0), end)
        return
    parts = list(vars(value).values()) if isinstance(value, argparse.Namespace) else []
    if isinstance(value, dict):
        parts += list(value) + list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        parts += list(value)
    for part in parts:
        _find_ends(part, ends, seen)


class _StorageOut:
    """A storage that tensors share."""

    def __init__(self, key, plain, count):
        self.flat = plain.as_strided((count,), (1,), 0)
        self.pid = ("storage", _Global("torch", _NAMES[plain.dtype]), key, "cpu", count)


def save(value, file):
    """Writes what `load` reads, and torch.load, to a path or a file that is open for bytes."""
    pickled = io.BytesIO()
    writer = _Writer(pickled, value)
    writer.dump(value)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", pickled.getvalue())
        for storage in writer.storages.values():
            archive.writestr("archive/data/" + storage.pid[2], bytes(storage.flat.view(_C.uint8).tolist()))
        archive.writestr("archive/version", "3\n")
