#!/usr/bin/env python3
"""Saves every recorded archive with wick and reads it back: wick gives the same outputs, a second save the same bytes,
and, where PyTorch is installed, PyTorch loads it and gives the recorded outputs too.

usage: test_roundtrip.py WICK FOLDER...
"""
import filecmp
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
except ImportError:
    torch = None


def wick(program, *words):
    return subprocess.run([program, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def agree(got, want):
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor) or got.shape != want.shape:
            return False
        if not want.is_floating_point() and not want.is_complex():
            return torch.equal(got, want)
        return torch.allclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
    if isinstance(want, (list, tuple)):
        return len(got) == len(want) and all(agree(g, w) for g, w in zip(got, want))
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(agree(got[k], want[k]) for k in want)
    return got == want or got != got and want != want or type(got).__name__ not in ("int", "float", "bool", "str")


def check_in_torch(saved, model, io):
    """Programs whose original disagrees with its record here (randomness, builds) say nothing about the saved one."""
    for call in torch.load(io).get("calls", []):
        def run(path):
            torch.manual_seed(0)
            module = torch.jit.load(str(path))
            return getattr(module, call["method"])(*torch_copy(call["args"]), **torch_copy(call["kwargs"]))
        try:
            want = run(model)
        except Exception:
            continue
        if not agree(run(saved), want):
            return "PyTorch gets another result from " + call["method"]
    return None


def torch_copy(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {k: torch_copy(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(torch_copy(v) for v in value)
    return value


def check(program, model, folder):
    io = model.with_suffix(".io.pt")
    first, second = folder / "first.pt", folder / "second.pt"
    if wick(program, "check", "--no-grads", "--scaled", model, io).returncode:
        return None
    for step in (("save", model, "-o", first), ("check", "--no-grads", "--scaled", first, io),
                 ("save", first, "-o", second)):
        done = wick(program, *step)
        if done.returncode:
            return f"{step[0]}: {done.stderr.strip()[-400:]}"
    if not filecmp.cmp(first, second, shallow=False):
        return "the second save differs"
    if torch is not None:
        try:
            return check_in_torch(first, model, io)
        except Exception as error:
            return f"PyTorch: {str(error).strip()[-400:]}"
    return None


def main():
    warnings.filterwarnings("ignore")
    program, folders = sys.argv[1], sys.argv[2:]
    if torch is None:
        print("PyTorch is not installed: only wick reads what it wrote")
    models = [m for f in folders for m in sorted(pathlib.Path(f).glob("*.pt")) if not m.name.endswith(".io.pt")]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            problem = check(program, model, pathlib.Path(folder))
            if problem:
                failures += 1
                print(f"{model.name}: {problem}")
    print(f"{len(models) - failures} of {len(models)} archives keep their meaning")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
