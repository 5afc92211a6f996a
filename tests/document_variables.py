"""The table of variables in docs/debugging.md names each one of the environment that the sources read, and no other.

usage: document_variables.py SOURCE
"""
import glob, os, re, sys

source = sys.argv[1]
CALL = re.compile(r"""(?:\b(?:secure_)?getenv\(|environ\.get\(|\benviron\[)\s*(?:["'](\w+)["'])?""")
FOLDERS = {"src": "*.[ch]", "libraries": "*.[ch]", "python/src": "*.[ch]", "python/wick": "*.py"}


def sources():
    for folder, names in FOLDERS.items():
        yield from glob.glob(os.path.join(source, folder, "**", names), recursive=True)


def calls(path):
    """The names that a file reads; None for one that is computed."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [call.group(1) for call in CALL.finditer(text) if not call.group().startswith("environ[") or call.group(1)]


read, failed = {}, 0
for path in sorted(sources()):
    where = os.path.relpath(path, source)
    for name in calls(path):
        read.setdefault(name, where)
        if not name:
            print(f"{where} reads a variable whose name is not written there: how is it to be found here?")
            failed = 1
with open(os.path.join(source, "docs", "debugging.md"), encoding="utf-8") as file:
    table = file.read().split("\n## Variables\n")[1].split("\n## ")[0]
named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
for name in sorted(set(read) - named - {None}):
    print(f"docs/debugging.md does not name {name}, which {read[name]} reads")
    failed = 1
for name in sorted(named - set(read)):
    print(f"docs/debugging.md names {name}, which nothing reads")
    failed = 1
if len(read) < 10:
    print(f"only {len(read)} variables were found in the sources")
    failed = 1
sys.exit(failed)
