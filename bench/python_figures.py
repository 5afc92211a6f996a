#!/usr/bin/env python3
"""wick for Python beside PyTorch, each in a process of its own, in turn; the least time of all rounds counts.

usage: PYTHONPATH=build/release/python python3 bench/python_figures.py [--check] [--rounds N] [--only NAME]...

Prints, for each figure, wick's, PyTorch's, their quotient and the most that it may be. --check exits with 1 where it is
more. Without PyTorch 1.13 (TORCH_PYTHON, this Python or /usr/bin/python3) it says so and is skipped.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MOST = {"import, ms": 0.1, "import, MB": 0.1, "a + b of 4 floats, ns": 0.6, "x[1:3, ::2], ns": 0.7, "x.numpy(), ns": 0.7,
        "scripted policy, us": 0.4, "digits, an epoch, ms": 1.0}


# ---- one side, in its process ----

def resident():
    """MB of memory that the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def least(function, calls, rounds=12):
    """The least time of a call in seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def policy(torch):
    """A controller of a robot: an LSTM with its state in buffers, and two layers; scripted."""
    nn = torch.nn

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.memory = nn.LSTM(47, 64)
            self.actor = nn.Sequential(nn.Linear(64, 32), nn.ELU(), nn.Linear(32, 12))
            self.register_buffer("hidden_state", torch.zeros(1, 1, 64))
            self.register_buffer("cell_state", torch.zeros(1, 1, 64))

        def forward(self, x):
            out, (h, c) = self.memory(x.unsqueeze(0), (self.hidden_state, self.cell_state))
            self.hidden_state[:] = h
            self.cell_state[:] = c
            return self.actor(out.squeeze(0))
    return torch.jit.script(Policy().eval())


def digits(torch):
    """An epoch of examples/python/train.py, as a function."""
    import numpy
    data = numpy.load(ROOT / "examples" / "digits" / "digits.npz")
    images = torch.from_numpy(data["images"]).float().div(16).unsqueeze(1)
    labels = torch.from_numpy(data["labels"])
    nn = torch.nn
    torch.manual_seed(7)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=64, shuffle=True)
    classifier = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.25), nn.Linear(32 * 4 * 4, 10))
    optimizer = torch.optim.AdamW(classifier.parameters(), lr=4e-3)

    def epoch():
        for batch, wanted in loader:
            loss = nn.functional.cross_entropy(classifier(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return epoch


def measure(side, only):
    """The figures of one side by name."""
    before = resident()
    start = time.perf_counter()
    if side == "wick":
        import wick as torch
    else:
        import torch
    found = {"import, ms": (time.perf_counter() - start) * 1e3, "import, MB": resident() - before}
    a, b, x = torch.ones(4), torch.ones(4), torch.ones(8, 8)
    inputs = torch.ones(1, 47)
    found["a + b of 4 floats, ns"] = least(lambda: a + b, 20000) * 1e9
    found["x[1:3, ::2], ns"] = least(lambda: x[1:3, ::2], 10000) * 1e9
    found["x.numpy(), ns"] = least(x.numpy, 20000) * 1e9
    if not only or "scripted policy, us" in only:
        module = policy(torch)
        with torch.no_grad():
            least(lambda: module(inputs), 100, 3)
            found["scripted policy, us"] = least(lambda: module(inputs), 500) * 1e6
    if not only or "digits, an epoch, ms" in only:
        found["digits, an epoch, ms"] = least(digits(torch), 1, 4) * 1e3
    return found


# ---- both ----

def torch_python():
    """A Python that has PyTorch 1.13; None: there is none."""
    sys.path.insert(0, str(ROOT / "python" / "tests" / "side_by_side"))
    import side_by_side
    return side_by_side.torch_python()


def ask(python, side, only, environment):
    """The figures of a fresh process."""
    command = [python, os.path.abspath(__file__), "--side", side] + [word for name in only for word in ("--only", name)]
    return json.loads(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit with 1 where a figure is not reached")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each side")
    parser.add_argument("--only", action="append", default=[], help="this figure; may be given several times")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure(options.side, options.only)))
        return 0
    python = torch_python()
    if python is None:
        print("figures: skipped, PyTorch 1.13 is not installed")
        return 0
    without_path = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    mine, theirs = [], []
    for _ in range(options.rounds):
        mine.append(ask(sys.executable, "wick", options.only, os.environ))
        theirs.append(ask(python, "torch", options.only, without_path))
    reached = True
    print("%-26s %10s %10s %8s %6s" % ("", "wick", "PyTorch", "quotient", "most"))
    for name, most in MOST.items():
        if name not in mine[0] or options.only and name not in options.only:
            continue
        one, other = (min(round[name] for round in side) for side in (mine, theirs))
        reached = reached and one <= most * other
        print("%-26s %10.4g %10.4g %8.3f %6g%s" % (name, one, other, one / other, most,
                                                   "" if one <= most * other else "   TOO MUCH"))
    return 0 if reached or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
