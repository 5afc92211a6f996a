"""Random programs of subscripts, read, written and written in place, run eagerly, scripted and traced.

    subscripts.py COUNT SEED            one line for each program: what it gives, in the package that runs this
    subscripts.py --one SEED NUMBER     the same of one of them
    subscripts.py --show SEED NUMBER    its text

With --torch it is PyTorch, else wick. The same seed makes the same programs in both, so that the lines can be
compared (test_random_subscripts.py compares 200 with those recorded from PyTorch 1.13, and anew where that is).
"""
import json
import os
import random
import sys
import warnings

DTYPES = ("float32", "float32", "float64", "int64", "bool", "uint8")


class Program:
    """One program: its text, and the tensors that it is given."""

    def __init__(self, seed, number):
        self.random = random.Random("%d:%d" % (seed, number))
        ndim = self.random.choice((1, 1, 2, 2, 3, 3, 4))
        self.shape = [self.random.choice((1, 2, 2, 3, 3, 4, 4, 5)) for _ in range(ndim)]
        if self.random.random() < 0.04:
            self.shape[self.random.randrange(len(self.shape))] = 0
        self.dtype = self.random.choice(DTYPES)
        self.tensors = []  # (name, sizes, values, dtype)
        self.kind = self.random.choice(("read", "read", "seen", "write", "write", "write", "in place", "in place",
                                        "chain", "chain write", "size"))
        index = self.index(self.shape)
        self.text = self.program(index)

    # ---- an index ----

    def index(self, shape):
        """The text of an index for a tensor of that shape; now and then one that does not fit."""
        parts, dim, ellipsis = [], 0, False
        for _ in range(self.random.choice((1, 1, 2, 2, 3, 4))):
            choice = self.random.random()
            if choice < 0.1:
                parts.append("None")
            elif choice < 0.2 and not ellipsis:
                parts.append("...")
                ellipsis = True
                dim = max(dim, len(shape) - self.random.randrange(len(shape) + 1))
            elif dim < len(shape) or self.random.random() < 0.1:
                size = shape[dim] if dim < len(shape) else 2
                text, used = self.part(size, shape[dim:])
                parts.append(text)
                dim += used
        if not parts or parts == ["..."]:  # torch compiles no subscript that is "..." alone
            parts.append(":")
        return ", ".join(parts)

    def part(self, size, rest):
        choice = self.random.random()
        if choice < 0.25:
            return str(self.position(size)), 1
        if choice < 0.6:
            return self.slice(size), 1
        if choice < 0.8:
            return self.positions(size), 1
        if choice < 0.9:
            return self.mask(rest)
        if choice < 0.94:
            return "[%s]" % ", ".join(str(self.position(size)) for _ in range(self.random.choice((1, 2, 3)))), 1
        return self.tensor([], [self.position(size)], "int64"), 1

    def position(self, size):
        if self.random.random() < 0.02:
            return size + 1
        return self.random.randrange(-size, size) if size else 0

    def slice(self, size):
        def end():
            return self.random.choice(("", "", str(self.random.randrange(-size - 1, size + 2))))
        step = self.random.choice(("", "", "", ":2", ":1", ":3"))
        return "%s:%s%s" % (end(), end(), step)

    def positions(self, size):
        shape = self.random.choice(([1], [2], [2], [3], [2, 1], [1, 2], [2, 2], [0]))
        count = 1
        for n in shape:
            count *= n
        return self.tensor(shape, [self.position(size) for _ in range(count)], "int64")

    def mask(self, rest):
        shape = list(rest[:self.random.choice((1, 1, 1, 2, 3))]) or [2]
        if self.random.random() < 0.03:
            shape[0] += 1
        count = 1
        for n in shape:
            count *= n
        return self.tensor(shape, [self.random.randrange(2) for _ in range(count)], "bool"), len(shape)

    def tensor(self, shape, values, dtype):
        name = "t%d" % len(self.tensors)
        self.tensors.append((name, shape, values, dtype))
        return name

    # ---- what is done with it ----

    def value(self):
        choice = self.random.random()
        if choice < 0.4:
            return self.random.choice(("7", "-1", "2", "0", "2.5" if self.dtype.startswith("float") else "3"))
        shape = self.random.choice(([], [1], [2], [3], [1, 1], [2, 1], [1, 3], list(self.shape)))
        count = 1
        for n in shape:
            count *= n
        dtype = self.random.choice((self.dtype, self.dtype, "float32", "int64"))
        return self.tensor(shape, [self.random.randrange(9) for _ in range(count)], dtype)

    def program(self, index):
        lines = {
            "read": lambda: ["r = y[%s]" % index, "return r, y"],
            "seen": lambda: ["r = y[%s]" % index, "r.fill_(9)", "return r, y"],
            "write": lambda: ["y[%s] = %s" % (index, self.value()), "return y, y"],
            "in place": lambda: ["y[%s] %s %s" % (index, self.random.choice(("+=", "*=", "-=")), self.value()),
                                 "return y, y"],
            "chain": lambda: ["r = y[%s][%s]" % (index, self.index(self.shape)), "return r, y"],
            "chain write": lambda: ["y[%s][%s] = %s" % (self.simple(), self.simple(), self.value()), "return y, y"],
            "size": lambda: ["r = y[%s, y.size(%d) - 1]" % (
                ", ".join([":"] * (len(self.shape) - 1)) or "None", len(self.shape) - 1), "return r, y"],
        }[self.kind]()
        names = ", ".join(["x"] + [name for name, _, _, _ in self.tensors])
        return "def f(%s):\n%s" % (names, "".join("    %s\n" % line for line in ["y = x.clone()"] + lines))

    def simple(self):
        return self.random.choice((self.slice(self.shape[0]), str(self.position(self.shape[0]))))

    def inputs(self, torch, other=False):
        """The tensors; `other`: with other values in x."""
        count = 1
        for n in self.shape:
            count *= n
        x = torch.arange(count).reshape(self.shape) + (5 if other else 1)
        made = [(x % 2 == 0) if self.dtype == "bool" else x.to(getattr(torch, self.dtype))]
        for _, shape, values, dtype in self.tensors:
            made.append(torch.tensor(values, dtype=torch.int64).reshape(shape).to(getattr(torch, dtype)))
        return made


def told(run):
    """What it gives, or the class of its error. Strides of tensors without elements are left out."""
    try:
        results = run()
    except Exception as error:  # noqa: B902
        names = [cls.__name__ for cls in type(error).__mro__]
        return next(name for name in names if name in ("IndexError", "TypeError", "ValueError", "NotImplementedError",
                                                       "RuntimeError", "Exception"))
    return [[str(r.dtype), list(r.shape), list(r.stride()) if r.numel() else None, r.flatten().tolist()]
            for r in results]


def outcome(torch, program):
    """What the program gives eagerly, scripted, traced with other values."""
    names = {"torch": torch, "__name__": "program"}
    exec(program.text, names)
    eager = told(lambda: names["f"](*program.inputs(torch)))
    scripted = told(lambda: torch.jit.CompilationUnit(program.text).f(*program.inputs(torch)))
    traced = told(lambda: torch.jit.trace(names["f"], tuple(program.inputs(torch)), check_trace=False)(
        *program.inputs(torch, True)))
    def plain(outcome):
        return outcome if isinstance(outcome, list) else "error"
    reads = program.kind in ("read", "seen", "chain", "size")  # of what is wrong twice, either may be told
    return {"eager": eager if reads else plain(eager), "script": plain(scripted), "trace": plain(traced)}


def main(arguments):
    if arguments[:1] == ["--torch"]:
        arguments = arguments[1:]
        import torch
    else:
        import wick as torch
    warnings.simplefilter("ignore")
    if arguments[0] == "--show":
        program = Program(int(arguments[1]), int(arguments[2]))
        print(program.text, program.inputs(torch))
        return
    if arguments[0] == "--one":
        print(json.dumps(outcome(torch, Program(int(arguments[1]), int(arguments[2])))))
        return
    count, number = int(arguments[0]), 0
    while number < count:
        for line in told_by_child(torch, int(arguments[1]), range(number, count)):
            print(line)
            number += 1
        if number < count:  # the one that the child ended at
            print('"ended"')
            number += 1


def told_by_child(torch, seed, numbers):
    """What the programs give, in a process of its own: there are subscripts that end PyTorch."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.close(here)
        with os.fdopen(there, "w") as out:
            for number in numbers:
                print(json.dumps(outcome(torch, Program(seed, number))), file=out, flush=True)
        os._exit(0)
    os.close(there)
    with os.fdopen(here) as answer:
        yield from (line.rstrip("\n") for line in answer)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
