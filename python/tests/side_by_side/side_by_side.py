"""wick beside PyTorch 1.13: functions, modules and torchvision's networks, scripted and traced by both.

usage: PYTHONPATH=build/release/python python3 side_by_side.py [--keep FOLDER] [--only NAME]... [--all] [--record]

Each package runs in a process of its own (worker.py); what they exchange are parameters, archives and reports.
Compared are the results of calls, the results of archives that the other side wrote, and the kinds of the graphs'
nodes, in order. Prints `N of M` for each category and every case that is not the same. Fails when results differ, or
where fewer than 95 in a hundred graphs have the same kinds. Of scripted programs these are the graphs of what a
program says itself: layers of torch.nn and functions of torch.nn.functional are each package's own text, and counted
apart. Without PyTorch 1.13 it says so and is skipped. --all shows whole sequences of kinds. --record writes
recorded.json.gz, with which ../test_side_by_side.py compares where there is no PyTorch: functions and modules.
"""

import argparse
import collections
import gzip
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WANTED = {"kinds": 0.95}  # of others: all
# Cases whose numbers may differ by more than rounding of one operator does: whole networks.
TOLERANCE = {"function": 1e-4, "module": 1e-4, "network": 1e-3}


def torch_python():
    """A Python that has PyTorch 1.13; None: there is none."""
    for python in (os.environ.get("TORCH_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and shutil.which(python):
            asked = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True,
                                   text=True, env=without_path())
            if asked.returncode == 0 and asked.stdout.startswith("1.13"):
                return python
    return None


def without_path():
    """The environment of PyTorch's process: nothing of wick's in it, the sanitizer of its build neither."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")}


def difference(got, want, tolerance, where="result"):
    """Where two encoded values are not the same; None: nowhere."""
    if isinstance(want, float) and isinstance(got, float):
        same = got == want or got != got and want != want or math.isclose(got, want, rel_tol=tolerance, abs_tol=1e-9)
        return None if same else "%s: %r, and PyTorch %r" % (where, got, want)
    if type(got) is not type(want):
        return "%s: %.60r, and PyTorch %.60r" % (where, got, want)
    if isinstance(want, dict) and "values" in want:
        return tensor_difference(got, want, tolerance, where)
    if isinstance(want, dict):
        if list(got) != list(want):
            return "%s: %.60r, and PyTorch %.60r" % (where, got, want)
        pairs = [("%s" % key, got[key], want[key]) for key in want]
    elif isinstance(want, list):
        if len(got) != len(want):
            return "%s: %d items, and PyTorch %d" % (where, len(got), len(want))
        pairs = [(str(i), g, w) for i, (g, w) in enumerate(zip(got, want))]
    else:
        return None if got == want else "%s: %.60r, and PyTorch %.60r" % (where, got, want)
    for name, g, w in pairs:
        found = difference(g, w, tolerance, where + "." + name)
        if found:
            return found
    return None


def tensor_difference(got, want, tolerance, where):
    """The same for tensors: elements are near each other beside the largest one."""
    if got.get("dtype") != want["dtype"] or got.get("shape") != want["shape"]:
        return "%s: %s%s, and PyTorch %s%s" % (where, got.get("dtype"), got.get("shape"), want["dtype"],
                                               want["shape"])
    finite = [abs(v) for v in want["values"] if math.isfinite(v)]
    largest = max(finite, default=0.0)
    for i, (g, w) in enumerate(zip(got["values"], want["values"])):
        if g == w or g != g and w != w:
            continue
        if not abs(g - w) <= tolerance * max(abs(w), 0.1 * largest):
            return "%s: element %d is %r, and PyTorch's %r" % (where, i, g, w)
    return None


def outcome_difference(got, want, tolerance):
    """Of calls; what raises on one side raises on the other."""
    for side, one in (("wick", got), ("PyTorch", want)):
        if "fails" in one:
            return "%s does not compile it: %s" % (side, " ".join(one["fails"].split())[:300])
    if "raises" in want or "raises" in got:
        if "raises" in want and "raises" in got:
            return None
        return "wick: %.200s, PyTorch: %.200s" % (got.get("raises", "gives a result"),
                                                  want.get("raises", "gives a result"))
    return difference(got["result"], want["result"], tolerance)


def kinds_difference(got, want, show_all):
    """Where the sequences of kinds part."""
    if got == want:
        return None
    a, b = got.split(), want.split()
    if show_all:
        return "\n    wick    %s\n    PyTorch %s" % (got, want)
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "at %d: wick %s, PyTorch %s" % (at, " ".join(a[at:at + 5]), " ".join(b[at:at + 5]))


class Tally:
    """Counts by category, and what was not the same."""

    def __init__(self):
        self.total, self.same, self.told = collections.Counter(), collections.Counter(), set()

    def note(self, category, name, why):
        """One comparison; why: what differs, or None."""
        self.total[category] += 1
        if why is None:
            self.same[category] += 1
        else:
            print("%-40s %s: %s" % (category, name, why))

    def count(self, category, is_same):
        """For information: what nothing depends on."""
        self.told.add(category)
        self.total[category] += 1
        self.same[category] += is_same

    def figures_hold(self):
        """Prints the table; whether every figure is reached."""
        holds = True
        for category, total in sorted(self.total.items()):
            wanted = WANTED["kinds"] if category.endswith("kinds") else 0.0 if category in self.told else 1.0
            reached = self.same[category] >= wanted * total
            holds = holds and reached
            print("%-40s %3d of %3d%s" % (category, self.same[category], total, "" if reached else "   TOO FEW"))
        return holds


def compare(name, wick, torch, loaded_by_wick, loaded_by_torch, tally, show_all):
    """One case on both sides."""
    category = torch["category"]
    tolerance = TOLERANCE[category]
    tally.note(category + ", eager", name, outcome_difference(wick["eager"], torch["eager"], tolerance))
    for way in ("script", "trace"):
        if way not in torch:
            continue
        mine, theirs = wick[way], torch[way]
        tally.note("%s, %s: results" % (category, way), name, outcome_difference(mine, theirs, tolerance))
        if "kinds" not in mine or "kinds" not in theirs:
            continue
        tally.note("%s: kinds" % way, name, kinds_difference(mine["kinds"], theirs["kinds"], show_all))
        if "library" in theirs:
            tally.count("%s: kinds, with what torch.nn is written in" % way, mine["library"] == theirs["library"])
        for loaded, label in ((loaded_by_wick, "PyTorch's archive in wick"),
                              (loaded_by_torch, "wick's archive in PyTorch")):
            writer = mine if loaded is loaded_by_torch else theirs
            if loaded is None:
                continue
            if way in loaded:
                why = outcome_difference(loaded[way], theirs, tolerance)
            elif loaded is loaded_by_wick:
                continue  # PyTorch does not save it
            else:
                why = None if "not_saved" in theirs else "not saved: %s" % writer.get("not_saved")
            tally.note("%s, %s: %s" % (category, way, label), name, why)


def run(python, side, task, folder, other, environment):
    """A worker to its end."""
    command = [python, os.path.join(HERE, "worker.py"), side, task, folder] + ([other] if other else [])
    subprocess.run(command, check=True, env=dict(environment, PYTHONDONTWRITEBYTECODE="1"))


def read(folder, name):
    """A worker's report."""
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


def rounded(value):
    """A report with numbers of eight digits: what is compared needs no more."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items() if key != "library"}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float("%.8g" % value) if isinstance(value, float) else value


def record(report):
    """Writes what PyTorch gave for functions and modules."""
    kept = {name: rounded(case) for name, case in report.items() if case["category"] != "network"}
    with open(os.path.join(HERE, "recorded.json.gz"), "wb") as file:
        file.write(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", help="leave what was exchanged there; PyTorch's part is taken from it when there")
    parser.add_argument("--only", action="append", default=[], help="this case; may be given several times")
    parser.add_argument("--record", action="store_true", help="write recorded.json.gz")
    parser.add_argument("--all", action="store_true", help="show whole sequences of kinds")
    options = parser.parse_args()
    python = torch_python()
    if python is None:
        print("side by side: skipped, PyTorch 1.13 is not installed")
        return 0
    folder = options.keep or tempfile.mkdtemp(prefix="side_by_side.")
    theirs, mine = os.path.join(folder, "torch"), os.path.join(folder, "wick")
    if options.only:
        os.environ["SIDE_BY_SIDE_ONLY"] = " ".join(options.only)
    try:
        if not os.path.exists(os.path.join(theirs, "report.json")):
            run(python, "torch", "make", theirs, None, without_path())
        run(sys.executable, "wick", "make", mine, theirs, os.environ)
        run(sys.executable, "wick", "load", mine, theirs, os.environ)
        run(python, "torch", "load", theirs, mine, without_path())
        reports = [read(mine, "report.json"), read(theirs, "report.json"), read(mine, "loaded.json"),
                   read(theirs, "loaded.json")]
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    if options.record:
        record(reports[1])
    tally = Tally()
    for name in reports[0]:
        compare(name, *[report[name] for report in reports], tally, options.all)
    return 0 if tally.figures_hold() else 1


if __name__ == "__main__":
    sys.exit(main())
