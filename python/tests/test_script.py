"""wick.jit.script of functions and classes."""

import collections
import dataclasses
import enum
import math
import os
import tempfile
import threading
import unittest
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import wick
import wick.jit
from wick import Tensor, _C
from wick.jit import _frontend

SCALE = 2.5
WHOLE = 7


def helper(x: int, by: int = 3) -> int:
    return x * by


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Weighted(NamedTuple):
    x: wick.Tensor
    weight: float = 0.5


@wick.jit.script
class Mark:
    """Names itself before its name is bound."""

    def __init__(self, value: int):
        self.value = value

    def __eq__(self, other: "Mark") -> bool:
        return self.value == other.value

    def next(self) -> "Mark":
        return Mark(self.value + 1)


class Pair(NamedTuple):
    first: int
    color: Color = None


class Counter:
    steps: int

    def __init__(self, start: int):
        self.steps = start

    def add(self, n: int) -> int:
        self.steps += n
        return self.steps


class Point:
    """Is told from others by x."""

    def __init__(self, x: int, name: str = "p"):
        self.x = x
        self.name = name
        self.seen = [x]

    def moved(self, by: int):
        return Point(self.x + by, self.name)

    def see(self, y: int) -> int:
        self.seen.append(y)
        return len(self.seen) + helper(y)

    @staticmethod
    def origin():
        return Point(0)

    @property
    def double(self) -> int:
        return self.x * 2

    def __lt__(self, other: "Point") -> bool:
        return self.x < other.x


@dataclasses.dataclass(order=True)
class Span:
    low: int
    high: int = 10

    def width(self) -> int:
        return self.high - self.low


@wick.jit.interface
class Shape:
    def area(self, scale: float) -> float:
        pass


class Square:
    def __init__(self, side: float):
        self.side = side

    def area(self, scale: float) -> float:
        return self.side * self.side * scale


class OwnError(ValueError):
    pass


class Chain:
    def __init__(self, x: int):
        self.x = x

    def grown(self):
        return grow(self)


def grow(chain: Chain) -> Chain:
    return Chain(chain.x + 1)


@wick.jit._overload
def either(x: int) -> int:  # noqa: F811
    ...


@wick.jit._overload
def either(x: str) -> str:  # noqa: F811
    ...


def either(x):  # noqa: F811
    return x + x


@wick.jit.ignore
def in_python(x: int, names: List[str]) -> str:
    return "%d of %s" % (x, collections.Counter(names).most_common(1)[0][0])


@wick.jit.ignore
def fails_in_python(x: int) -> int:
    raise KeyError("no %d" % x)


@wick.jit.unused
def never(x: int) -> int:
    return lambda: x


def load(data):
    """The forward of an archive."""
    return _C.load_program(data).function("forward")


class TestFunctions(unittest.TestCase):
    def test_control_flow_and_defaults(self):
        def f(x, n: int = 2, *, flip: bool = False):
            y = x
            for i in range(n):
                y = y + wick.relu(x) * i
            return -y if flip else y
        scripted = wick.jit.script(f)
        x = wick.ones(3)
        self.assertEqual(scripted(x, 3).tolist(), [4, 4, 4])
        self.assertEqual(scripted(x, flip=True).tolist(), [-2, -2, -2])
        self.assertIn("prim::Loop", str(scripted.graph))
        self.assertEqual(str(scripted.schema), "f(Tensor x, int n=2, *, bool flip=False) -> Tensor")
        self.assertIs(wick.jit.script(f), scripted)
        self.assertIs(wick.jit.script(scripted), scripted)
        self.assertIn("def f(x: Tensor", scripted.code)

    def test_globals_and_closures(self):
        factor = 4

        def inner(x: float) -> float:
            return x * factor * SCALE

        def outer(x: float) -> float:
            return inner(x) + math.sqrt(x) + helper(WHOLE, by=2)
        self.assertEqual(wick.jit.script(outer)(4.0), 40 + 2 + 14)

    def test_same_names_mean_different_things(self):
        def make(factor):
            def scaled(x: int) -> int:
                return x * factor
            return scaled
        two, three = make(2), make(3)

        def both(x: int) -> int:
            return two(x) * 100 + three(x)
        scripted = wick.jit.script(both)
        self.assertEqual(scripted(5), 1015)
        self.assertEqual(load(scripted.save_to_buffer())(5), 1015)

    def test_functions_within(self):
        def f(x: int) -> int:
            def g():
                return x + 10
            return wick.jit.wait(wick.jit.fork(g)) * 2
        self.assertEqual(wick.jit.script(f)(1), 22)

    def test_types(self):
        def f(a: Optional[int], b: Dict[str, List[float]], c: Tuple[int, Tensor], d: "Union[int, str]",
              e: List[Pair]) -> List[str]:
            out = [str(0 if a is None else a), str(b["k"][0]), str(c[0])]
            if isinstance(d, int):
                d = str(d + 1)
            out.append(d)
            for pair in e:
                out.append(pair.color.name)
            return out
        got = wick.jit.script(f)(None, {"k": [1.5]}, (3, wick.ones(1)), 4, [Pair(1, Color.BLUE)])
        self.assertEqual(got, ["0", "1.5", "3", "5", "BLUE"])

    def test_type_comments(self):
        def f(x, n):
            # type: (Tensor, int) -> Tuple[Tensor, int]
            y = []  # type: List[int]
            y.append(n)
            return x + 1, y[0]
        x, n = wick.jit.script(f)(wick.zeros(2), 5)
        self.assertEqual((x.tolist(), n), ([1, 1], 5))

    def test_overloads(self):
        def f(x: int, y: str) -> Tuple[int, str]:
            return either(x), either(y)
        self.assertEqual(wick.jit.script(f)(2, "a"), (4, "aa"))

    def test_python_in_between(self):
        def f(x: int) -> str:
            return in_python(x, ["a", "b", "b"])

        def g(x: int) -> int:
            return fails_in_python(x)

        def h(x: int) -> int:
            if x > 3:
                return never(x)
            return x
        self.assertEqual(wick.jit.script(f)(2), "2 of b")
        with self.assertRaisesRegex(KeyError, "no 3"):
            wick.jit.script(g)(3)
        with self.assertRaisesRegex(RuntimeError, "export"):
            wick.jit.script(g).save_to_buffer()
        self.assertEqual(wick.jit.script(h)(1), 1)
        with self.assertRaisesRegex(RuntimeError, "annotated to be ignored and cannot be run"):
            wick.jit.script(h)(4)

    def test_gradients_on_the_way(self):
        def descend(x, w, steps: int):
            x = x.detach().requires_grad_(True)
            for i in range(steps):
                found = wick.autograd.grad([(x * w).sum()], [x])[0]
                assert found is not None
                x = x - found.detach() * 0.5
            return x.detach()
        scripted, w = wick.jit.script(descend), wick.tensor([2., -4.], requires_grad=True)
        for steps in (1, 8, 9, 20):
            for _ in range(3):
                self.assertEqual(scripted(wick.zeros(2), w, steps).tolist(), [-1. * steps, 2. * steps])

    def test_is_scripting_and_annotate(self):
        def f(x: int) -> List[int]:
            if not wick.jit.is_scripting():
                return undefined_but_never_compiled(x)  # noqa: F821
            out = wick.jit.annotate(List[int], [])
            out.append(x)
            return out
        self.assertEqual(wick.jit.script(f)(4), [4])

    def test_fork_and_wait(self):
        def work(x):
            return x * 2

        def f(x):
            future = wick.jit.fork(work, x)
            return wick.jit.wait(future) + 1
        self.assertEqual(wick.jit.script(f)(wick.ones(2)).tolist(), [3, 3])
        self.assertEqual(f(wick.ones(2)).tolist(), [3, 3])

    def test_exceptions_by_name(self):
        def f(x: int):
            if x > 1:
                raise OwnError("too large: %d" % x)
            raise ValueError("too small")
        scripted = wick.jit.script(f)
        with self.assertRaises(Exception) as caught:
            scripted(5)
        self.assertIn("too large: 5", str(caught.exception))
        with self.assertRaisesRegex(Exception, "too small"):
            scripted(0)

    def test_gradients(self):
        def f(x):
            return (x * x).sum()
        x = wick.ones(3).requires_grad_()
        wick.jit.script(f)(x).backward()
        self.assertEqual(x.grad.tolist(), [2, 2, 2])

    def test_threads(self):
        def f(x, n: int):
            for _ in range(n):
                x = wick.tanh(x) + 0.5
            return x
        scripted, results = wick.jit.script(f), []
        threads = [threading.Thread(target=lambda: results.append(scripted(wick.ones(50), 20).sum().item()))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(results)), 1)

    def test_saved_and_loaded_as_a_function(self):
        def f(x):
            return x + 1
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.pt")
            wick.jit.script(f).save(path)
            program = _C.load_program(path)
        self.assertEqual(program.function("forward")(wick.zeros(2)).tolist(), [1, 1])

    def test_compilation_unit(self):
        unit = wick.jit.CompilationUnit("""
            def f(x: int) -> int:
                return helper(x) + 1
            """)
        self.assertEqual(unit.f(2), 7)
        with self.assertRaises(AttributeError):
            unit.g


class TestErrors(unittest.TestCase):
    def refused(self, function, *parts):
        with self.assertRaises(RuntimeError) as caught:
            wick.jit.script(function)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_place_in_the_users_file(self):
        def f(x):
            y = x + 1
            return missing_name(y)  # noqa: F821
        line = f.__code__.co_firstlineno + 2
        self.refused(f, "undefined value missing_name", 'test_script.py", line %d' % line, "return missing_name(y)",
                     "~~~")

    def test_place_of_the_caller(self):
        def inner(x):
            return missing_name(x)  # noqa: F821

        def outer(x):
            return inner(x) + 1
        self.refused(outer, "missing_name", "'inner' is being compiled since it was called from 'outer'",
                     "return inner(x) + 1")

    def test_what_the_language_lacks(self):
        def with_lambda(x):
            return (lambda y: y)(x)

        def with_try(x):
            try:
                return x
            finally:
                pass

        def with_set(x):
            return {1, 2}

        def with_star(*args, **kwargs):
            return args

        def with_yield(x):
            yield x
        for function, part in ((with_lambda, "lambda"), (with_try, "try"), (with_set, "set"), (with_star, "variable"),
                               (with_yield, "yield")):
            self.refused(function, part)

    def test_recursion(self):
        self.refused(recursive, "recursive")

    def test_no_source(self):
        space = {}
        exec("def made(x):\n    return x\n", space)
        self.refused(space["made"], "source")

    def test_failed_classes_can_be_tried_again(self):
        class Wrong:
            def __init__(self):
                self.x = missing_name  # noqa: F821

        def f(x: Wrong) -> int:
            return 1
        for _ in range(2):
            with self.assertRaises(RuntimeError):
                wick.jit.script(Wrong)

    def test_raised_from_a_call(self):
        def f(x):
            return x @ x
        with self.assertRaisesRegex(RuntimeError, "return x @ x"):
            wick.jit.script(f)(wick.ones(2, 3))
        with self.assertRaisesRegex(RuntimeError, "Expected a value of type"):
            wick.jit.script(f)("text")


def recursive(x: int) -> int:
    return recursive(x - 1) if x else 0


class TestClasses(unittest.TestCase):
    def test_objects_both_ways(self):
        def f(p: Point, by: int) -> Tuple[Point, int, bool]:
            q = p.moved(by)
            return q, p.see(by) + q.double + Point.origin().x, p < q
        q, number, less = wick.jit.script(f)(Point(3, "mine"), 5)
        self.assertIs(type(q), Point)
        self.assertEqual((q.x, q.name, q.seen), (8, "mine", [8]))
        self.assertEqual((number, less), (2 + 15 + 16, True))

    def test_enum_and_named_tuple(self):
        def f(c: Color, n: int) -> Pair:
            if c == Color.RED:
                return Pair(helper(n), Color.BLUE)
            return Pair(first=c.value, color=c)
        scripted = wick.jit.script(f)
        self.assertEqual(scripted(Color.RED, 4), Pair(12, Color.BLUE))
        self.assertIs(type(scripted(Color.BLUE, 4)), Pair)

    def test_members_of_another_programs_enum(self):
        class Fruit(enum.Enum):
            APPLE = 1
            PEAR = 2

        def f(fruit: Fruit) -> Tuple[str, bool]:
            return fruit.name, fruit == Fruit.PEAR
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.pt")
            wick.jit.script(f).save(path)
            loaded = wick.jit.load(path)
        self.assertEqual(loaded(Fruit.PEAR), ("PEAR", True))

        class Unknown(enum.Enum):
            ONE = 1

        def g(value: Any) -> bool:
            return isinstance(value, int)
        self.assertFalse(wick.jit.script(g)(Unknown.ONE))

    def test_defaults_of_named_tuples(self):
        def f(x: wick.Tensor) -> Tuple[float, float]:
            return Weighted(x).weight, Weighted(x, weight=2.0).weight
        self.assertEqual(wick.jit.script(f)(wick.ones(1)), (0.5, 2.0))

    def test_decorated_class_that_names_itself(self):
        def f(n: int) -> Tuple[bool, bool]:
            return Mark(n) == Mark(n), Mark(n).next() == Mark(n)
        self.assertEqual(wick.jit.script(f)(1), (True, False))

    def test_dataclass(self):
        def f(a: Span, low: int) -> Tuple[int, bool, bool, Span]:
            b = Span(low)
            return b.width(), a == b, a < b, b
        width, same, less, span = wick.jit.script(f)(Span(1, 2), 4)
        self.assertEqual((width, same, less, span), (6, False, True, Span(4)))

    def test_interface(self):
        wick.jit.script(Square)

        def f(side: float) -> float:
            shape: Shape = Square(side)
            return shape.area(2.0)
        self.assertEqual(wick.jit.script(f)(3.0), 18)

    def test_class_that_declares_its_attributes(self):
        def f(n: int) -> int:
            counter = Counter(3)
            return counter.add(n) + counter.steps

        self.assertEqual(wick.jit.script(f)(4), 14)

    def test_class_and_function_that_name_each_other(self):
        def f(x: int) -> int:
            return Chain(x).grown().x + grow(Chain(1)).x
        self.assertEqual(wick.jit.script(f)(5), 8)

    def test_inheritance_is_refused(self):
        class Derived(Point):
            pass
        with self.assertRaisesRegex(RuntimeError, "does not support inheritance yet"):
            wick.jit.script(Derived)


class TestTrees(unittest.TestCase):
    """What `ast` gives becomes what wick's own parser makes of the text."""

    def same(self, text):
        source = _frontend.Source(text, "text.py")
        made = _frontend.Translator(source).tree_of(source.parse())
        self.assertEqual(_C.print_tree(_frontend.items([made + (source,)])), _C.parse_tree(text))

    def test_forms(self):
        for body in ("return x[1:, ::2, None, ..., -1]", "x += y ** -z", "a, (b, *c) = d = e", "del x[0], y",
                     "assert not x in y, 'no'", "return a < b <= c != d and e or f is not None",
                     "return [i for i in x if i > 2]", "return {k: v for k, v in x.items()}",
                     "return f'{a} of {b[0]} {{}}'", "return -1 if x else 0x1F + 1_000 + 1e-5 + 2j",
                     "with a as b, c:\n        pass", "while True:\n        break", "x: List[int] = []",
                     "if a:\n        pass\n    elif b:\n        continue\n    else:\n        return",
                     "raise ValueError('a' 'b')", "return f(a, *b, c=d)", "return x.y.z(1)[()]", "return lambda: 1",
                     "for i, (j, k) in enumerate(x):\n        y = x = i",
                     "return a @ b // c % d << e >> f & g | h ^ ~i"):
            with self.subTest(body):
                self.same("def f(x: int, y=1, *, z: 'str' = None) -> Tensor:\n    %s\n" % body)


if __name__ == "__main__":
    unittest.main()
