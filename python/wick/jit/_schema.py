"""Schemas of programs' functions as Python sees them: parameters with their types, read from the schema's text."""

import functools


class Kind:
    """A type: its name (List, Optional, Tuple, Dict, Union, Future, or a plain one) and the types within."""

    def __init__(self, name, *parts):
        self.name, self.parts = name, parts

    def __str__(self):
        if not self.parts:
            return "Tuple[()]" if self.name == "Tuple" else self.name
        return "%s[%s]" % (self.name, ", ".join(map(str, self.parts)))


class Schema:
    """The parameters of a function: pairs of a name and a Kind; `has_default` of each."""

    def __init__(self, parameters, has_default, positional):
        self.parameters, self.has_default = parameters, has_default
        self.positional = positional  # how many may be given without their names

    @property
    def names(self):
        return [name for name, _ in self.parameters]


class _Reader:
    def __init__(self, text, at):
        self.text, self.at = text, at

    def skip(self):
        while self.text[self.at] == " ":
            self.at += 1

    def took(self, token):
        self.skip()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def word(self):
        self.skip()
        start = self.at
        while self.text[self.at].isalnum() or self.text[self.at] in "_.$<>":
            self.at += 1
        if start == self.at:
            raise ValueError("a name is missing at character %d of %s" % (start, self.text))
        return self.text[start:self.at]

    def kinds(self):
        """Those between brackets, the first of which was read."""
        parts = []
        while not self.took(")"):
            parts.append(self.kind())
            self.took(",")
        return parts

    def kind(self):
        if self.took("("):
            kind = Kind("Tuple", *self.kinds())
        else:
            name = self.word()
            kind = Kind({"NoneType": "None", "number": "Scalar"}.get(name, name))
            if name == "Tensor" and self.took("("):  # of aliasing
                self.at = self.text.index(")", self.at) + 1
            elif self.took("("):
                kind = Kind(name, *self.kinds())
        while True:
            if self.took("?"):
                kind = Kind("Optional", kind)
            elif self.took("["):
                self.at = self.text.index("]", self.at) + 1
                kind = Kind("List", kind)
            else:
                return kind

    def default(self):
        """To the comma or the bracket that ends it."""
        depth, quote = 0, None
        while True:
            c = self.text[self.at]
            if quote:
                self.at += c == "\\"
                quote = None if c == quote else quote
            elif c in "\"'":
                quote = c
            elif c in "([{":
                depth += 1
            elif not depth and c in ",)":
                return
            elif c in ")]}":
                depth -= 1
            self.at += 1


@functools.lru_cache(256)
def result(text):
    """The Kind of what a function with that schema gives."""
    reader = _Reader(text + "\n", text.index(") -> ") + 5)
    kind = reader.kind()
    return kind.parts[0] if kind.name == "Tuple" and len(kind.parts) == 1 else kind  # results stand in brackets


@functools.lru_cache(256)
def parse(text):
    """The Schema of `name(parameters) -> results`."""
    reader = _Reader(text, text.index("(") + 1)
    parameters, has_default, positional = [], [], None
    while not reader.took(")"):
        if reader.took("*"):
            positional = len(parameters)
        else:
            kind = reader.kind()
            parameters.append((reader.word(), kind))
            has_default.append(reader.took("="))
            if has_default[-1]:
                reader.default()
        reader.took(",")
    return Schema(parameters, has_default, len(parameters) if positional is None else positional)
