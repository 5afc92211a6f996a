#!/usr/bin/env python3
"""Checks the numbers of lines in docs/stories.md; --write corrects them, and the times, which it takes.

usage: count.py SOURCE [--write WICK BUILD]
"""
import glob
import os
import re
import subprocess
import sys
import time

source = sys.argv[1]
path = os.path.join(source, "docs", "stories.md")


def lines(name):
    count = 0
    for file in glob.glob(os.path.join(source, "tests", "stories", name + ".*")):
        with open(file) as text:
            for line in map(str.strip, text):
                count += bool(line) and not line.startswith(("#!", "# ", "/*", "* ", ". ", "//"))
    return count


def seconds(name):
    start = time.monotonic()
    subprocess.run(["sh", os.path.join(source, "tests", "stories", name + ".sh"), sys.argv[3], source, sys.argv[4]],
                   check=True, stdout=subprocess.DEVNULL)
    return "%.1f" % (time.monotonic() - start)


def row(match):
    name = match[1]
    found.append(name)
    took = seconds(name) if len(sys.argv) > 2 else match[4]
    return "stories/%s.sh)%s| %d | %s |" % (name, match[2], lines(name), took)


found = []
with open(path) as file:
    text = file.read()
new = re.sub(r"stories/(\w+)\.sh\)([^\n]*)\| (\d+) \| ([\d.]+) \|", row, text)
there = sorted(os.path.basename(f)[:-3] for f in glob.glob(os.path.join(source, "tests", "stories", "[0-9]*.sh")))
if sorted(found) != there:
    sys.exit("docs/stories.md has %s, tests/stories %s" % (sorted(found), there))
if len(sys.argv) > 2:
    with open(path, "w") as file:
        file.write(new)
elif new != text:
    sys.exit("docs/stories.md has other numbers of lines: tests/stories/count.py %s --write WICK BUILD" % source)
