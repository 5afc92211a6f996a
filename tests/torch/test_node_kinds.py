#!/usr/bin/env python3
"""Compiles recorded sources with PyTorch and with wick and compares the kinds of their graphs' nodes, in order: at
least 90 % of the programs must agree.

usage: test_node_kinds.py [--all] [WICK [FOLDER...]]     --all names every program that differs
"""
import cmath  # noqa: F401 (in scope of programs)
import math  # noqa: F401
import pathlib
import re
import sys
import warnings  # noqa: F401
from typing import *  # noqa: F401,F403

import sides
from sides import torch, wick

LEAST = 0.9
NODE = re.compile(r"^\s*(?:%.*)?= (\w+::\w+)[\[(]", re.M)


def kinds(graph):
    return NODE.findall(graph)


def graphs_of_torch(path):
    """{function: kinds}; None when PyTorch does not compile the program."""
    globals().update(torch=torch, Tensor=torch.Tensor)
    try:
        text = pathlib.Path(path).read_text()
        unit = torch.jit.CompilationUnit(text, _frames_up=0)
        return {name: kinds(str(getattr(unit, name).graph)) for name in re.findall(r"^def (\w+)", text, re.M)}
    except Exception:
        return None


def graphs_of_wick(program, path):
    done = wick(program, "dump", path)
    if done.returncode:
        return done.stderr.strip()
    parts = re.split(r"^# (\S+)\n", done.stdout, flags=re.M)
    if len(parts) == 1:
        return {None: kinds(parts[0])}
    return dict(zip(parts[1::2], map(kinds, parts[2::2])))


def difference(want, got):
    """None when they agree."""
    if isinstance(got, str):
        return "wick: " + got.splitlines()[0]
    if None in got:
        got = {name: got[None] for name in want}
    for name in want:
        a, b = want[name], got.get(name, [])
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            return f"{name}, node {at}: {' '.join(a[at:at + 3])} is {' '.join(b[at:at + 3])} with wick"
    return None


def run(program, folders, tell=False):
    if torch is None:
        print("PyTorch is not installed: no graphs to compare with")
        return None
    programs = [p for f in folders for p in sorted(pathlib.Path(f).glob("*.py"))]
    compared, differing = 0, []
    for path, want in zip(programs, sides.each(graphs_of_torch, programs)):
        if not isinstance(want, dict):
            continue
        compared += 1
        problem = difference(want, graphs_of_wick(program, path))
        if problem:
            differing.append(f"{path.stem}: {problem}")
    for line in differing if tell else []:
        print(line)
    print(f"{compared - len(differing)} of {compared} programs have the same kinds of nodes in order")
    return (compared - len(differing)) / max(compared, 1)


def default_folders():
    recorded = sides.CASES / "source"
    return [recorded if recorded.is_dir() else sides.ROOT / "tests/program"]


def test_node_kinds():
    share = run(sides.default_wick(), default_folders())
    assert share is None or share >= LEAST


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if w != "--all"]
    share = run(words[0] if words else sides.default_wick(), words[1:] or default_folders(), "--all" in sys.argv)
    sys.exit(77 if share is None else share < LEAST)
