#!/usr/bin/env python3
"""Every function that a header of src/ declares is called from src/: what only tests call, or nobody, is dead.

usage: check_unused.py src
A declaration whose comment says "for tests" or "test hook" is meant for them.
"""
import os, re, sys

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
DECLARATION = re.compile(r"^(?!static\b|typedef\b|#|extern\s+const\b)[A-Za-z_][\w \*]*?[\s\*](\w+)\((?=[^;{]*\)[^;{]*;)", re.M)
ONE_OF = re.compile(r"(?<![\w\.>])(\w+)\(")

top = sys.argv[1]
files = {}
for folder, _, names in os.walk(top):
    for name in names:
        if name.endswith((".c", ".h")):
            path = os.path.join(folder, name)
            with open(path) as f:
                files[path] = f.read()

words, declared = {}, {}
for path, text in files.items():
    bare = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    for m in re.finditer(r"\b[A-Za-z_]\w*\b", bare):
        words[m[0]] = words.get(m[0], 0) + 1
    if path.endswith(".h"):
        lines = text.split("\n")
        for m in DECLARATION.finditer(bare):
            line = bare.count("\n", 0, m.start(1))
            around = " ".join(lines[line : bare.count("\n", 0, bare.index(";", m.end())) + 1])
            above = line - 1
            while above >= 0 and re.match(r"\s*(/\*|\*)", lines[above]) and not re.search(r";", lines[above].split("/*")[0]):
                around += lines[above]
                above -= 1
            if not re.search("for tests|test hook", around, re.I):
                declared[m[1]] = f"{path}:{line + 1}"

bad = 0
for name, place in sorted(declared.items(), key=lambda item: item[1]):
    if words[name] <= 2:  # the declaration and the definition
        print(f"{place}: nothing in {top} calls {name}")
        bad += 1
sys.exit(1 if bad else 0)
