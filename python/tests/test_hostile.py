"""Random calls with hostile arguments: a result or an exception, never a crash; reference counts stay balanced;
memory stays flat; threads.

WICK_HOSTILE_CALLS says how many calls (2,000), WICK_HOSTILE_SEED where they begin."""
import gc
import os
import random
import sys
import threading
import unittest
import warnings

import wick

CALLS = int(os.environ.get("WICK_HOSTILE_CALLS", "2000"))
SEED = int(os.environ.get("WICK_HOSTILE_SEED", "1"))
# What ends the process, writes to files, opens libraries, prints, or may take any time or memory by its arguments.
LEFT_OUT = ("exit", "save", "load", "from_file", "print", "breakpoint", "warn", "wait", "fork", "sleep",
            "set_num_threads", "manual_seed")


class LiesAboutLength(list):
    def __len__(self):
        return 10 ** 6


class FailsAsIndex:
    def __index__(self):
        raise ValueError("no index")

    def __float__(self):
        raise ValueError("no float")


class ChangesList:
    """Empties the list that it stands in while it is converted."""

    def __init__(self, home):
        self.home = home

    def __index__(self):
        self.home.clear()
        return 1


def changing_list():
    made = [1, 2, 3]
    made[1] = ChangesList(made)
    return made


def tensors():
    return [
        wick.ones(2, 3), wick.arange(6).reshape(2, 3), wick.tensor(1.5), wick.tensor(True), wick.empty(0),
        wick.ones(2, 3, requires_grad=True), wick.ones(3, 2).t(), wick.tensor([1 + 2j, 3]).conj(),
        wick.ones(2, 3, dtype=wick.float16), wick.ones(1, 2, 4, 4), wick.tensor([float("nan"), float("inf")]),
        wick.zeros(2, dtype=wick.int64), wick.ones(1).expand(4), wick.empty(2, 0, 3, dtype=wick.uint8),
    ]


def values(rng, made):
    pick = rng.random()
    if pick < 0.45:
        return rng.choice(made)
    if pick < 0.6:
        return rng.choice([0, 1, -1, 2, 3])
    return rng.choice([
        -2 ** 63, 2 ** 63 - 1, 2 ** 63, 2 ** 200, 0.5, -0.0, float("nan"), float("inf"), 1j, True, False, None, "cpu",
        "mean", "\ud800", b"bytes", [], [1, 2], (0,), [1, None], [wick.ones(2), wick.ones(2)], [rng.choice(made)], {},
        {"a": 1}, object(), wick.float32, wick.int64, wick.strided, wick.device("cpu"), wick.Generator(), int, float,
        slice(1), ..., LiesAboutLength([1, 2]), FailsAsIndex(), changing_list(), [[1], [2, 3]], range(3), 1000,
        -10 ** 9,
    ])


def names():
    return sorted(name for name in wick._C.operator_names()
                  if name.startswith("aten::") and not any(word in name for word in LEFT_OUT))


class Hostile(unittest.TestCase):
    def test_calls(self):
        rng = random.Random(SEED)
        all_names = names()
        raised = 0
        for i in range(CALLS):
            if i % 50 == 0:
                made = tensors()
            operator = wick._C.operator(rng.choice(all_names))
            args = [values(rng, made) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)))]
            keywords = {rng.choice(("dim", "out", "dtype", "other", "alpha", "keepdim", "size", "nonsense")):
                        values(rng, made) for _ in range(rng.choice((0, 0, 1)))}
            try:
                repr(operator(*args, **keywords))
            except Exception:
                raised += 1
        self.assertLess(raised, CALLS)

    def test_subscripts(self):
        rng = random.Random(SEED)
        for i in range(CALLS):
            if i % 50 == 0:
                made = tensors()
            x = rng.choice(made)
            items = tuple(rng.choice([slice(None, values(rng, made)), None, ..., 0, -1, values(rng, made)])
                          for _ in range(rng.choice((1, 1, 2, 3))))
            try:
                if rng.random() < 0.7:
                    x[items if len(items) > 1 else items[0]]
                else:
                    x[items if len(items) > 1 else items[0]] = values(rng, made)
            except Exception:
                pass

    def test_other_doors(self):
        rng = random.Random(SEED)
        doors = [wick.tensor, wick.as_tensor, wick.Tensor, wick.device, wick.Size, wick.Generator,
                 wick._C.from_buffer, wick.from_dlpack, wick.set_default_dtype, wick._C.operator,
                 wick.Tensor._make_subclass, wick.finfo, wick._C._run_backward, wick._C._record,
                 wick._C._load_value_memory, wick.broadcast_shapes, wick.einsum, wick.autograd.grad,
                 wick.autograd.backward, wick.set_printoptions]
        try:
            for i in range(CALLS):
                if i % 50 == 0:
                    made = tensors()
                try:
                    rng.choice(doors)(*[values(rng, made) for _ in range(rng.choice((0, 1, 1, 2, 3)))])
                except Exception:
                    pass
        finally:
            wick.set_default_dtype(wick.float32)
            wick.set_printoptions(profile="default")

    def test_methods(self):
        rng = random.Random(SEED)
        own = [name for name in vars(wick.Tensor) if not any(word in name for word in LEFT_OUT)
               and name not in ("__dict__", "__weakref__", "__class__")]
        for i in range(CALLS):
            if i % 50 == 0:
                made = tensors()
            x, name = rng.choice(made), rng.choice(own)
            try:
                attribute = getattr(x, name)
                if callable(attribute):
                    attribute(*[values(rng, made) for _ in range(rng.choice((0, 0, 1, 2)))])
                elif rng.random() < 0.3:
                    setattr(x, name, values(rng, made))
            except Exception:
                pass


class Balance(unittest.TestCase):
    def test_references(self):
        """What is passed to calls, right and wrong ones, has as many references afterwards as before."""
        x, y = wick.ones(2, 2), wick.ones(2, 2)
        sizes, text, number, options = [2, 2], "abc" * 10, 12345.678, {"dim": 0}
        index = (slice(0, 1), None, [0])
        watched = [x, y, sizes, text, number, options, index, wick.float64, wick.device("cpu")]
        calls = [
            lambda: x + y, lambda: x + number, lambda: number - x, lambda: x.reshape(sizes), lambda: x.sum(**options),
            lambda: wick.zeros(sizes), lambda: wick.zeros(sizes, dtype=wick.float64), lambda: x[index],
            lambda: x.add_(y), lambda: x.to(wick.float64), lambda: wick.tensor([number, 1]),
            lambda: wick.stack([x, y]), lambda: x.numel(), lambda: wick.add(x, y, out=y), lambda: x.tolist(),
            lambda: memoryview(x), lambda: x.max(0), lambda: repr(x), lambda: x == y,
            lambda: x.__setitem__(0, y[0]), lambda: wick.from_dlpack(x), lambda: wick.relu(text), lambda: x + text,
            lambda: wick.zeros(sizes, text), lambda: x[text], lambda: x.reshape([7]), lambda: x.view(text),
            lambda: wick.add(x, y, nonsense=number), lambda: wick.cat([x, number]), lambda: x.__setitem__(text, y),
            lambda: wick.tensor([sizes, text]), lambda: wick.add(x, y, out=text),
            lambda: wick.ops.aten.add.Tensor(x, y),
        ]

        def run():
            for call in calls:
                try:
                    call()
                except Exception:
                    pass
        for _ in range(3):
            run()
        gc.collect()
        before = [sys.getrefcount(value) for value in watched]
        for _ in range(50):
            run()
        gc.collect()
        after = [sys.getrefcount(value) for value in watched]
        self.assertEqual([b - a for a, b in zip(before, after)], [0] * len(watched))

    @unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "released memory is kept aside by the sanitizer")
    def test_memory_is_flat(self):
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        x = wick.ones(16, 16, requires_grad=True)

        def turn():
            y = (x * 2 + 1).relu()
            y[0].sum().backward()
            x.grad = None
            try:
                y @ wick.ones(3)
            except RuntimeError:
                pass
            return y.detach().tolist()
        for _ in range(500):
            turn()
        before = resident()
        for _ in range(3000):
            turn()
        self.assertLess(resident() - before, 8 << 20)


class Threads(unittest.TestCase):
    def test_threads(self):
        x = wick.arange(1000.0)
        failures = []

        def work(number):
            try:
                for i in range(100):
                    wick._C._set_grad_enabled(number % 2 == 0)
                    y = (x * number)[i:].sum()
                    assert y.item() == number * sum(range(i, 1000)), (number, i, y)
                    assert wick.is_grad_enabled() == (number % 2 == 0)
            except BaseException as error:
                failures.append(error)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
