#!/usr/bin/env python3
"""Measures what nets take in memory, beside PyTorch where PYTHON imports it, and writes docs/memory.md.

usage: memory.py [--build FOLDER] [--nets FOLDER] [--python FILE] [--out FILE] [NET...]

NETs are files in FOLDER without .pt (bench.py makes them there); with NETs nothing is written.
"""
import argparse, glob, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NETS = ["resnet18", "resnet50", "vit_b_16"]
IN_TURN = 100  # loads, of all nets that there are
COLUMNS = [("first", "first"), ("peak", "peak"), ("second", "second"), ("shared", "second, shared"), ("clone", "clone"),
           ("left", "left")]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default="build/release")
parser.add_argument("--nets", default="build/bench")
parser.add_argument("--python", default="/usr/bin/python3", help="the one that may have torch")
parser.add_argument("--out", default="docs/memory.md")
parser.add_argument("names", nargs="*")
options = parser.parse_args()


def measured(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def build(folder):
    program = os.path.join(folder, "memory")
    subprocess.run(["cc", "-O1", "-I" + os.path.join(HERE, "..", "include"), os.path.join(HERE, "memory.c"), "-o", program,
                    os.path.join(options.build, "libwick.a"), "-lm", "-lz", "-ldl", "-lpthread"], check=True)
    return program


def rows(program, *words):
    """(who, figures) of a net, or of a count and nets."""
    yield "wick, read", measured([program, "read", *words])
    yield "wick, mapped", measured([program, "map", *words])
    yield "PyTorch", measured([options.python, os.path.join(HERE, "peer_torch_memory.py"), *words])


def cell(figures, key):
    return "%.0f" % (figures[key] + 0.0) if key in figures else ""


def table(program):
    yield "| Net | By | " + " | ".join(title for _, title in COLUMNS) + " |"
    yield "|---|---|" + "---:|" * len(COLUMNS)
    for name in options.names or NETS:
        path = os.path.join(options.nets, name + ".pt")
        if not os.path.exists(path):
            continue
        for who, figures in rows(program, path):
            if figures:
                cells = " | ".join(cell(figures, key) for key, _ in COLUMNS)
                yield "| %s (%.0f) | %s | %s |" % (name, os.path.getsize(path) / 2**20, who, cells)


def in_turn(program):
    nets = sorted(glob.glob(os.path.join(options.nets, "*.pt")))
    yield "| By | first %d | all %d | left |" % (len(nets), IN_TURN)
    yield "|---|---:|---:|---:|"
    for who, figures in rows(program, str(IN_TURN), *nets):
        if figures:
            yield "| %s | %s |" % (who, " | ".join(cell(figures, key) for key in ("early", "most", "left")))


with tempfile.TemporaryDirectory() as folder:
    program = build(folder)
    tables = {"TABLE\n": list(table(program))}
    if not options.names:
        tables["TURN\n"] = list(in_turn(program))
for lines in tables.values():
    print("\n".join(lines) + "\n")
if not options.names and len(tables["TABLE\n"]) > 2:
    with open(os.path.join(HERE, "memory_page.md")) as file:
        page = file.read()
    for place, lines in tables.items():
        page = page.replace(place, "\n".join(lines) + "\n")
    with open(options.out, "w") as file:
        file.write(page)
sys.exit(0)
