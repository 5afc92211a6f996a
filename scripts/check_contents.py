#!/usr/bin/env python3
"""The header of each folder of src/ (src/ir/ir.h) is its table of contents: it names every header of the folder and of its rooms, and none that is not there.

usage: check_contents.py src
"""
import os, re, sys

top = sys.argv[1]
bad = 0
for folder in sorted(os.listdir(top)):
    headers = set()
    for room, _, names in os.walk(os.path.join(top, folder)):
        headers |= {os.path.relpath(os.path.join(room, name), top) for name in names if name.endswith(".h")}
    contents = f"{folder}/{folder}.h"
    if not headers:
        continue
    path = os.path.join(top, contents)
    if contents not in headers:
        print(f"{path}: missing: folder {folder} has headers and no table of contents")
        bad += 1
        continue
    with open(path) as f:
        text = f.read()
    named = set(re.findall(rf"(?<![\w/]){folder}/[\w/]+\.h", text))
    alone = set(re.findall(r"(?<![\w/])(\w+\.h)\b", text))
    for name in sorted(headers - named - {contents}):
        if os.path.basename(name) not in alone:
            print(f"{path}: does not name {name}")
            bad += 1
    for name in sorted(named - headers):
        print(f"{path}: names {name}, which is not there")
        bad += 1
sys.exit(1 if bad else 0)
