#!/usr/bin/env python3
"""Records tests/program/legacy_kinds.io.pt: every kind of tensor object in a file of torch.save without zip, as calls of
legacy_kinds.py, whose results are ordinary tensors. And legacy_parts.io.pt, where storages are parts of another one, as
PyTorch wrote until 0.4 and reads."""
import collections
import io
import pathlib
import pickle

import torch

HERE = pathlib.Path(__file__).parent


def main():
    torch.manual_seed(0)
    dense = torch.tensor([[0.0, 2.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -4.0]])
    repeated = torch.sparse_coo_tensor([[0, 2, 0], [1, 3, 1]], [1.0, 2.0, 4.0], (3, 4))
    hybrid = torch.sparse_coo_tensor([[1, 0]], [[1.0, 2.0], [3.0, 4.0]], (2, 2))
    numbers = torch.randn(3, 4)
    scales, points = torch.tensor([0.5, 0.25, 0.125], dtype=torch.float64), torch.tensor([1, 0, -2])
    base = torch.arange(12, dtype=torch.int64)
    kinds = {
        "coo": dense.to_sparse(),
        "coo_repeated": repeated,
        "coo_hybrid": hybrid,
        "coo_empty": torch.zeros(2, 3).to_sparse(),
        "csr": dense.to_sparse_csr(),
        "per_tensor": torch.quantize_per_tensor(numbers, 0.125, 3, torch.quint8),
        "per_channel": torch.quantize_per_channel(numbers, scales, points, 0, torch.qint8),
        "per_channel_int": torch.quantize_per_channel(numbers, scales, points, 0, torch.qint32),
        "per_channel_strided": torch.quantize_per_channel(numbers.t().contiguous().t(), scales, points, 0, torch.qint8),
        "parameter": torch.nn.Parameter(numbers.clone()),
        "bool": dense > 0,
        "half": numbers.half(),
        "bfloat16": numbers.bfloat16(),
        "transposed": base.reshape(3, 4).t(),
        "part": base[4:9:2],
        "whole": base,
        "scalar": torch.tensor(7),
        "nothing": torch.empty(0, 3),
        "complex": torch.randn(3, dtype=torch.complex64),
        "meta": torch.empty(2, 3, 4, device="meta", dtype=torch.float64).transpose(0, 2),
    }
    plain = collections.OrderedDict()
    for name, tensor in kinds.items():
        if tensor.is_quantized:
            plain[name] = tensor.dequantize()
        elif tensor.layout != torch.strided:
            plain[name] = tensor.to_dense()
        elif tensor.is_meta:
            plain[name] = torch.tensor([*tensor.shape, *tensor.stride()])
        else:
            plain[name] = tensor.detach().clone()
    result = (dict(plain), base.clone().index_put((torch.tensor([4, 6, 8]),), torch.tensor(-1)))
    record("legacy_kinds", kinds, "part", result, lambda value, file: torch.save(
        value, file, _use_new_zipfile_serialization=False))

    first, second = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[4.0, 5.0], [6.0, 7.0]])
    parts = {"first": first, "row": second[1], "column": second[:, 0], "whole": second}
    result = ({name: tensor.clone() for name, tensor in parts.items()}, torch.tensor([[4.0, 5.0], [-1.0, -1.0]]))
    record("legacy_parts", parts, "row", result, save_parts)


def record(name, kinds, part, output, save):
    call = {"method": "forward", "args": (kinds, part), "kwargs": {}, "output": output}
    path = HERE / (name + ".io.pt")
    with open(path, "wb") as file:
        save({"wick_io": 1, "entry": "forward", "calls": [call]}, file)
    torch.load(path)


class PartPickler(pickle.Pickler):
    """Puts all storages, which have to be of floats, one after another into one."""

    def __init__(self, file, total):
        super().__init__(file, 2)
        self.total, self.parts, self.floats = total, {}, []

    def persistent_id(self, value):
        if not isinstance(value, torch.storage.TypedStorage):
            return None
        key = str(value.data_ptr())
        if key not in self.parts:
            self.parts[key] = (key, len(self.floats), len(value))
            self.floats += value.tolist()
        return ("storage", torch.FloatStorage, "root", "cpu", self.total, self.parts[key])


def save_parts(value, file):
    counting = PartPickler(io.BytesIO(), 0)
    counting.dump(value)
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for start in (0x1950a86a20f9469cfc6c, 1001, system):
        pickle.dump(start, file, protocol=2)
    PartPickler(file, len(counting.floats)).dump(value)
    pickle.dump(["root"], file, protocol=2)
    file.write(len(counting.floats).to_bytes(8, "little"))
    file.write(torch.tensor(counting.floats).numpy().tobytes())


main()
