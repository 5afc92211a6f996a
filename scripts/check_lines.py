#!/usr/bin/env python3
"""Prose keeps to lines below 120 characters, as code does; tables, blocks of code and links that are longer alone may not fit.

usage: check_lines.py FILE.md...
"""
import sys

bad = 0
for path in sys.argv[1:]:
    in_block = False
    with open(path) as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line.lstrip().startswith("```"):
                in_block = not in_block
            fits = len(line) < 121 or in_block or line.startswith(("|", "    "))
            if not fits and " " in line.strip():
                print(f"{path}:{number}: {len(line)} characters")
                bad += 1
sys.exit(1 if bad else 0)
