#!/usr/bin/env python3
"""Records tests/library/tokenizer.io.pt: what a RegexTokenizer of torchtext makes of lines, by Python's re, whose patterns are taken here
from what means the same to RE2; and tokenizer_module.pt, an archive of a module with one (stand_in.py), with calls of it.

usage: record_tokenizer.py [SEED TIMES FILE]   with numbers: more cases, of patterns made by chance, into FILE
"""
import os, random, re, sys, torch
from typing import List, Tuple
from stand_in import save_with_native

BASIC = [(r"\'", " '  "), (r"\"", ""), (r"\.", " . "), (r"<br \/>", " "), (r",", " , "), (r"\(", " ( "), (r"\)", " ) "), (r"\!", " ! "),
         (r"\?", " ? "), (r"\;", " "), (r"\:", " "), (r"\s+", " ")]
LINES = ["You can now install TorchText using pip!", "It's (really) \"good\"...<br />Über, 12:30; née?", "", "  \t\n ", "aaa abab xyz foo_bar 1,234.5"]
calls = []


def tokens_of(pairs, lower, lines):
    found = []
    for line in lines:
        if lower:
            line = re.sub("[A-Z]", lambda m: m[0].lower(), line)
        for pattern, replacement in pairs:
            pattern = pattern.replace("$", r"\Z")  # which is RE2's: not before a last newline
            line = re.sub(pattern, lambda m: re.sub(r"\\(\d)", lambda d: m[int(d[1])] or "", replacement), line, flags=re.ASCII)
        found.append([t for t in line.split(" ") if t])
    return found


def call(pairs, lower, lines):
    patterns, replacements, found = [p for p, _ in pairs], [r for _, r in pairs], tokens_of(pairs, lower, lines)
    calls.append({"method": "tokens", "args": (patterns, replacements, lower, list(lines)), "kwargs": {}, "output": found})


def pattern(depth):
    """Of one or more characters, so that no match is empty."""
    kind = random.randrange(9 if depth else 4)
    if kind < 4:
        return random.choice(["a", "b", "ab", r"\d", r"\w", r"\s", "[a-c]", "[^ab ]", "é", ".", r"\.", r"[\d_.-]", r"\x61", "[]x]"])
    inner = pattern(depth - 1)
    if kind == 4:
        return f"({inner})+"
    if kind == 5:
        return f"(?:{inner}|{pattern(depth - 1)})"
    if kind == 6:
        return f"{inner}(?:{pattern(depth - 1)}){random.choice(['*', '?', '*?', '??', '{0,2}', '{2}', '{1,}?'])}"
    if kind == 7:
        return random.choice([r"\b%s", r"%s\b", "^%s", "%s$", r"\B%s"]) % inner
    return f"({inner})({pattern(depth - 1)})"


if len(sys.argv) > 1:
    random.seed(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        chosen = pattern(4)
        groups = re.compile(chosen).groups
        lines = ["".join(random.choice("aabbcx1 é._\n") for _ in range(random.randrange(14))) for _ in range(4)]
        call([(chosen, random.choice(["<>", r"[\0]", "", r"\1-" if 0 < groups < 10 else "-"]))], False, lines)
else:
    call(BASIC, True, LINES)
    call(BASIC[:3], False, LINES)
    call([(r"(\w+)@(\w+)\.com", r"\2 at \1"), (r"a|ab", "x"), (r"(a|b)*?c", r"<\0>")], False, ["me@here.com", "abc aabbc c", "ab"])
    call([(r"(?:ab){2,3}", "T"), (r"[^\w\s]", " "), (r"^\s+|\s+$", ""), (r"\bx{1,}\b", r"\0\0")], False, ["ababab abab ab", "x xx yx, x!", "é-ü"])
    call([], True, LINES)


class RegexTokenizer:
    def __init__(self, patterns: List[str], replacements: List[str], to_lower: bool):
        self.patterns = patterns
        self.replacements = replacements
        self.to_lower = to_lower

    def forward(self, line: str) -> List[str]:
        return [line]

    def __getstate__(self) -> Tuple[List[str], List[str], bool]:
        return self.patterns, self.replacements, self.to_lower

    def __setstate__(self, state: Tuple[List[str], List[str], bool]):
        self.patterns = state[0]
        self.replacements = state[1]
        self.to_lower = state[2]


RegexTokenizer = torch.jit.script(RegexTokenizer)


class Tokenizer(torch.nn.Module):
    def __init__(self, pairs, lower: bool):
        super().__init__()
        self.tokenizer = RegexTokenizer([p for p, _ in pairs], [r for _, r in pairs], lower)

    def forward(self, lines: List[str]):
        found: List[List[str]] = []
        for line in lines:
            found.append(self.tokenizer.forward(line))
        return found, self.tokenizer.__getstate__()


def record_module(folder):
    save_with_native(torch.jit.script(Tokenizer(BASIC, True).eval()), "RegexTokenizer", os.path.join(folder, "tokenizer_module.pt"))
    state = ([p for p, _ in BASIC], [r for _, r in BASIC], True)
    made = [{"method": "forward", "args": (lines,), "kwargs": {}, "output": (tokens_of(BASIC, True, lines), state)} for lines in (LINES, ["A.B", ""])]
    torch.save({"wick_io": 1, "entry": "forward", "calls": made}, os.path.join(folder, "tokenizer_module.io.pt"))


if len(sys.argv) == 1:
    record_module(os.path.dirname(os.path.abspath(__file__)))
torch.save({"wick_io": 1, "entry": "tokens", "calls": calls}, sys.argv[3] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizer.io.pt"))
