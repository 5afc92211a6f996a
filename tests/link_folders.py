#!/usr/bin/env python3
"""Each folder of src/ links with those before it in the house alone, and refers to nothing of later ones, not weakly either.

usage: link_folders.py DESIGN OBJECTS NM COMPILER [FLAG ...]
DESIGN has the table of folders (docs/design.md), OBJECTS the paths of all objects, one a line.
"""
import os, re, subprocess, sys, tempfile

design, listed, nm, *compiler = sys.argv[1:]
with open(design) as f:
    folders = re.findall(r"^\| `src/(\w+)` \|", f.read(), re.M)
objects = {}
with open(listed) as f:
    for path in f.read().split():
        place = re.search(r"/src/(\w+)/", path)
        objects.setdefault(place[1] if place else "frontend", []).append(path)  # the prelude has no folder in src
folders = [folder for folder in folders if folder in objects]
assert set(folders) == set(objects), set(folders) ^ set(objects)


def symbols(paths, option):
    """(kind, name) of each symbol of the objects, as nm has them."""
    listing = subprocess.run([nm, option, *paths], capture_output=True, text=True, check=True).stdout
    return {tuple(line.split()[-2:]) for line in listing.splitlines() if len(line.split()) > 1}


defined = {name for paths in objects.values() for _, name in symbols(paths, "--defined-only")}
failed, linked = [], []
with tempfile.TemporaryDirectory() as scratch:
    for folder in folders:
        linked += objects[folder]
        arguments = os.path.join(scratch, "objects")
        with open(arguments, "w") as f:
            f.write("\n".join(linked))
        run = subprocess.run([*compiler, "-shared", "-Wl,-z,defs", "-o", os.path.join(scratch, "linked.so"), "@" + arguments,
                              "-lz", "-lm", "-lpthread", "-ldl"], capture_output=True, text=True)
        missing = sorted(set(re.findall(r"undefined (?:reference to|symbol:) [`']?(\w+)", run.stderr)))
        if run.returncode:
            failed.append(folder)
            print(f"{folder} does not link with the folders before it: {', '.join(missing) or run.stderr}")
            continue
        weak = sorted(name for kind, name in symbols(objects[folder], "--undefined-only") if kind in "wv" and name in defined)
        if weak:
            failed.append(folder)
            print(f"{folder} refers weakly to what other files define: {', '.join(weak)}")
print(f"{len(folders) - len(failed)} of {len(folders)} folders link with those before them")
sys.exit(1 if failed or len(folders) < 20 else 0)
