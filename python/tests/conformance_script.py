"""Scripts the functions of recorded cases and compares what they give.

usage: conformance_script.py [--failures N] [--every N] [--least PERCENT] FOLDER...

A case is NAME.py with definitions and NAME.io.pt with recorded calls beside it, as `wick check` takes them. The text
is run as Python, its function goes through wick.jit.script, and is called with the recorded arguments. Prints how
many cases agree, and the first reasons why others do not. Texts that are no Python are counted apart.
"""

import __future__

import argparse
import collections
import glob
import math
import os
import random
import typing

import wick
import wick.jit
from wick import _C
from wick.jit import _frontend


def names():
    """What the texts take for granted."""
    taken = ("Any", "Dict", "List", "NamedTuple", "Optional", "Tuple", "Union")
    table = {name: getattr(typing, name) for name in taken}
    return {**table, "torch": wick, "wick": wick, "math": math, "random": random, "Tensor": wick.Tensor,
            "__name__": "recorded"}


def defined(path):
    """The functions of a text by name."""
    with open(path) as file:
        text = file.read()
    _frontend.register_source(path, text)
    table = names()
    exec(compile(text, path, "exec", __future__.annotations.compiler_flag, True), table)
    return table


def numbers(tensor):
    """The elements of a tensor, flat, as numbers."""
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout != wick.strided:
        tensor = tensor.to_dense()
    return (tensor.resolve_conj().resolve_neg() if tensor.is_complex() else tensor).flatten().tolist()


def near(got, want, coarse=False):
    """Whether two numbers agree as `wick check` has it."""
    if isinstance(want, complex) or isinstance(got, complex):
        got, want = complex(got), complex(want)
        return near(got.real, want.real, coarse) and near(got.imag, want.imag, coarse)
    if got == want or got != got and want != want:
        return True
    if not isinstance(want, float) and not isinstance(got, float):
        return False
    rtol, atol = (1e-2, 1e-3) if coarse else (1e-4, 1e-5)
    return abs(got - want) <= atol + rtol * abs(want)


def difference(got, want, where="result"):
    """What is not the same; None: all is."""
    if isinstance(want, wick.Tensor):
        if not isinstance(got, wick.Tensor):
            return "%s: %s in the place of a tensor" % (where, type(got).__name__)
        if got.dtype != want.dtype or tuple(got.shape) != tuple(want.shape):
            return "%s: %s%s in the place of %s%s" % (where, got.dtype, list(got.shape), want.dtype, list(want.shape))
        coarse = want.dtype in (wick.float16, wick.bfloat16)
        wrong = [i for i, (g, w) in enumerate(zip(numbers(got), numbers(want))) if not near(g, w, coarse)]
        return "%s: %d elements differ" % (where, len(wrong)) if wrong else None
    if isinstance(want, (tuple, list)):
        if isinstance(got, tuple) != isinstance(want, tuple) or not isinstance(got, (tuple, list)) \
                or len(got) != len(want):
            return "%s: %.80r in the place of %.80r" % (where, got, want)
        for i, (g, w) in enumerate(zip(got, want)):
            found = difference(g, w, "%s[%d]" % (where, i))
            if found:
                return found
        return None
    if isinstance(want, dict):
        if not isinstance(got, dict) or list(got) != list(want):
            return "%s: other keys" % where
        for key in want:
            found = difference(got[key], want[key], "%s[%r]" % (where, key))
            if found:
                return found
        return None
    if isinstance(want, (int, float, complex)) and isinstance(got, (int, float, complex)) and type(got) is type(want):
        return None if near(got, want) else "%s: %r in the place of %r" % (where, got, want)
    return None if got == want else "%s: %.80r in the place of %.80r" % (where, got, want)


def decoded(value):
    """Devices and dtypes are recorded as dicts."""
    if isinstance(value, dict):
        if set(value) == {"__device__"}:
            return wick.device(value["__device__"])
        if set(value) == {"__dtype__"}:
            return getattr(wick, value["__dtype__"])
        return {key: decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return tuple(map(decoded, value)) if isinstance(value, tuple) else value


def records(value):
    """Tensors whose gradients were recorded require one."""
    if isinstance(value, wick.Tensor) and (value.is_floating_point() or value.is_complex()):
        return value.requires_grad_()
    return value


def is_rejected(table):
    """Whether a function of the text does not compile."""
    try:
        for function in [thing for thing in table.values() if getattr(thing, "__module__", "") == "recorded"]:
            wick.jit.script(function)
    except RuntimeError:
        return True
    return False


def run(path):
    """Why a case fails; None: it agrees."""
    recorded = _C._load_value(path[:-3] + ".io.pt", None)
    table = defined(path)
    if "rejects" in recorded:
        return None if is_rejected(table) else "compiles, which it should not: %s" % recorded["rejects"][:60]
    function = None
    for call in recorded["calls"]:
        wanted = call.get("raises")
        try:
            if function is None:
                function = wick.jit.script(table[call.get("method") or recorded["entry"]])
            if "seed" in call:
                wick.manual_seed(call["seed"])
            with wick.enable_grad() if "grads" in call else wick.no_grad():
                args = [records(a) if "grads" in call else a for a in decoded(call["args"])]
                got = function(*args, **decoded(call["kwargs"]))
        except Exception as error:  # noqa: BLE001, whatever a program raises
            if wanted is None:
                return "%s: %s" % (type(error).__name__, str(error).strip().splitlines()[0] if str(error) else "")
            continue
        if wanted is not None:
            return "does not raise: %s" % wanted[:60]
        found = difference(got, decoded(call["output"]))
        if found:
            return found
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", type=int, default=20, help="how many reasons to print")
    parser.add_argument("--list", action="store_true", help="print every case that fails")
    parser.add_argument("--every", type=int, default=1, help="every Nth case only")
    parser.add_argument("--least", type=float, default=0, help="fail where fewer in a hundred agree")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    passed, no_python, reasons = 0, 0, collections.Counter()
    paths = [path for folder in options.folders for path in sorted(glob.glob(os.path.join(folder, "*.py")))]
    for path in paths[::options.every]:
        try:
            why = run(path)
        except (SyntaxError, KeyError) as error:
            no_python += 1
            if options.list:
                print(os.path.basename(path), "is no Python:", error)
            continue
        if why is None:
            passed += 1
            continue
        reasons[why[:110]] += 1
        if options.list:
            print(os.path.basename(path), why[:200])
    failed = sum(reasons.values())
    for why, count in reasons.most_common(options.failures):
        print("%5d  %s" % (count, why))
    share = 100 * passed / max(1, passed + failed)
    print("%d agree, %d do not, %d texts are no Python: %.1f%%" % (passed, failed, no_python, share))
    return 0 if share >= options.least and paths else 1


if __name__ == "__main__":
    raise SystemExit(main())
