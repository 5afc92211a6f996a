"""FileCheck: what texts have to hold, for tests of graphs."""
import importlib
import unittest

from beside import torch

FileCheck = importlib.import_module(torch.__name__ + ".testing").FileCheck

# expectations: pairs of a method and its arguments; a text; whether it is as expected
CASES = [
    ([("check", "a")], "b a", True),
    ([("check", "z")], "b a", False),
    ([("check", "a"), ("check", "b")], "a b", True),
    ([("check", "b"), ("check", "a")], "a b", False),
    ([("check", "aba"), ("check", "aba")], "ababa", False),
    ([("check", "a"), ("check", "a")], "aa", True),
    ([("check", "a"), ("check_next", "c")], "a b\nd c\n", True),
    ([("check", "a"), ("check_next", "c")], "a b\nd \nc", False),
    ([("check", "a"), ("check_next", "b")], "a b\nc", False),
    ([("check", "a"), ("check_same", "b")], "a b\nc", True),
    ([("check", "a"), ("check_same", "b")], "a\nb", False),
    ([("check_not", "a")], "b c", True),
    ([("check_not", "a")], "b a", False),
    ([("check_not", "a"), ("check", "b")], "b a", True),
    ([("check_not", "a"), ("check", "b")], "a b", False),
    ([("check", "b"), ("check_not", "a")], "a b", True),
    ([("check", "b"), ("check_not", "a")], "b a", False),
    ([("check", "b"), ("check_not", "a"), ("check", "c")], "b c a", True),
    ([("check", "b"), ("check_not", "a"), ("check", "c")], "b a c", False),
    ([("check_count", "a", 2)], "a a a", True),
    ([("check_count", "a", 2)], "a", False),
    ([("check_count", "a", 2, True)], "a a", True),
    ([("check_count", "a", 2, True)], "a a a", False),
    ([("check_count", "a", 0, True)], "b", True),
    ([("check_count", "a", 1, True), ("check_not", "b")], "a c", True),
    ([("check_count", "a", 1, True), ("check_not", "b")], "a b", False),
    ([("check_dag", "a"), ("check_dag", "b"), ("check", "c")], "b a c", True),
    ([("check_dag", "a"), ("check_dag", "b"), ("check", "c")], "b c a", False),
    ([("check_dag", "a"), ("check_dag", "d")], "b a c", False),
    ([("check_dag", "a"), ("check_not", "x"), ("check_dag", "b")], "a b x", True),
    ([("check_dag", "a"), ("check_not", "x"), ("check_dag", "b")], "a x b", False),
    ([("check_source_highlighted", "foo")], "  x = foo\n      ~~~ <--- HERE", True),
    ([("check_source_highlighted", "foo")], "  x = foo\n      ~~ <--- HERE", False),
    ([("check_source_highlighted", "foo")], "  x = foo\n", False),
]


class Cases(unittest.TestCase):
    def test_from_comments(self):
        wanted = "# CHECK: a\n# CHECK-NEXT: b\n# CHECK-COUNT-2: c\n# CHECK-NOT: x\n# CHECK: d"
        FileCheck().run(wanted, "a\nb\nc c d")
        with self.assertRaises(RuntimeError):
            FileCheck().run(wanted, "a\nb\nc d")
        with self.assertRaises(RuntimeError):
            FileCheck().run(wanted, "a\nb\nc c x d")

    def test_nothing_expected(self):
        with self.assertRaises(RuntimeError):
            FileCheck().run("a")

    def test_graph(self):
        @torch.jit.script
        def f(x):
            return (x + 1).relu()
        FileCheck().check("aten::add").check_not("aten::mul").check("aten::relu").run(f.graph)
        FileCheck().check("def f(").check("torch.relu").run(f.code)
        with self.assertRaises(RuntimeError):
            FileCheck().check("aten::relu").check("aten::add").run(f.graph)


for number, (steps, text, fits) in enumerate(CASES):
    def case(self, steps=steps, text=text, fits=fits):
        checker = FileCheck()
        for name, *arguments in steps:
            checker = getattr(checker, name)(*arguments)
        if fits:
            return checker.run(text)
        with self.assertRaises(RuntimeError):
            checker.run(text)
    setattr(Cases, "test_case_%d" % number, case)


if __name__ == "__main__":
    unittest.main()
