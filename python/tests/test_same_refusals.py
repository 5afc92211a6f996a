"""Programs that can't be compiled: what both packages say of them first, and which part of the source they underline.

`refusals.txt` has the programs, each followed by a line `=> CLASS: first line` and one line `~ PART` for each part
that is underlined. `--record` with PyTorch writes those lines anew.
"""
import linecache
import math  # noqa: F401, programs name it
import os
import re
import sys
import typing
import unittest

RECORDS = "--record" in sys.argv
if RECORDS:
    sys.argv.remove("--record")

from beside import torch  # noqa: E402

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refusals.txt")


def read():
    """(program, class, first line, underlined parts) of each."""
    with open(PATH) as file:
        blocks = file.read().split("\n---\n")
    for block in blocks:
        lines = block.rstrip("\n").split("\n")
        at = next((i for i, line in enumerate(lines) if line.startswith("=> ")), len(lines))
        kind, _, first = lines[at][3:].partition(": ") if at < len(lines) else ("", "", "")
        yield "\n".join(lines[:at]) + "\n", kind, first, [line[2:] for line in lines[at + 1:]]


def function(text, number):
    """`f` of a text, whose source can be had."""
    name = "<refusal %d>" % number
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {**vars(typing), "torch": torch, "Tensor": torch.Tensor, "math": math}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def underlined(message):
    """The parts of the source above the marks that end with HERE."""
    lines, found = message.split("\n"), []
    for i, line in enumerate(lines):
        if "<--- HERE" in line and i:
            found.append(lines[i - 1][line.index("~"):line.index("~") + line.count("~")] if "~" in line else "")
    return found


def said(text, number):
    """Class, first line and underlined parts of the error that compiling a program gives."""
    try:
        torch.jit.script(function(text, number))
    except Exception as error:  # noqa: BLE001, which it is is what is asked
        lines = [line for line in str(error).split("\n") if line.strip()]
        kind = type(error).__name__
        first = re.sub(r"\. Did you mean '[^']*'\?", "", lines[0]).replace(" (inferred)", "").rstrip(".: ")
        return "RuntimeError" if kind == "Error" else kind, first, underlined(str(error))
    return "", "", []


def record():
    blocks = []
    for number, (text, _, _, _) in enumerate(read()):
        kind, first, parts = said(text, number)
        blocks.append("\n".join([text.rstrip("\n"), "=> %s: %s" % (kind, first)] + ["~ " + part for part in parts]))
    with open(PATH, "w") as file:
        file.write("\n---\n".join(blocks) + "\n")


class Refusals(unittest.TestCase):
    def test_as_recorded(self):
        count = 0
        for number, (text, kind, first, parts) in enumerate(read()):
            with self.subTest(text):
                self.assertEqual(said(text, number), (kind, first, parts))
            count += 1
        self.assertGreater(count, 150)


if __name__ == "__main__":
    if RECORDS:
        record()
    else:
        unittest.main()
