"""help() of operators: schemas, shapes and errors, which are what calls give."""
import pydoc
import re
import unittest

import wick


class Docs(unittest.TestCase):
    def test_add(self):
        text = pydoc.plain(pydoc.render_doc(wick.add))
        for part in ("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "Shapes:",
                     "add((2, 3), (3,)) -> (2, 3)", "Errors:",
                     "add((2, 3), (3, 4)): RuntimeError: The size of tensor a (3) must match the size of",
                     "In programs also:", "aten::add.int(int a, int b) -> int"):
            self.assertIn(part, text)
        self.assertLess(text.index("aten::add.Tensor("), text.index("aten::add.int("))
        self.assertIn("add((2, 3), (2, 3)) -> (2, 3)", wick.ones(1).add.__doc__)

    def test_what_arguments_are_needed(self):
        for operator, part in ((wick.cat, "cat([(2, 3), (2, 3)]) -> (4, 3)"), (wick.zeros, "zeros([2, 3]) -> (2, 3)"),
                               (wick.bmm, "bmm((2, 3, 4), (2, 4, 5)) -> (2, 3, 5)"),
                               (wick.gather, "gather((2, 3), 0, (4, 3)) -> (4, 3)"),
                               (wick.sort, "sort((2, 3)) -> (2, 3), (2, 3)"),
                               (wick.relu, "of complex64: RuntimeError: \"relu\" not implemented for 'ComplexFloat'"),
                               (wick.ops.aten.mm.default, "mm((2, 3), (3, 4)) -> (2, 4)")):
            self.assertIn("    %s\n" % part, operator.__doc__ + "\n")

    def test_every_operator_has_some(self):
        """What making them draws and records is not seen."""
        wick.manual_seed(0)
        with_shapes = 0
        names = sorted(wick._C.operator_names())
        for name in names:
            text = wick._C.operator(name).__doc__
            self.assertTrue(re.match(r"\w+::\w+|In programs alone:", text), name)
            with_shapes += "\nShapes:\n" in text
        self.assertGreater(with_shapes, len(names) / 3)
        self.assertEqual(wick.initial_seed(), 0)
        self.assertTrue(wick.is_grad_enabled())


if __name__ == "__main__":
    unittest.main()
