#!/usr/bin/env python3
"""The graphs that tests/ir holds for the programs of TorchScript's design documents are PyTorch's, up to the numbers of
values; the code of printer.pt is.

usage: test_documents.py
"""
import cmath
import math
import pathlib
import re
import sys
import types
import typing

import sides
from sides import torch

FOLDER = sides.ROOT / "tests/ir"


def renumbered(text, module=""):
    """Without source positions; numbers of values, and those after their names, in order of appearance."""
    text = re.sub(r" # .*", "", text).replace(f"__torch__.{module}.", "__torch__.")
    numbers = {}
    return re.sub(r"%(\w+\.)?(\d+)\b", lambda m: f"%{m[1] or ''}{numbers.setdefault(m[0], len(numbers))}", text).strip()


def graphs(path):
    """{function: graph} of a program, whose classes PyTorch wants to see as Python's."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    vars(module).update({name: getattr(typing, name) for name in typing.__all__}, torch=torch, math=math, cmath=cmath, Tensor=torch.Tensor)
    text = path.read_text()
    exec(compile(text, str(path), "exec"), vars(module))
    return {name: renumbered(str(torch.jit.script(vars(module)[name]).graph), path.stem)
            for name in re.findall(r"^def (\w+)", text, re.M)}


def held(path):
    """{function: graph} of wick's text."""
    text = path.read_text()
    parts = re.split(r"^# (\S+)\n", text, flags=re.M)
    return {None: renumbered(text)} if len(parts) == 1 else dict(zip(parts[1::2], map(renumbered, parts[2::2])))


def run():
    differing = []
    for path in sorted(FOLDER.glob("*.py")):
        expected = held(path.with_suffix(".ir"))
        for name, graph in graphs(path).items():
            if graph != expected.get(name, expected.get(None)):
                differing.append(f"{path.name}: {name} in PyTorch:\n{graph}")
    module = torch.jit.load(str(FOLDER / "printer.pt"))
    if renumbered(str(module.graph)) != renumbered((FOLDER / "printer.ir").read_text()):
        differing.append(f"printer.pt in PyTorch:\n{renumbered(str(module.graph))}")
    code = (FOLDER / "printer.code").read_text()
    if module.code.strip() != code.strip():
        differing.append(f"printer.pt in PyTorch:\n{module.code}")
    for text in differing:
        print(text)
    print(f"{len(differing)} of the documents' graphs differ from PyTorch's")
    return differing


def test_documents():
    assert torch is None or not run()


if __name__ == "__main__":
    if torch is None:
        print("PyTorch is not installed: no graphs to compare with")
        sys.exit(77)
    sys.exit(1 if run() else 0)
