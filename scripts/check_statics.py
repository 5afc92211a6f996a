#!/usr/bin/env python3
"""The list of mutable statics in docs/statics.md is whole: every variable of the folders that lives as long as the
process, or as a thread, and is not const stands there by file and name, and nothing else does.

usage: check_statics.py docs/statics.md src [FOLDER...]
Files of the first folder are named within it, those of others with the folder.
Rows of the list: | `folder/file.c` | `name`, `name` | why |, and for a type whose variables are all of one kind
(OpRef), wherever they stand: | any | `OpRef` | why |. The command's folder is a program by itself and not looked at.
"""
import os, re, sys

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\])*'")
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
WORD = re.compile(r"[A-Za-z_]\w*")


def closing(text, at):
    """The place after the bracket that closes the one at `at`."""
    depth = 0
    while at < len(text):
        if text[at] in "({[":
            depth += 1
        elif text[at] in ")}]":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return at


def statement(text, at):
    """From `at` to the semicolon that ends it, bodies in braces emptied; and the place after it."""
    out = ""
    while at < len(text) and text[at] != ";":
        if text[at] == "{":
            out, at = out + "{}", closing(text, at)
        else:
            out, at = out + text[at], at + 1
    return out, at + 1


def parts(text):
    """Split at commas outside of brackets."""
    depth, part = 0, ""
    for c in text:
        depth += (c in "({[") - (c in ")}]")
        if c == "," and not depth:
            yield part
            part = ""
        else:
            part += c
    yield part


def variables(declaration):
    """(type, name) of each variable of the declaration that may change."""
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", declaration, flags=re.S)
    text = re.sub(r"\b_Alignas\([^)]*\)|\bstatic\b|\b_Thread_local\b", "", text)
    text = re.sub(r"\b(struct|union|enum)\s*\w*\s*{}", " Unnamed ", text)
    text = re.sub(r"\b(_Atomic|VEC|__typeof__)\s*\([^()]*\)", " Unnamed ", text)
    specifiers = None
    for declarator in parts(text):
        left = declarator.split("=")[0].strip()
        pointer = re.match(r"([^()]*)\(\s*\*([\w\s]*?)(\w+)\s*(?:\[[^\]]*\])*\)\s*\(.*\)$", left, re.S)
        if pointer:  # to a function
            if "const" not in pointer[2]:
                yield "function", pointer[3]
            continue
        left = re.sub(r"\[.*?\]", "", left, flags=re.S).strip()
        if "(" in left or not left:
            return  # a prototype or a macro
        words = WORD.findall(left)
        if specifiers is None:
            if len(words) < 2:
                return
            specifiers = left[: left.rindex(words[-1])]
            kind = [w for w in WORD.findall(specifiers.split("*")[0]) if w not in ("const", "struct", "_Atomic")]
            kind = kind[-1] if kind else ""
            star = specifiers
        else:
            star = left[: left.rindex(words[-1])] if words else ""
            star = star if "*" in star else specifiers.split("*")[0]
        last = star.split("*")[-1]
        if "const" not in WORD.findall(last):
            yield kind, words[-1]


def of_file(path):
    with open(path) as f:
        text = STRING.sub('""', COMMENT.sub(" ", f.read()))
    found, is_header = [], path.endswith(".h")  # what a header declares otherwise is defined in a file
    for directive in DIRECTIVE.findall(text):  # statics that a macro makes
        body = directive.replace("\\\n", " ").replace("##", "")
        for m in re.finditer(r"\bstatic\b", body):
            if not re.match(r"[^;{=]*\)\s*{", body[m.start() :]):  # a function
                found += variables(statement(body, m.start())[0])
    text = DIRECTIVE.sub("", text)
    at, begin = 0, 0
    while at < len(text):
        if text[at] == ";":
            declaration = statement(text, begin)[0].strip()
            if not (is_header and "static" not in declaration) and not re.match(r"typedef\b|extern\b|_Static_assert\b|static_assert\b|(struct|union|enum)\s*\w*\s*({}\s*)?$",
                            declaration):
                found += variables(declaration)
            begin = at = at + 1
        elif text[at] == "{":
            end, head = closing(text, at), text[begin:at]
            if head.rstrip().endswith(")") and "=" not in re.sub(r"\(.*\)", "", head, flags=re.S):  # a function
                for m in re.finditer(r"\b(?:static|_Thread_local)\b", text[at:end]):
                    found += variables(statement(text, at + m.start())[0])
                begin = end
            at = end
        elif text[at] == "(" and re.fullmatch(r"[A-Z][A-Z\d_]*", text[begin:at].strip()):  # a macro
            begin = at = closing(text, at)
        else:
            at += 1
    return found


listed, tops = sys.argv[1], sys.argv[2:]
files, types = {}, set()
with open(listed) as f:
    for line in f:
        m = re.match(r"\| *(any|`([\w/.]+)`) *\|([^|]*)\|", line)
        if m and m[1] == "any":
            types |= set(re.findall(r"`(\w+)`", m[3]))
        elif m:
            files.setdefault(m[2], set()).update(re.findall(r"`(\w+)`", m[3]))

bad, seen_types = 0, set()
for top, folder, names in [(top, folder, names) for top in tops for folder, _, names in sorted(os.walk(top))]:
    if os.path.relpath(folder, top).split(os.sep)[0] == "cli":
        continue
    for name in sorted(names):
        if not name.endswith((".c", ".h")):
            continue
        path = os.path.join(folder, name)
        short = os.path.relpath(path, top) if top == tops[0] else path
        wanted = files.pop(short, set())
        there = of_file(path)
        seen_types |= {k for k, _ in there if k in types}
        there = {n for k, n in there if k not in types}
        for n in sorted(there - wanted):
            print(f"{path}: {n} can change and is not in {listed}")
            bad += 1
        for n in sorted(wanted - there):
            print(f"{listed}: {short} has no {n} that can change")
            bad += 1
for short in sorted(files):
    print(f"{listed}: {short} is not there")
    bad += 1
for t in sorted(types - seen_types):
    print(f"{listed}: no variable has type {t}")
    bad += 1
sys.exit(1 if bad else 0)
