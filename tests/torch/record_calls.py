"""Records tests/data/calls.txt anew with PyTorch: python3 tests/torch/record_calls.py tests/data/calls.txt

A line is a call, after what it needs ("x = torch.ones(3); x.put_(x, x)"; "F." is torch.nn.functional). Below it stands what
PyTorch makes of it: "  = text" has the result as str() gives it (line breaks as "\\n"), "  ! text" the first line of the error.
Add calls and record; what stands indented is written anew.
"""
import sys
import warnings

import torch


def outcome(line):
    statements = line.replace("F.", "torch.nn.functional.").split("; ")
    source = "def f():\n" + "".join(f"    {s}\n" for s in statements[:-1]) + f"    return str({statements[-1]})\n"
    function = torch.jit.CompilationUnit(source).f
    try:
        return "  = " + function().replace("\n", "\\n")
    except (RuntimeError, torch.jit.Error) as error:
        text = str(error).strip()
        at = text.rfind("\nRuntimeError: ")
        return "  ! " + (text[at + 15:] if at >= 0 else text.split("\n")[-1].split(": ", 1)[-1]).split("\n")[0]


def main(path):
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    lines = []
    for line in open(path).read().splitlines():
        if line.startswith(" "):
            continue
        lines.append(line)
        if line and not line.startswith("#"):
            lines.append(outcome(line))
    open(path, "w").write("\n".join(lines) + "\n")


main(sys.argv[1])
