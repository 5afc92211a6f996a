"""Random classes of modules, scripted: attributes, submodules, properties, hooks, names that methods have as well.

    python3 random_modules.py FIRST COUNT [--torch]     a line of JSON for each: what eager and scripted calls gave

What PyTorch 1.13 gave for a sample is recorded in random_modules.json.gz; test_random_modules.py compares.
"""
import json
import linecache
import random
import sys
import warnings

from beside import torch

NAMES = ["items", "keys", "values", "append", "pad", "add", "size", "step", "copy", "pop", "get", "relu", "mul",
    "table",
         "weight", "scale", "count", "inner", "head", "bias", "clear", "index", "sum", "data", "split", "view"]


class Maker:
    """A module's class as a text."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.free = list(NAMES)
        self.rng.shuffle(self.free)
        self.body, self.init, self.methods, self.uses = [], [], [], []

    def name(self):
        return self.free.pop()

    def attribute(self):
        n, rng = self.name(), self.rng
        kind = rng.choice(["int", "float", "bool", "str", "ints", "table", "tuple", "tensor", "none", "final",
            "constant",
                           "parameter", "buffer", "tensors", "empty", "class"])
        value, use = {
            "int": (str(rng.randint(-3, 5)), "x + self.%s" % n),
            "float": (str(rng.choice([0.5, -1.25, 2.0])), "x * self.%s" % n),
            "bool": (rng.choice(["True", "False"]), "(x if self.%s else -x)" % n),
            "str": ("'%s'" % rng.choice(["ab", "", "xyz"]), "x + len(self.%s)" % n),
            "ints": ("[1, 2, 3]", rng.choice(["x + self.%s[1]", "x + len(self.%s)", "x * sum(self.%s)"]) % n),
            "table": ("{'a': 1, 'b': 2}", rng.choice(["x + self.%s['a']", "x + len(self.%s)",
                                                      "x + sum([v for v in self.%s.values()])"]) % n),
            "tuple": ("(1, 2.5)", "x + self.%s[%d]" % (n, rng.randint(0, 1))),
            "tensor": ("torch.full((2,), 1.5)", "x + self.%s" % n),
            "none": ("None", "(x if self.%s is None else x + 1)" % n),
            "final": ("3", "x + self.%s" % n), "constant": ("(1, 2)", "x + self.%s[0]" % n),
            "parameter": ("nn.Parameter(torch.full((2,), 0.5))", "x * self.%s" % n),
            "buffer": (None, "x - self.%s" % n),
            "tensors": ("[torch.ones(2), torch.zeros(2)]", "x + self.%s[0]" % n),
            "empty": ("[]", "x + len(self.%s)" % n), "class": (None, "x + self.%s" % n)}[kind]
        if kind == "final":
            self.body.append("%s: torch.jit.Final[int]" % n)
        if kind == "constant":
            self.body.append("__constants__ = ['%s']" % n)
        if kind == "class":
            self.body.append("%s = %d" % (n, rng.randint(1, 4)))
        elif kind == "buffer":
            self.init.append("self.register_buffer('%s', torch.full((2,), 0.25))" % n)
        else:
            self.init.append("self.%s = %s" % (n, value))
        if kind == "empty" and rng.random() < 0.7:
            self.body.append("%s: List[int]" % n)
        self.uses.append("x = %s" % use)
        if kind in ("int", "tensor", "buffer") and rng.random() < 0.3:
            self.uses.append("self.%s = self.%s + 1" % (n, n))

    def submodule(self):
        n, kind = self.name(), self.rng.choice(["linear", "list", "dict", "sequential", "own", "parameters", "none"])
        value, use = {
            "linear": ("Fixed(2, 2)", ["x = self.%s(x)" % n]),
            "list": ("nn.ModuleList([Fixed(2, 2), nn.ReLU()])", self.rng.choice([
                ["for layer in self.%s:" % n, "    x = layer(x)"], ["x = self.%s[1](x)" % n],
                ["for i, layer in enumerate(self.%s):" % n, "    x = layer(x) + i"], ["x = x + len(self.%s)" % n]])),
            "dict": ("nn.ModuleDict({'a': Fixed(2, 2), 'b': nn.ReLU()})", self.rng.choice([
                ["for key, layer in self.%s.items():" % n, "    x = layer(x) + len(key)"],
                ["for layer in self.%s.values():" % n, "    x = layer(x)"], ["x = self.%s['b'](x)" % n],
                ["if 'a' in self.%s:" % n, "    x = x + 1"]])),
            "sequential": ("nn.Sequential(Fixed(2, 2), nn.ReLU())", self.rng.choice([
                ["x = self.%s(x)" % n], ["for layer in self.%s:" % n, "    x = layer(x)"]])),
            "own": ("Own()", self.rng.choice([["x = self.%s(x)" % n], ["x = self.%s.extra(x)" % n],
                                              ["x = x + self.%s.count" % n]])),
            "parameters": ("nn.ParameterList([nn.Parameter(torch.ones(2))])", ["for p in self.%s:" % n,
                "    x = x + p"]),
            "none": ("None", ["if self.%s is not None:" % n, "    x = x + 1"])}[kind]
        self.init.append("self.%s = %s" % (n, value))
        self.uses += use

    def method(self):
        n, kind = self.name(), self.rng.choice(["plain", "plain", "typed", "static", "property", "ignored", "unused",
                                                "exported", "python"])
        lines = {
            "plain": ["def %s(self, x):" % n, "    return x + 1"],
            "typed": ["def %s(self, x: torch.Tensor, n: int = 2) -> torch.Tensor:" % n, "    return x * n"],
            "static": ["@staticmethod", "def %s(x):" % n, "    return x - 1"],
            "property": ["@property", "def %s(self) -> int:" % n, "    return 2"],
            "ignored": ["@torch.jit.ignore", "def %s(self, x: torch.Tensor) -> torch.Tensor:" % n,
                "    return x * 3"],
            "unused": ["@torch.jit.unused", "def %s(self, x):" % n, "    return any(x for _ in [])"],
            "exported": ["@torch.jit.export", "def %s(self, x):" % n, "    return x * 0.5"],
            "python": ["def %s(self, *args, **kwargs):" % n, "    yield args"]}[kind]
        self.methods += lines
        if kind == "property":
            self.uses.append("x = x + self.%s" % n)
        elif kind not in ("unused", "python") and self.rng.random() < 0.8:
            self.uses.append("x = self.%s(x)" % n)

    def text(self):
        for _ in range(self.rng.randint(0, 4)):
            self.attribute()
        for _ in range(self.rng.randint(0, 2)):
            self.submodule()
        for _ in range(self.rng.randint(0, 4)):
            self.method()
        lines = ["class Made(%s):" % self.rng.choice(["nn.Module", "nn.Module", "Base"])]
        lines += ["    " + line for line in self.body]
        lines += ["    def __init__(self):", "        super().__init__()"] + ["        " + line for line in self.init]
        lines += ["    " + line for line in self.methods]
        lines += ["    def forward(self, x):"] + ["        " + line for line in self.uses] + ["        return x"]
        return "\n".join(lines) + "\n"


COMMON = '''
class Fixed(nn.Linear):
    def __init__(self, a, b):
        super().__init__(a, b)
        with torch.no_grad():
            self.weight.fill_(0.5)
            self.bias.fill_(0.125)

class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 4
    def extra(self, x):
        return x + self.count
    def forward(self, x):
        return self.extra(x) * 2

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = 2
    def helper(self, x):
        return x + self.base
'''


def outcome(call):
    try:
        return [round(number, 4) for number in call().tolist()]
    except Exception:  # noqa: BLE001, that there is one is what is compared
        return "error"


def run(seed):
    """[eager, scripted, scripted once more]"""
    text = COMMON + Maker(seed).text()
    name = "<random module %d>" % seed
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    from typing import List
    space = {"torch": torch, "nn": torch.nn, "List": List, "__name__": "random_%d" % seed}
    exec(compile(text, name, "exec"), space)  # noqa: S102, the text is this file's own
    module = sys.modules[space["__name__"]] = type(sys)(space["__name__"])
    vars(module).update(space)
    x = torch.tensor([1.0, -2.0])
    eager = outcome(lambda: space["Made"]()(x))
    try:
        scripted = torch.jit.script(space["Made"]())
    except Exception:  # noqa: BLE001
        return [eager, "refused", "refused"]
    return [eager, outcome(lambda: scripted(x)), outcome(lambda: scripted(x))]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for number in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        print(json.dumps([number] + run(number)), flush=True)
