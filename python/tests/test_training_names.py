"""Weight averaging, pruning, back ends and switches against what PyTorch 1.13 printed (training_names.txt, which
training_names_cases.py writes), and what wick alone has."""

import io
import math
import os
import re
import unittest

import training_names_cases
import wick


def parts(line):
    """The line's text and its numbers."""
    number = r"-?\d+\.?\d*(?:e-?\d+)?"
    return re.sub(number, "#", line), [float(x) for x in re.findall(number, line)]


def square(value):
    return value * value


class TrainingNames(unittest.TestCase):
    def test_as_pytorch(self):
        out = io.StringIO()
        training_names_cases.run(wick, "wick", lambda *values: print(*values, file=out))
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "training_names.txt")) as file:
            recorded = file.read().splitlines()
        mine = out.getvalue().splitlines()
        self.assertEqual(len(mine), len(recorded))
        for line, its in zip(mine, recorded):
            with self.subTest(its):
                (text, numbers), (its_text, its_numbers) = parts(line), parts(its)
                self.assertEqual(text, its_text)
                self.assertTrue(all(math.isclose(x, y, rel_tol=1e-4, abs_tol=1e-5)
                                    for x, y in zip(numbers, its_numbers)), line)

    def test_engines_that_are_not_there(self):
        with self.assertRaisesRegex(RuntimeError, "quantized engine nope is not supported"):
            wick.backends.quantized.engine = "nope"

    def test_denormal_numbers_are_not_flushed(self):
        self.assertFalse(wick.set_flush_denormal(True))
        self.assertTrue(wick.set_flush_denormal(False))

    def test_processes(self):
        with wick.multiprocessing.Pool(2) as pool:
            self.assertEqual([x.item() for x in pool.map(square, [wick.tensor(2), wick.tensor(3)])], [4, 9])
        self.assertEqual(wick.multiprocessing.get_sharing_strategy(), "pickle")


class AbsentNames(unittest.TestCase):
    def test_named_dimensions(self):
        for name in ("align_as", "align_to", "refine_names", "rename", "rename_"):
            with self.assertRaisesRegex(NotImplementedError, "wick has no named dimensions: Tensor." + name + "$"):
                getattr(wick.ones(2), name)("x")

    def test_of_torch(self):
        with self.assertRaisesRegex(AttributeError, "'compile': torch has it, wick has not; see docs/python.md"):
            wick.compile
        with self.assertRaisesRegex(AttributeError, "'func': torch has it"):
            wick.func

    def test_misspelled(self):
        with self.assertRaisesRegex(AttributeError, "'sigmiod'. Did you mean 'sigmoid'?"):
            wick.sigmiod
        with self.assertRaisesRegex(AttributeError, "no attribute 'zzzzzz'$"):
            wick.zzzzzz
        self.assertFalse(hasattr(wick, "__path_of_nothing__"))


if __name__ == "__main__":
    unittest.main()
