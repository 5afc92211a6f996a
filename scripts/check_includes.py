#!/usr/bin/env python3
"""Includes say what is used: no file includes a header of which it uses nothing, headers do not include each other in
circles, and a .c file sees few of them.

usage: check_includes.py src
A header gives what it declares itself: macros, types with their members, enumerators, functions, variables. A type that
is only named (`typedef struct Exec Exec; /* call/exec.h */`) is that other header's. Headers without `#pragma once` are
text for others, so nothing is asked of them or of who includes one; nor of an include that says what it is for.
"""
import collections, os, re, statistics, sys

MEDIAN = 15  # of the headers, its own and theirs, that a .c file sees
SEEN_BY = {"call/row.h": 160, "call/row_extras.h": 100}  # at most so many .c files: one in four rebuilds, one in six
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'")
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
NAMED_ONLY = re.compile(r"^typedef [^\n;]*; */\* [\w/]*\.h[^\n]*", re.M)
WORD = re.compile(r"[A-Za-z_]\w*")


def bare(text):
    """Without comments, and with nothing in strings."""
    return STRING.sub('""', COMMENT.sub(" ", text)).replace('extern "" {', "")


def declared(text):
    """(names, members of types, beginnings of names that an X-macro makes)."""
    plain = bare(NAMED_ONLY.sub("", text))
    names = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", plain, re.M)) - {"X"}
    starts = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+X\([^)]*\)[ \t]+(?:extern const \w+ )?(\w+_)##", plain, re.M))
    names |= set(re.findall(r"\bX\((\w+)", plain))  # rows of such a macro that are names themselves
    text, depth, begin, members = DIRECTIVE.sub("", plain), 0, 0, set()
    for at, c in enumerate(text + ";"):
        head = text[begin:at].split("{")[0]
        if c in "{(":
            if depth == 0 and c == "(":
                names |= set(WORD.findall(text[begin:at])[-1:])  # a function, or a typedef of one
            depth += 1
        elif c in "})":
            depth -= 1
            if c == "}" and depth == 0 and ")" in head and "typedef" not in head:
                begin = at + 1  # a function's body
            elif c == "}" and "=" not in head and ")" not in head:
                inner = set(re.findall(r"(\w+)\s*(?:\[[^]]*\]\s*)?[;,=:}]", text[begin:at + 1]))
                if re.search(r"\benum\b", head):
                    names |= inner
                else:
                    members |= inner
        elif c == ";" and depth == 0:
            tail = text[begin:at].rpartition("}")[2].rstrip()
            if "(" not in tail and not re.match(r"\s*(?:struct|union|enum)\s+\w+$", tail):
                names |= set(re.findall(r"(\w+)\s*(?:\[[^]]*\]\s*)*(?:,|$)", tail))
            names |= set(re.findall(r"^\s*(?:typedef\s+)?(?:struct|union|enum)\s+(\w+)\s*\{", text[begin:at]))
            names |= set(re.findall(r"\(\s*\*\s*(\w+)\s*\)\s*\(", tail))
            begin = at + 1
    return names, members, starts


class House:
    def __init__(self, top):
        self.text = {}
        for root in (top, os.path.join(os.path.dirname(os.path.abspath(top)), "include")):
            for folder, _, names in os.walk(root):
                for name in names:
                    if name.endswith((".c", ".h")):
                        path = os.path.join(folder, name)
                        with open(path) as f:
                            self.text[os.path.relpath(path, root)] = f.read()
        self.includes = {path: INCLUDE.findall(text) for path, text in self.text.items()}
        self.gives = {path: declared(text) for path, text in self.text.items() if path.endswith(".h")}
        self.seen = {}
        self.members = collections.defaultdict(set)  # of types: the headers that have one of that name
        for path, (_, members, _) in self.gives.items():
            for member in members:
                self.members[member].add(path)

    def sees(self, path):
        if path not in self.seen:
            self.seen[path] = set()  # in a circle: what is found once more
            self.seen[path] = set().union(*({header} | self.sees(header) for header in self.includes.get(path, ())))
        return self.seen[path]

    def circle(self, path, way=(), done=None):
        """The headers of a circle that starts from here, or ()."""
        done = set() if done is None else done
        if path in way:
            return way[way.index(path):]
        if path not in done:
            done.add(path)
            for header in self.includes.get(path, ()):
                found = self.circle(header, way + (path,), done)
                if found:
                    return found
        return ()

    def is_text(self, header):
        return header not in self.gives or "#pragma once" not in self.text[header] and not header.startswith("wick/")

    def is_contents(self, header):
        """A folder's own header, which lists the others."""
        return os.path.basename(header)[:-2] == os.path.basename(os.path.dirname(header))

    def is_own(self, path, header):
        return os.path.dirname(path) == os.path.dirname(header) and os.path.basename(path).startswith(os.path.basename(header)[:-2])

    def uses(self, path, header):
        names, members, starts = self.gives[header]
        text = re.sub(r"^[ \t]*#[ \t]*include[^\n]*", "", bare(self.text[path]), flags=re.M)
        words = set(WORD.findall(text))
        if words & names or any(word.startswith(start) for start in starts for word in words):
            return True
        pasted = set(re.findall(r"(\w+_)##", text)) | {word + "_" for word in re.findall(r"PROCESSOR_\w*FORMS?\((\w+)\)", text)}
        if any(name.startswith(word) for word in pasted for name in names):
            return True
        # a member tells a type where few other types that are seen have one of that name
        asked = set(re.findall(r"(?:\.|->)\s*(\w+)", text)) & members
        return any(len(self.members[member] & self.sees(path)) <= 3 for member in asked)

    def unused(self, path):
        if path.endswith(".h") and (self.is_text(path) or self.is_contents(path)) or any(map(self.is_text, self.includes[path])):
            return []
        return [header for header in self.includes[path]
                if not self.is_contents(header) and not self.is_own(path, header) and not self.uses(path, header)
                and f'"{header}" /*' not in self.text[path]]


def main(top):
    house, problems = House(top), []
    ours = sorted(path for path in house.text if not path.startswith("wick/"))
    for path in ours:
        problems += [f"{os.path.join(top, path)}: includes {header} and uses nothing of it" for header in house.unused(path)]
    circle = next(filter(None, map(house.circle, ours)), ())
    if circle:
        problems.append("headers include each other: " + " -> ".join(circle + circle[:1]))
    units = [path for path in ours if path.endswith(".c")]
    median = statistics.median(len(house.sees(path)) for path in units)
    if median > MEDIAN:
        problems.append(f"the median .c file sees {median:g} headers, {MEDIAN} at most")
    figures = [f"the median .c file sees {median:g} headers of {len(house.gives)}"]
    for header, most in SEEN_BY.items():
        count = sum(header in house.sees(path) for path in units)
        figures.append(f"{header} is seen by {count} of {len(units)}")
        if count > most:
            problems.append(f"{header} is seen by {count} .c files, {most} at most")
    print("\n".join(problems) if problems else "; ".join(figures))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
