#!/usr/bin/env python3
"""No folder of src/ includes a header of a folder below it; the command includes the public headers and its own alone.

usage: check_layers.py src
The order is the order of the house in docs/design.md.
"""
import os, re, sys

LAYERS = ["base", "report", "syntax", "tensor", "tile", "native", "compute", "type", "ivalue", "schema", "call", "op", "ir", "interp", "pass", "frontend",
          "trace", "autodiff", "fuse", "executor", "module", "serial", "api", "cli"]
top = sys.argv[1]
bad = 0
for folder, _, names in os.walk(top):
    layer = os.path.relpath(folder, top).split(os.sep)[0]
    for name in names:
        if not name.endswith((".c", ".h")):
            continue
        path = os.path.join(folder, name)
        if layer not in LAYERS:
            print(f"{path}: folder {layer} is not in the list of layers")
            bad += 1
            continue
        with open(path) as f:
            for number, line in enumerate(f, 1):
                m = re.match(r'#include "([a-z]+)/', line)
                if m and m[1] in LAYERS and LAYERS.index(m[1]) > LAYERS.index(layer):
                    print(f"{path}:{number}: {layer} includes from {m[1]}, which is below it")
                    bad += 1
                if m and layer == "cli" and m[1] not in ("cli", "wick"):
                    print(f"{path}:{number}: the command includes from {m[1]}: it is a client of wick/*.h")
                    bad += 1
sys.exit(1 if bad else 0)
