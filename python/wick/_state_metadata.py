"""Versions of modules in files of torch.save: state dicts have them as an attribute, beside the values."""
import collections
import io
import pickle
import zipfile


class _Outline(dict):
    """A dict of a file without its tensors, and the attributes that it was given."""

    attributes = ()

    def __setstate__(self, state):
        self.attributes = state if isinstance(state, dict) else ()


class _OutlineReader(pickle.Unpickler):
    """Reads dicts and texts alone: everything that a file names is one of them or nothing."""

    def find_class(self, module, name):
        return _Outline if (module, name) == ("collections", "OrderedDict") else lambda *args: None

    def persistent_load(self, pid):
        return None


def pickle_of(file):
    """The bytes of a file's pickle, by its path or its own bytes; b"" where it is no file of torch.save, or an
    archive of TorchScript."""
    file = io.BytesIO(file) if isinstance(file, bytes) else file
    if not zipfile.is_zipfile(file):
        return b""
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        name = next((name for name in names if name.endswith("/data.pkl")), None)
        if name is None or any(other.endswith("/constants.pkl") for other in names):
            return b""
        return archive.read(name)


def with_metadata(value, file):
    """What was loaded, with `_metadata` where the file's dicts have it. file: its path, or its bytes."""
    data = pickle_of(file) if isinstance(value, dict) else b""
    if b"_metadata" not in data:
        return value
    try:
        return _attach(value, _OutlineReader(io.BytesIO(data)).load())
    except Exception:  # noqa: BLE001, the values are right, whatever else a file holds
        return value


def _attach(value, outline):
    if not isinstance(value, dict) or not isinstance(outline, dict):
        return value
    metadata = getattr(outline, "attributes", ())
    if "_metadata" in metadata:
        value = collections.OrderedDict(value)
        value._metadata = collections.OrderedDict(metadata["_metadata"])
    for key in list(value):
        if key in outline:
            value[key] = _attach(value[key], outline[key])
    return value
