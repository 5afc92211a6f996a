"""The default dtype, prints and warnings of programs, and corners of the language, as PyTorch has them."""
import contextlib
import dataclasses
import io
import unittest
import warnings
from typing import Optional

from beside import torch

nn = torch.nn


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class DefaultDtype(unittest.TestCase):
    def test_of_operators(self):
        x = torch.tensor([1, 2])
        with default_dtype(torch.float64):
            made = [torch.ones(2, dtype=None), torch.empty(2, dtype=None), torch.rand(1, dtype=None), x / 2, x.sqrt(),
                    x * 1.5, torch.pow(x, 0.5), torch.sigmoid(x), torch.atan2(x, x), torch.full((1,), 2.0),
                    torch.arange(0.0, 3), torch.linspace(0, 1, 2), torch.tensor([]), torch.hann_window(3)]
            self.assertEqual([each.dtype for each in made], [torch.float64] * len(made))
            self.assertEqual([each.dtype for each in (x + 1j, torch.tensor(1j))], [torch.complex128] * 2)
            self.assertEqual([each.dtype for each in (torch.full((1,), 2), torch.arange(3), torch.randperm(2),
                                                      torch.zeros_like(x))], [torch.int64] * 4)
            self.assertIs(torch.ones(1, dtype=torch.float32).mul(2.0).dtype, torch.float32)
        self.assertIs((x / 2).dtype, torch.float32)

    def test_of_modules(self):
        with default_dtype(torch.float64):
            layers = nn.Linear(2, 2), nn.LSTM(2, 2), nn.BatchNorm1d(2), nn.Embedding(2, 2), nn.Conv2d(1, 1, 1)
            for layer in layers:
                self.assertEqual({p.dtype for p in layer.parameters()}, {torch.float64})
            self.assertIs(layers[0](torch.ones(2)).dtype, torch.float64)
            self.assertIs(layers[2].running_mean.dtype, torch.float64)

    def test_of_programs(self):
        def made(x):
            return torch.ones(2), torch.tensor([1.0]), x / 2, x.sqrt(), x * 1.5, torch.tensor(1.5)
        x = torch.tensor([1, 2])
        with default_dtype(torch.float64):
            program = torch.jit.script(made)
            for _ in range(5):
                self.assertEqual([each.dtype for each in program(x)], [torch.float64] * 6)

    def test_programs_that_ran_before(self):
        program = torch.jit.script(lambda_of_ints)
        for _ in range(5):
            self.assertIs(program(torch.tensor([1, 2])).dtype, torch.float32)
        with default_dtype(torch.float64):
            for _ in range(5):
                self.assertIs(program(torch.tensor([1, 2])).dtype, torch.float64)
        self.assertIs(program(torch.tensor([1, 2])).dtype, torch.float32)


def lambda_of_ints(x):
    return (x / 2 + 1).sin()


class Output(unittest.TestCase):
    def test_print(self):
        @torch.jit.script
        def program(n: int):
            print("text", n, [1, 2], None)
            return n
        with contextlib.redirect_stdout(io.StringIO()) as out:
            program(3)
            program(4)
        self.assertEqual(out.getvalue(), "text 3 [1, 2] None\ntext 4 [1, 2] None\n")

    def test_print_that_fails(self):
        @torch.jit.script
        def program(n: int):
            print("text", n)
            return n

        class Full:
            def write(self, text):
                raise ValueError("no space")

            def flush(self):
                pass
        with contextlib.redirect_stdout(Full()), self.assertRaisesRegex((ValueError, RuntimeError), "no space"):
            program(1)

    def test_warnings(self):
        @torch.jit.script
        def program(n: int):
            warnings.warn("of a program")
            return n
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            program(1)
            program(2)
        self.assertEqual([(each.category, str(each.message)) for each in caught], [(UserWarning, "of a program")] * 2)
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as out:
            warnings.simplefilter("always")
            program(1)
        self.assertIn("UserWarning: of a program", out.getvalue())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaisesRegex(UserWarning, "of a program"):
                program(1)
            warnings.simplefilter("ignore")
            self.assertEqual(program(3), 3)


@torch.jit.script
@dataclasses.dataclass
class Point:
    x: float
    y: float
    norm: Optional[torch.Tensor] = None

    def __post_init__(self):
        self.norm = (torch.tensor(self.x) ** 2 + torch.tensor(self.y) ** 2) ** 0.5


@torch.jit.script
@dataclasses.dataclass(order=True)
class Ordered:
    first: int
    second: Optional[float] = None


class Dataclasses(unittest.TestCase):
    def test_post_init(self):
        @torch.jit.script
        def norm(x: float, y: float):
            return Point(x, y).norm
        self.assertEqual(norm(3., 4.).item(), 5)

    def test_optional_fields_compare(self):
        @torch.jit.script
        def equal(a: Optional[float], b: Optional[float]):
            return Ordered(1, a) == Ordered(1, b)
        self.assertEqual([equal(*pair) for pair in ((1., 1.), (1., 2.), (None, None), (None, 1.), (1., None))],
                         [True, False, True, False, False])

        @torch.jit.script
        def less(a: Optional[float], b: Optional[float]):
            return Ordered(1, a) < Ordered(1, b), Ordered(1, a) <= Ordered(1, b), Ordered(1, a) < Ordered(2, b)
        self.assertEqual(less(1., 2.), (True, True, True))
        self.assertEqual(less(2., 1.), (False, False, True))
        self.assertEqual(less(None, None), (False, True, True))
        with self.assertRaises((RuntimeError, torch.jit.Error)):
            less(None, 1.)


class Language(unittest.TestCase):
    def test_is(self):
        program = torch.jit.CompilationUnit("""
def f(n: int):
    a = [1, 1]
    b = [1, 1]
    c = a
    return [a is b, a is c, a is not b, [1, 1] is [1, 1], torch.ones(1) is torch.ones(1)]
""")
        for _ in range(5):
            self.assertEqual(program.f(1), [False, True, True, False, False])

    def test_no_grad_around_ignored(self):
        class Ignoring(nn.Module):
            @torch.jit.ignore
            def python(self, x: torch.Tensor) -> torch.Tensor:
                return x * torch.ones(2, requires_grad=True)

            def forward(self, x):
                with torch.no_grad():
                    y = self.python(x)
                return y, self.python(x)
        y, z = torch.jit.script(Ignoring())(torch.ones(2))
        self.assertEqual((y.requires_grad, z.requires_grad), (False, True))
        self.assertTrue(torch.is_grad_enabled())

    def test_variable(self):
        Variable = torch.autograd.Variable
        x = torch.ones(2)
        v = Variable(x, requires_grad=True)
        self.assertEqual((v.requires_grad, x.requires_grad, v.data_ptr()), (True, False, x.data_ptr()))
        self.assertTrue(isinstance(x, Variable))
        self.assertFalse(isinstance(1, Variable))
        with self.assertRaisesRegex(TypeError, "Variable data has to be a tensor"):
            Variable([1])

    def test_percent_c(self):
        @torch.jit.script
        def character(c: str):
            return "<%c>" % c
        self.assertEqual(character("f"), "<f>")
        for text in ("", "foo"):
            with self.assertRaisesRegex(Exception, "%c requires an int or char"):
                character(text)


class Errors(unittest.TestCase):
    def test_of_programs(self):
        @torch.jit.script
        def failing(x: int):
            if x == 0:
                raise ValueError("bad")
            if x == 1:
                raise KeyError("key")
            if x == 2:
                assert False, "no"
            if x == 3:
                return [1, 2][x]
            if x == 4:
                return int(torch.ones(2, 3).view(x + 1)[0])
            return x
        first = "The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript"
        for number, what in enumerate(("bad", "key", "no", "out of range", "shape")):
            with self.assertRaises((torch.jit.Error, RuntimeError)) as caught:
                failing(number)
            self.assertTrue(str(caught.exception).startswith(first), str(caught.exception))
            self.assertIn(what, str(caught.exception).splitlines()[-1])
        self.assertEqual(failing(5), 5)

    def test_names_of_frames_above(self):
        def compiled(count):
            return torch.jit.CompilationUnit("def f(x):\n    return helper(x)\n", _frames_up=count)

        def caller():
            @torch.jit.script
            def helper(x):
                return x + 1
            self.assertTrue(helper)
            return compiled(1)
        self.assertEqual(caller().f(torch.ones(1)).tolist(), [2])
        with self.assertRaises(RuntimeError):
            compiled(0)


if __name__ == "__main__":
    unittest.main()
