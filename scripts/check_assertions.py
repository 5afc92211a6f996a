#!/usr/bin/env python3
"""Every folder of src/ states its invariants: at least one assertion in LINES lines of its own.

usage: check_assertions.py src [--all]
Counted are the assert(...) of .c and .h files; one in a macro counts once. Prints each folder that has fewer, with
--all every folder, and says how many lines of all there are to one.
"""
import os, re, sys

LINES = 300
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
ASSERTION = re.compile(r"\bassert\s*\(")

top, show_all = sys.argv[1], "--all" in sys.argv[2:]
bad = all_lines = all_assertions = 0
for folder in sorted(os.listdir(top)):
    lines = assertions = 0
    for room, _, names in os.walk(os.path.join(top, folder)):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(room, name)) as f:
                    text = f.read()
                lines += text.count("\n")
                assertions += len(ASSERTION.findall(COMMENT.sub(" ", text)))
    is_short = assertions * LINES < lines
    if is_short or show_all:
        wanted = f", wanted: {-(-lines // LINES)}" if is_short else ""
        print(f"{top}/{folder}: {assertions} assertions in {lines} lines{wanted}")
    bad += is_short
    all_lines += lines
    all_assertions += assertions
print(f"{all_assertions} assertions in {all_lines} lines, one in {round(all_lines / max(all_assertions, 1))}")
sys.exit(1 if bad else 0)
