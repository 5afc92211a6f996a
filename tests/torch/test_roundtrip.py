#!/usr/bin/env python3
"""Saves recorded archives with wick and reads them back: wick gives the same outputs, a second save the same bytes,
and, where PyTorch is installed, PyTorch loads what was saved and gives what it gives for the original.

usage: test_roundtrip.py [WICK [FOLDER...]]     the archives with recorded calls (NAME.pt, NAME.io.pt) in the folders
"""
import filecmp
import pathlib
import sys
import tempfile

import sides
from sides import agree, copied, torch, wick

FOLDERS = [sides.ROOT / "tests" / kind for kind in ("archive", "model", "program")]
CHECK = ("check", "--no-grads", "--scaled")
MADE_ELSEWHERE = {"gpu": ("--device-map", "*=cpu")}  # whose program makes tensors where no device is


def save_twice(program, model, first, second):
    """None when all is well, "" when wick does not run the original, else what is wrong."""
    io = model.with_suffix(".io.pt")
    check = CHECK + MADE_ELSEWHERE.get(model.stem, ())
    if wick(program, *check, model, io).returncode:
        return ""
    for step in (("save", model, "-o", first), (*check, first, io), ("save", first, "-o", second)):
        done = wick(program, *step)
        if done.returncode:
            return f"wick {step[0]}: {(done.stderr or done.stdout).strip()[-400:]}"
    return None if filecmp.cmp(first, second, shallow=False) else "the second save differs"


def compare_in_torch(files):
    """Programs that PyTorch can't run here, or not twice with the same result, say nothing about the saved one."""
    model, saved = files

    def outputs(path):
        module, results = torch.jit.load(str(path)), []
        for call in torch.load(model.with_suffix(".io.pt")).get("calls", []):
            torch.manual_seed(0)
            arguments, named = copied(call["args"]), copied(call["kwargs"])
            try:
                results.append((getattr(module, call["method"])(*arguments, **named), arguments, named))
            except Exception:
                results.append("raises")
        return results
    try:
        want, again = outputs(model), outputs(model)
    except Exception:
        return None
    for number, (a, b, got) in enumerate(zip(want, again, outputs(saved))):
        if a != "raises" and b != "raises" and agree(a, b) and (got == "raises" or not agree(got, a)):
            return f"PyTorch gets another result of call {number}"
    return None


def run(program, folders):
    if torch is None:
        print("PyTorch is not installed: only wick reads what it wrote")
    else:
        torch.set_num_threads(1)
    models = [m for f in folders for m in sorted(pathlib.Path(f).glob("*.pt")) if m.with_suffix(".io.pt").exists()]
    with tempfile.TemporaryDirectory() as scratch:
        again, problems = pathlib.Path(scratch) / "again", {}
        again.mkdir()
        saved = {m: pathlib.Path(scratch) / f"{i}.pt" for i, m in enumerate(models)}
        for model in models:
            problems[model] = save_twice(program, model, saved[model], again / saved[model].name)
        runs = [m for m in models if problems[m] != ""]
        if torch is not None:
            left = [m for m in runs if not problems[m]]
            for model, problem in zip(left, sides.each(compare_in_torch, [(m, saved[m]) for m in left])):
                problems[model] = problem
    failures = [m for m in runs if problems[m]]
    for model in failures:
        print(f"{model.name}: {problems[model]}")
    print(f"{len(runs) - len(failures)} of {len(runs)} archives keep their meaning"
          f" ({len(models) - len(runs)} do not run with wick)")
    return failures


def test_roundtrip():
    assert not run(sides.default_wick(), FOLDERS)


if __name__ == "__main__":
    wanted = sys.argv[2:] or FOLDERS
    sys.exit(1 if run(sys.argv[1] if len(sys.argv) > 1 else sides.default_wick(), wanted) else 0)
