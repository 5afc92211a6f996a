"""Writing safetensors: a header in JSON, then the elements of tensors as they lie in memory."""
import json

from . import _C

_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
           "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}


def write(tensors, path):
    """A dict of tensors as a file."""
    header, parts, at = {}, [], 0
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, _C.Tensor):
            raise TypeError("a safetensors file holds tensors by name, not %s: %s"
                            % (type(name).__name__, type(tensor).__name__))
        dtype = str(tensor.dtype).rpartition(".")[2]
        if dtype not in _DTYPES:
            raise TypeError("a safetensors file has no elements of %s: %s" % (tensor.dtype, name))
        plain = tensor.detach().contiguous().reshape(-1)
        data = bytes(memoryview(plain.view(_C.uint8))) if plain.numel() else b""
        header[name] = {"dtype": _DTYPES[dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.writelines(parts)
