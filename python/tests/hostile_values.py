"""Arguments that no operator wants: wrong types, numbers out of range, objects that lie about themselves, that raise
when they are asked, and that change what the call still needs while they are converted."""
import array
import os

import wick

CALLS = int(os.environ.get("WICK_HOSTILE_CALLS", "2000"))
SEED = int(os.environ.get("WICK_HOSTILE_SEED", "1"))
# What ends the process, writes to files, opens libraries, prints, or may take any time or memory by its arguments.
LEFT_OUT = ("exit", "save", "load", "from_file", "print", "breakpoint", "warn", "wait", "fork", "sleep",
            "set_num_threads", "manual_seed")


class LiesAboutLength(list):
    def __len__(self):
        return 10 ** 6


class Sequence:
    """A sequence that is no list: its length, its items and its iterator are what the test says."""

    def __init__(self, length, item, iterator=None):
        self.length, self.item, self.iterator = length, item, iterator

    def __len__(self):
        return self.length()

    def __getitem__(self, index):
        return self.item(index)

    def __iter__(self):
        return self.iterator() if self.iterator else iter([1, 2])


def fails(*args):
    raise ValueError("hostile")


def sequences():
    """One of each kind of lie."""
    return [
        LiesAboutLength([1, 2]), Sequence(lambda: 2, fails), Sequence(fails, lambda i: i),
        Sequence(lambda: -1, fails), Sequence(lambda: "two", fails), Sequence(lambda: 10 ** 30, lambda i: 0),
        Sequence(lambda: 0, lambda i: 1),
        Sequence(lambda: 2, lambda i: i, fails), Sequence(lambda: 2, lambda i: i, lambda: iter([1, 2, 3])),
        Sequence(lambda: 2, lambda i: i, lambda: 7), Sequence(lambda: 2, lambda i: [1] * i), Endless(),
    ]


class Endless:
    """A sequence whose first item is a sequence again, and so on."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return Endless()

    def __iter__(self):
        return iter([Endless()])


class Number:
    """Converts to numbers by calling `turn`, which may do anything first."""

    def __init__(self, turn):
        self.turn = turn

    def __index__(self):
        return self.turn()

    def __int__(self):
        return self.turn()

    def __float__(self):
        return self.turn()

    def __complex__(self):
        return self.turn()

    def __bool__(self):
        return self.turn()


class Int(int):
    def __index__(self):
        raise ValueError("hostile")


class Text(str):
    def __eq__(self, other):
        raise ValueError("hostile")

    __hash__ = None


def numbers(made):
    """Objects that raise, give what no number is, or change the tensors of `made` and the lists they stand in."""
    def then(change):
        def turn():
            try:
                change()
            except Exception:
                pass
            return 1
        return Number(turn)

    def standing(change):
        home = [1, 2, 3]
        home[1] = then(lambda: change(home))
        return home

    x = wick.ones(2, 3)
    made.append(x)  # that others may be called with it
    empty = wick.empty(0)
    return [
        Number(fails), Number(lambda: "1"), Number(lambda: 2 ** 70), Number(lambda: 1), Number(lambda: None),
        Int(1), True, then(lambda: setattr(x, "data", empty)), then(lambda: x.resize_(0)),
        then(lambda: x.resize_(64, 64)), then(lambda: x.set_()), then(lambda: x.t_()), then(lambda: made.clear()),
        standing(lambda home: home.clear()), standing(lambda home: home.extend([1] * 50)),
        standing(lambda home: home.__setitem__(slice(None), [wick.ones(2)] * 3)),
        [x, then(lambda: x.set_()), x], (x, standing(lambda home: home.clear())),
    ]


def buffers():
    held = bytearray(b"12345678")
    return [array.array("f", [1, 2]), array.array("u", "ab"), array.array("d"), memoryview(held)[::-2],
            memoryview(held).cast("d"), memoryview(held).cast("B", (2, 2, 2)), memoryview(b""), held, b"bytes"]


def nested():
    """Lists that hold themselves, deep ones, a dict that holds itself."""
    deep, itself, table = 1, [], {}
    for _ in range(100):
        deep = [deep]
    itself.append(itself)
    table["self"] = table
    return [deep, itself, (itself,), table]


def tensors():
    return [
        wick.ones(2, 3), wick.arange(6).reshape(2, 3), wick.tensor(1.5), wick.tensor(True), wick.empty(0),
        wick.ones(2, 3, requires_grad=True), wick.ones(3, 2).t(), wick.tensor([1 + 2j, 3]).conj(),
        wick.ones(2, 3, dtype=wick.float16), wick.ones(1, 2, 4, 4), wick.tensor([float("nan"), float("inf")]),
        wick.zeros(2, dtype=wick.int64), wick.ones(1).expand(4), wick.empty(2, 0, 3, dtype=wick.uint8),
        wick.zeros(2, 3, dtype=wick.bool), wick.eye(3).to_sparse(), wick.empty(2, 3, device="meta"),
        wick.ones(5000), wick.randn(1, 1, 1, 1, 1, 2),
        wick.quantize_per_tensor(wick.ones(2, 3, dtype=wick.float32), 0.1, 0, wick.quint8),
    ]


def values(rng, made):
    """An argument: half of the time one that may be right."""
    pick = rng.random()
    if pick < 0.45 and made:
        return rng.choice(made)
    if pick < 0.6:
        return rng.choice([0, 1, -1, 2, 3])
    if pick < 0.7:
        return rng.choice(rng.choice([sequences(), numbers(made), buffers(), nested()]))
    return rng.choice([
        -2 ** 63, 2 ** 63 - 1, 2 ** 63, 2 ** 200, 0.5, -0.0, float("nan"), float("inf"), 1j, True, False, None, "cpu",
        "mean", "\ud800", "a\0b", Text("cpu"), [], [1, 2], (0,), [1, None], [wick.ones(2), wick.ones(2)],
        [rng.choice(made or [1])], {}, {"a": 1}, object(), wick.float32, wick.int64, wick.strided, wick.device("cpu"),
        wick.Generator(), int, float, slice(1), ..., [[1], [2, 3]], range(3), 1000, -10 ** 9, NotImplemented, type,
        wick.Size([1, 2]), lambda *given: given, wick.Tensor, iter([1, 2]), {1, 2},
    ])


def operator_names():
    """The names of aten's operators that may be called with anything."""
    return sorted(name for name in wick._C.operator_names()
                  if name.startswith("aten::") and not any(word in name for word in LEFT_OUT))
