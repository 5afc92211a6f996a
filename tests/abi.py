#!/usr/bin/env python3
"""Compares the public headers with abi/libwick.abi, the ABI that programs were compiled against: functions, enums and structs may only be added to.

usage: abi.py check|write SOURCE LIBRARY CC

The headers' functions are compiled with empty bodies, so that no build with debug information is needed; that the library exports these functions
and no others is checked, too. `write` replaces the description: for who adds a function, or before a release whose number after .so. changes.
Exit status 77: there is no abidw or abidiff (abigail-tools).
"""
import glob, os, re, shutil, subprocess, sys, tempfile

# Of a report, what docs/abi.md allows: structs grow by members after the others, which then stay where they are.
ALLOWED = re.compile(r"""\s*(
    |Functions\ changes\ summary:\ 0\ Removed.*|Variables\ changes\ summary:\ 0\ Removed,\ 0\ Changed.*
    |\d+\ functions?\ with\ some\ .*|\[C\]\ 'function\ .*'\ has\ some\ (indirect\ )?sub-type\ changes:
    |parameter\ \d+\ of\ type\ '.*'\ has\ sub-type\ changes:|in\ (pointed\ to|unqualified\ underlying)\ type\ '.*':
    |underlying\ type\ 'struct\ .*'\ changed:|type\ size\ changed\ from\ \d+\ to\ \d+\ \(in\ bits\)
    |\d+\ data\ member\ insertions?:|'.*',\ at\ offset\ \d+\ \(in\ bits\)
    )""", re.X)


def empty_functions(headers):
    """C that defines every function of the headers."""
    lines = ["#include <wick/wick.h>"]
    for header in headers:
        text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)
        for returns, name, parameters in re.findall(r"^WICK_API\s+([^;()]*?)\b(wick_\w+)(\([^;]*\));", text, flags=re.M):
            body = "{}" if returns.strip() == "void" else "{ return 0; }"
            lines.append(f"WICK_API {returns}{name}{parameters} {body}")
    return "\n".join(lines) + "\n"


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def exported(library):
    code, text = run("nm", "-D", "--defined-only", library)
    assert code == 0, text
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if line.split()[-2] in "TW"}


def main(what, source, library, cc):
    if not (shutil.which("abidw") and shutil.which("abidiff")):
        print("skipped, there are no abidw and abidiff")
        return 77
    kept = os.path.join(source, "abi", "libwick.abi")
    with tempfile.TemporaryDirectory() as work:
        stub, found = os.path.join(work, "libwick.so"), os.path.join(work, "now.abi")
        open(os.path.join(work, "wick.c"), "w").write(empty_functions(sorted(glob.glob(os.path.join(source, "include/wick/*.h")))))
        code, text = run(cc, "-g", "-w", "-shared", "-fPIC", "-fvisibility=hidden", "-I", os.path.join(source, "include"), "-Wl,-soname,libwick.so.0",
                         os.path.join(work, "wick.c"), "-o", stub)
        if code:
            print(text)
            return 1
        declared, defined = exported(stub), exported(library)
        if declared != defined:
            print("declared and not exported:", sorted(declared - defined), "exported and not declared:", sorted(defined - declared))
            return 1
        code, text = run("abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--no-architecture", "--out-file", found, stub)
        if code:
            print(text)
            return 1
        if what == "write":
            os.makedirs(os.path.dirname(kept), exist_ok=True)
            shutil.copyfile(found, kept)
            print(f"{kept}: {len(declared)} functions, {os.path.getsize(kept)} bytes")
            return 0
        code, text = run("abidiff", "--no-added-syms", kept, found)
        changed = [line for line in text.splitlines() if not ALLOWED.fullmatch(line)]
        print(text if code and changed else f"{len(declared)} functions: nothing but additions")
        return 1 if code and changed else 0


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ("check", "write"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
