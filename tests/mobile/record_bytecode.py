#!/usr/bin/env python3
"""Records tests/mobile/bytecode_tolist.pt and bytecode_upgraded.pt, archives of the lite interpreter without source: lists of
tensors, and operators that meant something else in the archive's version."""
import io
import pathlib
import zipfile
from typing import List

import torch
from torch import Tensor
from torch.jit.mobile import _load_for_lite_interpreter

FOLDER = pathlib.Path(__file__).parent


class ToList(torch.nn.Module):
    def forward(self, x: Tensor):
        a: List[int] = x.tolist()
        b: List[List[float]] = torch.stack([x, x + 1]).float().tolist()
        c: List[bool] = (x > 1).tolist()
        d: complex = (x.sum() * 1j).tolist()
        return a, b, c, d, len(a)


class Upgraded(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor, n: int):
        z = x.clone()
        z.div_(y)
        return x / y, x / n, x.float() / y, x / 2.5, z, 7 // n


def record(module, name, version, *arguments):
    whole = io.BytesIO(module._save_to_buffer_for_lite_interpreter())
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(FOLDER / f"{name}.pt", "w") as new:
        for item in old.namelist():
            if "/code/" not in item:
                new.writestr(item, f"{version}\n".encode() if version and item.endswith("/version") else old.read(item))
    loaded, calls = _load_for_lite_interpreter(str(FOLDER / f"{name}.pt")), []
    for args in arguments:
        calls.append({"method": "forward", "args": args, "kwargs": {}, "output": loaded(*(a.clone() if isinstance(a, Tensor) else a for a in args))})
    torch.save({"wick_io": 1, "entry": "forward", "calls": calls, "raising_calls": []}, FOLDER / f"{name}.io.pt")


record(torch.jit.script(ToList()), "bytecode_tolist", None, (torch.arange(3),), (torch.tensor([4, -1]),))
record(torch.jit.script(Upgraded()), "bytecode_upgraded", 3,
       (torch.tensor([7, -7, 4]), torch.tensor([2, 2, -3]), 3), (torch.tensor([5]), torch.tensor([4]), -2))
