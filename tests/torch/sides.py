"""What the comparisons with an installed PyTorch share: running wick, running PyTorch in processes that may crash or
hang, comparing values."""
import multiprocessing
import os
import pathlib
import subprocess
import warnings

warnings.filterwarnings("ignore")
try:
    import torch
except ImportError:
    torch = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT.parent / "shared" / "conformance"  # recorded cases, where somebody has them


def default_wick():
    """The newest build's command."""
    built = [p for p in (ROOT / "build").glob("*/wick") if p.is_file()]
    return os.environ.get("WICK") or str(max(built, key=lambda p: p.stat().st_mtime, default=ROOT / "build/release/wick"))


def wick(program, *words, timeout=60):
    try:
        return subprocess.run([program, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 99, "", f"no end after {timeout} s")


def _work(function, items, pipe):
    for item in items:
        try:
            answer = function(item)
        except Exception as error:
            answer = f"{type(error).__name__}: {str(error).strip()[-400:]}"
        pipe.send(answer)
    pipe.close()


def each(function, items, timeout=60):
    """function(item) for every item, in a process of its own that goes on after an item that kills it or takes too
    long. An answer is what the function returns, or a text that says how it failed."""
    answers, fork = [], multiprocessing.get_context("fork")
    while len(answers) < len(items):
        here, there = fork.Pipe(False)
        process = fork.Process(target=_work, args=(function, items[len(answers):], there))
        process.start()
        there.close()
        try:
            while len(answers) < len(items):
                if not here.poll(timeout):
                    answers.append(f"no end after {timeout} s")
                    break
                answers.append(here.recv())
        except EOFError:
            process.join()
            answers.append(f"PyTorch's process ended with {process.exitcode}")
        process.kill()
        process.join()
        here.close()
    return answers


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(copied(v) for v in value)
    return value


def agree(got, want):
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor) or got.shape != want.shape or got.dtype != want.dtype:
            return False
        if want.is_sparse or want.is_quantized or want.layout != torch.strided:
            return str(got) == str(want)
        if not want.is_floating_point() and not want.is_complex():
            return torch.equal(got, want)
        return torch.allclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
    if isinstance(want, (list, tuple)):
        return len(got) == len(want) and all(agree(g, w) for g, w in zip(got, want))
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(agree(got[k], want[k]) for k in want)
    return bool(got == want or got != got and want != want or type(got).__name__ not in ("int", "float", "bool", "str"))
