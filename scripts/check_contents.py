#!/usr/bin/env python3
"""The header of each folder of src/ (src/op/op.h) is its table of contents: it names every header of the folder, and none that is not there.

usage: check_contents.py src
"""
import os, re, sys

top = sys.argv[1]
bad = 0
for folder in sorted(os.listdir(top)):
    headers = {name for name in os.listdir(os.path.join(top, folder)) if name.endswith(".h")}
    contents = f"{folder}.h"
    if not headers:
        continue
    path = os.path.join(top, folder, contents)
    if contents not in headers:
        print(f"{path}: missing: folder {folder} has headers and no table of contents")
        bad += 1
        continue
    with open(path) as f:
        text = f.read()
    named = set(re.findall(rf"(?<![\w/]){folder}/(\w+\.h)", text)) | set(re.findall(r"(?<![\w/])(\w+\.h)\b", text))
    for name in sorted(headers - named - {contents}):
        print(f"{path}: does not name {folder}/{name}")
        bad += 1
    for name in sorted(set(re.findall(rf"(?<![\w/]){folder}/(\w+\.h)", text)) - headers):
        print(f"{path}: names {folder}/{name}, which is not there")
        bad += 1
sys.exit(1 if bad else 0)
