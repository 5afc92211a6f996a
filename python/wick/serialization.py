"""save and load: files of torch.save, without running anything that is in them."""
import os

from . import _C


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Saves tensors, numbers, texts, and lists, tuples and dicts of them, as torch.save does; torch.load reads it.
    Where the file's name ends with .safetensors a dict of tensors is saved as that."""
    if isinstance(obj, dict) and str(f).endswith(".safetensors"):
        from ._safetensors import write
        write(obj, f)
    elif hasattr(f, "write"):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "archive")
            _C._save_value(_plain(obj), path)
            with open(path, "rb") as file:
                f.write(file.read())
    else:
        _C._save_value(_plain(obj), os.fspath(f))


def _plain(obj):
    """Subclasses of dicts as dicts; the value of a Parameter as a tensor."""
    if isinstance(obj, dict):
        return {key: _plain(value) for key, value in obj.items()}
    if type(obj) is list:
        return [_plain(value) for value in obj]
    if type(obj) is tuple:
        return tuple(_plain(value) for value in obj)
    return obj


def load(f, map_location=None, pickle_module=None, *, weights_only=True, **pickle_load_args):
    """Reads a file of torch.save, .npy, .npz or safetensors. Nothing in it is executed, so it holds values alone."""
    if map_location is not None and str(map_location) != "cpu":
        raise NotImplementedError("wick loads to the processor: map_location=%r" % (map_location,))
    from ._state_metadata import with_metadata
    if hasattr(f, "read"):
        data = f.read()
        return with_metadata(_C._load_value_memory(data), data)
    return with_metadata(_C._load_value(os.fspath(f)), f)
