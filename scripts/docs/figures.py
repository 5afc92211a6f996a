"""The figures that the front pages say, from where they are measured.

usage: figures.py [--write]    compares them with what the pages say; --write: puts them there

README.md has a table of docs/performance.json. How many of PyTorch's overloads wick has is counted where a build (the
environment's WICK_LIBRARY) and a python3 with PyTorch 1.13 are; README.md, docs/features.md and CHANGELOG.md say it.
"""
import json, os, re, subprocess, sys

sys.dont_write_bytecode = True
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SHOWN = ["resnet18", "mobilenet_v2", "densenet121", "attention", "lstm_cell_1x64", "small_ops"]
SCHEMAS = """
import torch
assert torch.__version__.startswith("1.13")
for schema in torch._C._jit_get_all_schemas():
    print(schema.name + ("." + schema.overload_name if schema.overload_name else ""))
"""
ROW = "| {} | {} | {} | {} | {} | {} | {} |\n"


def number(peer, key):
    return f"{peer[key]:.3g}" if peer else "-"


def table(measured):
    text = ROW.format("workload", "wick", "PyTorch", "ONNX Runtime", "load + first: wick", "PyTorch", "ONNX Runtime")
    text += "|---|---:|---:|---:|---:|---:|---:|\n"
    rows = {row["name"]: row["peers"] for row in measured["rows"] if row["threads"] == 1}
    for name in SHOWN:
        peers = [rows[name].get(peer) for peer in ("wick", "PyTorch", "ONNX Runtime")]
        text += ROW.format(name, *(number(peer, key) for key in ("median", "first") for peer in peers))
    return text


def overloads():
    """How many overloads PyTorch has, and how many of them wick; None: it can't be counted here."""
    library = os.environ.get("WICK_LIBRARY")
    asked = subprocess.run(["python3", "-c", SCHEMAS], capture_output=True, text=True) if library else None
    if not asked or asked.returncode:
        return None
    import operators
    theirs = set(asked.stdout.split())
    return len(theirs & {schema.split("(")[0] for schema in operators.overloads(library)}), len(theirs)


def main():
    write = "--write" in sys.argv
    wrong, pages = [], {}
    for name in ("README.md", "docs/features.md", "CHANGELOG.md"):
        with open(os.path.join(ROOT, name)) as file:
            pages[name] = file.read()
    with open(os.path.join(ROOT, "docs", "performance.json")) as file:
        figures = table(json.load(file))
    begin, end = "figures.py writes them -->\n", "<!-- end of figures -->"
    before, rest = pages["README.md"].split(begin)
    shown, after = rest.split(end)
    if shown.strip("\n") != figures.strip("\n"):
        wrong.append("README.md: the table is not that of docs/performance.json")
        pages["README.md"] = before + begin + "\n" + figures + "\n" + end + after
    counted = overloads()
    for name, text in pages.items():
        said = re.search(r"([\d,]+)( of the | of )([\d,]+)(\s+overloads)", text)
        if not said:
            wrong.append(f"{name}: it does not say how many overloads there are")
        elif counted and (said[1], said[3]) != tuple(f"{n:,}" for n in counted):
            wrong.append(f"{name}: {said[1]} of {said[3]} overloads, counted {counted[0]:,} of {counted[1]:,}")
            pages[name] = text.replace(said[0], f"{counted[0]:,}{said[2]}{counted[1]:,}{said[4]}")
    if write:
        for name, text in pages.items():
            with open(os.path.join(ROOT, name), "w") as file:
                file.write(text)
        return
    print("\n".join(wrong + [f"{len(wrong)} figures are wrong" + ("" if counted else "; overloads were not counted")]))
    sys.exit(bool(wrong))


main()
