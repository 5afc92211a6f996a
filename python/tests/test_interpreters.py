"""Several interpreters in one process: the module hangs on none of them, and goes when it is let go."""
import gc
import importlib.util
import subprocess
import sys
import unittest
import weakref

import wick

try:
    import _xxsubinterpreters as interpreters
except ImportError:
    try:
        import _interpreters as interpreters
    except ImportError:
        interpreters = None

USE = """
import gc
import threading
import wick

x = wick.ones(3, requires_grad=True)
seen = []
x.register_hook(lambda grad: seen.append(grad.clone()))
class Square(wick.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]
(Square.apply(x) * 3).sum().backward()
assert x.grad.tolist() == [6.0, 6.0, 6.0] and len(seen) == 1, (x.grad, seen)
big = wick.ones(100, 100)
assert (big @ big).sum().item() == 1e6
assert wick.frombuffer(bytearray(b"1234"), dtype=wick.uint8).tolist() == [49, 50, 51, 52]
f = wick.jit.CompilationUnit("def f(x):\\n    return x + 1\\n").f
assert f(wick.ones(1)).item() == 2.0
def twice(x):
    return x * 2
assert wick.jit.trace(twice, (wick.ones(2),))(wick.ones(2)).tolist() == [2.0, 2.0]
assert wick.tensor([1, 2]).dtype is wick.int64
wick.set_default_dtype(wick.float64)
"""


def create():
    """An interpreter under the same GIL."""
    return interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create(isolated=False)


def run(one, program):
    failure = interpreters.run_string(one, "import sys; sys.path[:0] = %r\n" % sys.path + program)
    if failure:  # older ones raise
        raise RuntimeError(failure)


class Interpreters(unittest.TestCase):
    @unittest.skipIf(interpreters is None, "this Python shows no interpreters")
    def test_two_at_once(self):
        made = [create() for _ in range(2)]
        for one in made * 2:
            run(one, USE)
        self.addCleanup(wick.set_default_dtype, wick.float32)
        self.assertIs(wick.tensor(1.0).dtype, wick.float64)  # the process's
        interpreters.destroy(made[0])
        run(made[1], "assert wick.tensor(1.0).dtype is wick.float64")
        interpreters.destroy(made[1])
        self.assertEqual((wick.ones(2) + 1).tolist(), [2.0, 2.0])

    @unittest.skipIf(interpreters is None, "this Python shows no interpreters")
    def test_functions_of_one_that_is_over(self):
        """An operator that calls Python outlives its interpreter: then it fails, and says so."""
        one = create()
        run(one, """
import wick
wick._C.register_operator("gone::twice(Tensor x) -> Tensor", lambda x: x * 2, True)
assert wick.ops.gone.twice(wick.ones(1)).item() == 2.0
""")
        self.assertEqual(wick.ops.gone.twice.default(wick.ones(2)).tolist(), [2.0, 2.0])
        interpreters.destroy(one)
        with self.assertRaisesRegex(RuntimeError, "the interpreter that has the function is over"):
            wick.ops.gone.twice.default(wick.ones(2))

    def test_module_is_collected(self):
        """A second copy of the extension goes with what it made: nothing holds it but Python."""
        spec = importlib.util.spec_from_file_location("wick._C", wick._C.__file__)

        def use():
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            x = module.operator("aten::ones")((2, 2))
            assert x + 1 is not None and x[0] is not None and x.dtype is module.float32
            module.operator("aten::max")(x, 0)
            return weakref.ref(module)
        module = use()
        gc.collect()
        self.assertIsNone(module())

    def test_ends_with_tensors_alive(self):
        """The process ends quietly with hooks, buffers and functions of Python still held."""
        program = USE + "\nkept = [x, big, f, wick.frombuffer(bytearray(8), dtype=wick.uint8)]\nx.kept = kept\n"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
