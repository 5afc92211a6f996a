#!/usr/bin/env python3
"""Measures what nets take in memory, beside PyTorch where PYTHON imports it, and writes docs/memory.md.

usage: memory.py [--build FOLDER] [--nets FOLDER] [--python FILE] [--out FILE] [NET...]

NETs are files in FOLDER without .pt (bench.py makes them there); with NETs nothing is written.
"""
import argparse, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NETS = ["resnet18", "resnet50", "vit_b_16"]
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


def rows(program, path):
    """(who, figures) of a net."""
    yield "wick, read", measured([program, path, "read"])
    yield "wick, mapped", measured([program, path, "map"])
    peer = os.path.join(HERE, "peer_torch_memory.py")
    yield "PyTorch", measured([options.python, peer, path])


def cell(figures, key):
    return "%.0f" % (figures[key] + 0.0) if key in figures else ""


def table():
    yield "| Net | By | " + " | ".join(title for _, title in COLUMNS) + " |"
    yield "|---|---|" + "---:|" * len(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        for name in options.names or NETS:
            path = os.path.join(options.nets, name + ".pt")
            if not os.path.exists(path):
                continue
            for who, figures in rows(program, path):
                if figures:
                    cells = " | ".join(cell(figures, key) for key, _ in COLUMNS)
                    yield "| %s (%.0f) | %s | %s |" % (name, os.path.getsize(path) / 2**20, who, cells)


lines = list(table())
print("\n".join(lines))
if not options.names and len(lines) > 2:
    with open(os.path.join(HERE, "memory_page.md")) as file:
        page = file.read()
    with open(options.out, "w") as file:
        file.write(page.replace("TABLE\n", "\n".join(lines) + "\n"))
sys.exit(0)
