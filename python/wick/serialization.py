"""save and load: files of torch.save, without running anything that is in them."""
import os
import re

from . import _C


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Saves tensors, numbers, texts, and lists, tuples and dicts of them, as torch.save does; torch.load reads it.
    Where the file's name ends with .safetensors a dict of tensors is saved as that."""
    if isinstance(obj, dict) and str(f).endswith(".safetensors"):
        from ._safetensors import write
        write(obj, f)
    elif _is_more_than_plain(obj):
        from ._pickles import save as save_more
        save_more(obj, f)
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


_PLAIN = (type(None), bool, int, float, complex, str, _C.Tensor, _C.device, _C.dtype, _C.layout, _C.memory_format)


def _is_more_than_plain(obj):
    """Whether there is a value in it that programs have not: it is written by Python then."""
    if isinstance(obj, _C.Tensor):
        return type(obj).__name__ == "Parameter"
    if type(obj) in (list, tuple, dict, _C.Size) or type(obj).__name__ == "OrderedDict":
        parts = list(obj) + (list(obj.values()) if isinstance(obj, dict) else [])
        return type(obj) is _C.Size or any(map(_is_more_than_plain, parts))
    if type(obj) is int:
        return not -(1 << 63) <= obj < 1 << 63
    if isinstance(obj, (_C.dtype, _C.layout, _C.memory_format)):
        return True
    return not isinstance(obj, _PLAIN) and not hasattr(obj, "_script_handle")


def _location(map_location):
    """The device that everything goes to; None: the processor."""
    if map_location is None or callable(map_location):
        return None  # there is one device for storages, whatever a function makes of it
    if isinstance(map_location, dict):
        wanted = {str(device) for device in map_location.values()}
        return _location(wanted.pop()) if len(wanted) == 1 else None
    device = _C.device(map_location)
    return None if device.type == "cpu" else device


def _device_map(map_location):
    """What the extension puts tensors on that are of devices of the file; None: such tensors are an error."""
    if map_location is None:
        return None
    if isinstance(map_location, dict):
        return ",".join("%s=cpu" % device for device in map_location)
    return "*=cpu"


def _moved(value, device):
    if isinstance(value, _C.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        for key in value:
            value[key] = _moved(value[key], device)
        return value
    if type(value) in (list, tuple):
        return type(value)(_moved(item, device) for item in value)
    return value


def load(f, map_location=None, pickle_module=None, *, weights_only=True, **pickle_load_args):
    """Reads a file of torch.save, .npy, .npz or safetensors. Nothing in it is executed, so it holds values alone:
    those of programs, sets, defaultdicts, NumPy's arrays and numbers, argparse's Namespaces. An archive of
    TorchScript is loaded with a warning."""
    device = _location(map_location)
    file = f.read() if hasattr(f, "read") else os.fspath(f)
    try:
        value = _read(file, _device_map(map_location))
    except RuntimeError as error:
        if "the archive has tensors on device" in str(error):
            raise RuntimeError("Attempting to deserialize object on a device that is not there: give map_location="
                               "'cpu' for tensors in the processor's memory (%s)" % error) from None
        if "TorchScript archive" in str(error):
            return _load_program(file, map_location)
        if "not among the names" not in str(error) and "exceeds 64 bits" not in str(error):
            raise
        from ._pickles import load as load_more
        value = load_more(file)
    return value if device is None else _moved(value, device)


# What the extension reads as something else: parameters as tensors, dtypes and layouts as numbers, sizes as lists.
_OF_PYTHON = re.compile(rb"_rebuild_parameter|c_codecs\nencode|ctorch\n"
                        rb"(Size|u?int|float|bfloat|complex|bool\n|q|strided|sparse|channels)")


def _read(file, device_map=None):
    from ._state_metadata import pickle_of, with_metadata
    if _OF_PYTHON.search(pickle_of(file)):
        from ._pickles import load as load_more
        return load_more(file)
    value = (_C._load_value_memory if isinstance(file, bytes) else _C._load_value)(file, device_map)
    return with_metadata(value, file)


def _load_program(file, map_location):
    import io
    import warnings
    from . import jit
    warnings.warn("'torch.load' received a zip file that looks like a TorchScript archive dispatching to "
                  "'torch.jit.load' (call 'torch.jit.load' directly to silence this warning)", UserWarning, 3)
    return jit.load(io.BytesIO(file) if isinstance(file, bytes) else file, map_location)
