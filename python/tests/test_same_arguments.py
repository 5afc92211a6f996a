"""What compiled functions take and give: lists and dicts held together, sequences, defaults, modules, futures."""
import collections
import io
import unittest
from typing import Any, Dict, List, Optional, Tuple, Union

from beside import torch

nn, script = torch.nn, torch.jit.script


@script
def of_ints(x: List[int], y: int = 3, z: Optional[str] = None):
    return x


@script
def of_strings(x: List[str]):
    return x


@script
def of_floats(x: List[float]):
    return x


@script
def of_dict(x: Dict[str, int]):
    return x


@script
def of_lists(x: List[List[int]], y: Tuple[List[int], int]):
    return x, y


@script
def of_many(a: Tuple[int, str], b: Optional[List[str]], c: Union[int, str], e: Any, f: complex, g: bool):
    return 1


@script
def writes(d: Dict[str, int], items: List[int]):
    d["new"] = 9
    items.append(9)


class Sum(nn.Module):
    def forward(self, x, n: int):
        return x + n


@torch.jit.interface
class Step:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class More(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight


free = More()


class Containers(unittest.TestCase):
    def test_list_reads(self):
        items = script([1, 2, 3])
        self.assertIs(type(items), torch._C.ScriptList)
        self.assertEqual((len(items), items[0], items[-1], list(items), bool(items)), (3, 1, 3, [1, 2, 3], True))
        self.assertEqual((str(items), repr(items)), ("[1, 2, 3]", "[1, 2, 3]"))
        self.assertTrue(2 in items and 7 not in items)
        self.assertEqual((list(items[1:]), list(items[::2])), ([2, 3], [1, 3]))
        self.assertIs(type(items[:1]), torch._C.ScriptList)
        self.assertEqual(items.count(2), 1)
        self.assertEqual([list(script(["a", "b"])), list(script([1.5]))], [["a", "b"], [1.5]])
        self.assertFalse(script([]))

    def test_list_writes(self):
        items = script([1, 2, 3])
        items.append(4)
        items.extend((5, 6))
        items.insert(0, 0)
        items[1] = 9
        items[2:4] = [7, 8]
        self.assertEqual(list(items), [0, 9, 7, 8, 4, 5, 6])
        self.assertEqual((items.pop(), items.pop(0)), (6, 0))
        items.remove(9)
        del items[0]
        self.assertEqual(list(items), [8, 4, 5])
        items.clear()
        self.assertEqual(len(items), 0)

    def test_list_refuses(self):
        items = script([1, 2])
        for wrong in (lambda: items.append("a"), lambda: items.insert(0, "a"), lambda: items.extend([3, "a"]),
                      lambda: items.__setitem__(0, "a"), lambda: items["a"], lambda: items.__delitem__(slice(0, 1))):
            self.assertRaises(TypeError, wrong)
        for wrong in (lambda: items[5], lambda: items[-3], lambda: items.pop(9), lambda: script([]).pop()):
            self.assertRaises(IndexError, wrong)
        self.assertRaises(ValueError, items.remove, 77)
        self.assertRaisesRegex(RuntimeError, "different sizes", items.__setitem__, slice(0, 1), [1, 2])
        self.assertEqual(list(items), [1, 2])
        self.assertRaisesRegex(torch.jit.Error, "List inputs to traced functions must have consistent element type. "
                               "Found int and str", script, [1, "a"])

    def test_dict(self):
        table = script({"a": 1, "b": 2})
        self.assertIs(type(table), torch._C.ScriptDict)
        self.assertEqual((len(table), table["a"], list(table), list(table.keys())), (2, 1, ["a", "b"], ["a", "b"]))
        self.assertEqual((list(table.items()), str(table)), ([("a", 1), ("b", 2)], "{a: 1, b: 2}"))
        self.assertTrue("a" in table and "z" not in table)
        table["c"] = 3
        del table["a"]
        self.assertEqual(dict(table.items()), {"b": 2, "c": 3})
        self.assertRaises(KeyError, lambda: table["nothing"])
        self.assertRaises(KeyError, table.__delitem__, "nothing")
        self.assertRaises(TypeError, table.__setitem__, 1, 1)
        self.assertRaises(TypeError, table.__setitem__, "a", "b")
        self.assertFalse(script({}))

    def test_programs_see_the_same(self):
        table, items = script({"a": 1}), script([1])
        writes(table, items)
        self.assertEqual((dict(table.items()), list(items)), ({"a": 1, "new": 9}, [1, 9]))
        plain_table, plain_items = {"a": 1}, [1]
        writes(plain_table, plain_items)
        self.assertEqual((plain_table, plain_items), ({"a": 1}, [1]))
        self.assertIs(type(of_ints(items)), list)


class Sequences(unittest.TestCase):
    def test_what_is_a_list(self):
        for given, want in ((range(4), [0, 1, 2, 3]), ((1, 2), [1, 2]), (collections.deque([1, 2]), [1, 2]),
                            (collections.UserList([3]), [3]), (range(0), []), (script([5]), [5])):
            self.assertEqual(of_ints(given), want)
        for given, want in ((("a", "b"), ["a", "b"]), ({"a": 1}.keys(), ["a"]), ("abc", ["a", "b", "c"]),
                            (iter(["x"]), ["x"])):
            self.assertEqual(of_strings(given), want)
        self.assertEqual(of_floats(range(2)), [0.0, 1.0])
        self.assertEqual(of_lists([range(2), (1,)], [(1, 2), 3]), ([[0, 1], [1]], ([1, 2], 3)))
        self.assertEqual(of_dict(collections.OrderedDict(a=1)), {"a": 1})
        self.assertEqual(of_dict(collections.UserDict(b=2)), {"b": 2})
        self.assertEqual(of_dict([("c", 3)]), {"c": 3})

    def refused(self, text, call, *args, **kwargs):
        with self.assertRaises(RuntimeError) as caught:
            call(*args, **kwargs)
        self.assertEqual(str(caught.exception).splitlines()[0], text)
        return str(caught.exception)

    def test_what_is_none(self):
        head = "of_ints() Expected a value of type 'List[int]' for argument 'x' but instead found type '%s'."
        for given, name in (({1, 2}, "set"), ("a", "str"), ((1, "b"), "tuple"), ([1.5], "list"), (3, "int"),
                            (torch.ones(2), "Tensor"), ((i for i in range(2)), "generator"), (object, "type")):
            self.refused(head % name, of_ints, given)
        text = self.refused(head % "set", of_ints, {1})
        self.assertIn("\nPosition: 0\nValue: {1}\nDeclaration: of_ints(int[] x, int y=3, str? z=None) -> int[]", text)

    def test_numbers_of_arguments(self):
        declaration = " Declaration: of_ints(int[] x, int y=3, str? z=None) -> int[]"
        schema = " Schema: of_ints(int[] x, int y=3, str? z=None) -> int[]"
        self.refused("of_ints() is missing value for argument 'x'." + declaration, of_ints)
        self.refused("of_ints() expected at most 3 argument(s) but received 4 argument(s)." + declaration,
                     of_ints, [1], 2, "a", 4)
        self.refused("Unknown keyword argument 'q' for operator 'of_ints'." + schema, of_ints, [1], q=3)
        self.refused("Argument 'x' specified both as positional and keyword argument." + schema, of_ints, [1], x=[3])

    def test_of_each_type(self):
        self.assertEqual(of_many((1, "a"), ["x"], 3, 3, 1j, True), 1)
        self.assertEqual(of_many([1, "a"], None, "c", None, 2, torch.tensor(True)), 1)
        head = "of_many() Expected a value of type '%s' for argument '%s' but instead found type '%s'."
        good = [(1, "a"), ["x"], 3, 3, 1j, True]
        for i, wrong, kind, name in ((0, (1, 2), "Tuple[int, str]", "a"), (0, (1,), "Tuple[int, str]", "a"),
                                     (0, 3, "Tuple[int, str]", "a"), (1, [1], "Optional[List[str]]", "b"),
                                     (1, 5, "Optional[List[str]]", "b"), (2, 1.5, "Union[int, str]", "c"),
                                     (2, [1], "Union[int, str]", "c"), (4, "a", "complex", "f"),
                                     (5, "a", "bool", "g")):
            given = list(good)
            given[i] = wrong
            self.refused(head % (kind, name, type(wrong).__name__), of_many, *given)
        good[3] = {1}
        self.refused("Tracer cannot infer type of {1}", of_many, *good)

    def test_of_methods(self):
        module = script(Sum())
        point = collections.namedtuple("P", "a b")(1, 2)
        head = "forward() Expected a value of type '%s' for argument '%s' but instead found type '%s'."
        self.refused(head % ("int", "n", "tuple"), module, torch.ones(1), (1, 2))
        self.refused(head % ("int", "n", "P (aka NamedTuple(a, b))"), module, torch.ones(1), point)
        self.refused(head % ("int", "n", "str"), module, torch.ones(1), n="a")
        text = self.refused(head % ("Tensor (inferred)", "x", "int"), module, 3, 2)
        self.assertIn("Inferred 'x' to be of type 'Tensor' because it was not annotated with an explicit type.", text)
        self.assertIn("\nPosition: 1\nValue: 3\n", text)
        self.refused("forward() is missing value for argument 'n'. Declaration: " + str(module.forward.schema),
                     module, torch.ones(1))


class Modules(unittest.TestCase):
    def test_as_arguments(self):
        @script
        def both(steps: List[Step], x):
            for step in steps:
                x = step.forward(x)
            return x

        @script
        def one(step: Step, x):
            return step.forward(x)
        self.assertEqual(one(script(Twice()), torch.ones(1)).item(), 2)
        self.assertEqual(both([script(More()), script(Twice())], torch.ones(1)).item(), 4)
        with self.assertRaises(RuntimeError):
            one(Sum(), torch.ones(1))

    def test_free_names(self):
        @script
        def calls(x):
            return free(x) * 3
        self.assertEqual(calls(torch.ones(1)).item(), 6)
        with torch.no_grad():
            free.weight.fill_(4)
        self.assertEqual(calls(torch.ones(1)).item(), 15)
        with torch.no_grad():
            free.weight.fill_(1)

    def test_parameter_list(self):
        class Listed(nn.Module):
            def __init__(self):
                super().__init__()
                self.p = nn.ParameterList([nn.Parameter(torch.ones(1)), nn.Parameter(torch.full((1,), 2.0))])

            def forward(self, x):
                for i, p in enumerate(self.p):
                    x = x + p * i
                for a, b in zip(self.p, self.p):
                    x = x + a * b
                return x + self.p[-1]
        module = script(Listed())
        self.assertEqual(module(torch.ones(1)).item(), 10)
        self.assertEqual([name for name, _ in module.named_parameters()], ["p.0", "p.1"])
        file = io.BytesIO()
        torch.jit.save(module, file)
        file.seek(0)
        self.assertEqual(torch.jit.load(file)(torch.ones(1)).item(), 10)

    def test_state(self):
        class Stateful(nn.Module):
            def __init__(self):
                super().__init__()
                self.number, self.training = 3, False

            @torch.jit.export
            def __getstate__(self):
                return (self.number, self.training)

            @torch.jit.export
            def __setstate__(self, state):
                self.number = state[0] + 1
                self.training = state[1]

            def forward(self, x):
                return x + self.number
        file = io.BytesIO()
        torch.jit.save(script(Stateful()), file)
        file.seek(0)
        self.assertEqual(torch.jit.load(file)(torch.ones(1)).item(), 5)


class Defaults(unittest.TestCase):
    def test_tensors(self):
        tensor = torch.full((2,), 4.0)

        def adds(x, y=tensor):
            return x + y

        def calls(x):
            return adds(x) + adds(x, x)

        class Adding(nn.Module):
            def forward(self, x, y=tensor):
                return x + y
        self.assertEqual(script(adds)(torch.ones(2)).tolist(), [5, 5])
        self.assertEqual(script(adds)(torch.ones(2), torch.ones(1)).tolist(), [2, 2])
        self.assertEqual(script(calls)(torch.ones(2)).tolist(), [7, 7])
        self.assertEqual(script(Adding())(torch.ones(2)).tolist(), [5, 5])

    def test_constants(self):
        number = 4

        def more(x, a: int = number * 2, b: float = 1 / 4, c: Tuple[int, str] = (1, "a"), d: Optional[int] = None):
            return x + a + b, c, d
        self.assertEqual(script(more)(torch.zeros(1)), (torch.tensor([8.25]), (1, "a"), None))

    def test_refused(self):
        def mutable(x, y: List[int] = [1, 2]):
            return y

        def mutable_inside(x, y: Tuple[List[int], int] = ([3], 2)):
            return y

        def unannotated(x, y=3):
            return x

        def other(x, y: int = 1.5):
            return x

        class Mutable(nn.Module):
            def forward(self, x, k: Dict[str, int] = {}):
                return x
        head = "Mutable default parameters are not supported because Python binds them to the function"
        for thing in (mutable, mutable_inside, Mutable()):
            self.assertRaisesRegex(RuntimeError, head, script, thing)
        self.assertRaisesRegex(RuntimeError,
            r"Expected a default value of type Tensor \(inferred\) on parameter \"y\".",
                               script, unannotated)
        self.assertRaisesRegex(RuntimeError, "Expected a default value of type int on parameter \"y\".", script,
            other)

    def test_sequences_of_rnn(self):
        def padded(x: List[torch.Tensor]):
            return nn.utils.rnn.pad_sequence(x, batch_first=True)

        def cut(x, n):
            return nn.utils.rnn.unpad_sequence(x, n, batch_first=True)

        def packed(x, n):
            both = nn.utils.rnn.pack_padded_sequence(x, n, enforce_sorted=False)
            return nn.utils.rnn.pad_packed_sequence(both)
        self.assertEqual(script(padded)([torch.ones(2), torch.ones(1)]).tolist(), [[1, 1], [1, 0]])
        self.assertEqual([x.tolist() for x in script(cut)(torch.ones(2, 2), torch.tensor([2, 1]))], [[1, 1], [1]])
        x, n = torch.arange(6.0).reshape(3, 2, 1), torch.tensor([2, 3])
        for function in (packed, script(packed)):
            y, lengths = function(x, n)
            self.assertEqual((y.flatten().tolist(), lengths.tolist()), ([0, 1, 2, 3, 0, 5], [2, 3]))


class Futures(unittest.TestCase):
    def test_of_python(self):
        future = torch.futures.Future()
        seen = []
        future.add_done_callback(lambda f: seen.append(f.value()))
        following = future.then(lambda f: f.value() * 2)
        self.assertFalse(future.done() or following.done())
        future.set_result(5)
        self.assertEqual((future.done(), future.wait(), future.value(), following.wait(), seen), (True, 5, 5, 10,
            [5]))
        self.assertRaisesRegex(RuntimeError, "can only be marked completed once", future.set_result, 6)
        failing = torch.futures.Future()
        failing.set_exception(ValueError("foo"))
        self.assertRaisesRegex(ValueError, "foo", failing.wait)
        self.assertRaisesRegex(ValueError, "foo", failing.value)
        self.assertRaisesRegex(RuntimeError, "Got the following error when running the callback: ValueError: foo",
                               failing.then(lambda f: f.wait()).wait)
        self.assertRaises(AssertionError, torch.futures.Future().set_exception, "text")

    def test_together(self):
        a, b = torch.futures.Future(), torch.futures.Future()
        both = torch.futures.collect_all([a, b])
        a.set_result(1)
        self.assertFalse(both.done())
        b.set_result(2)
        self.assertEqual([f.wait() for f in both.wait()], [1, 2])
        self.assertEqual(torch.futures.wait_all([a, b]), [1, 2])

    def test_of_programs(self):
        @script
        def inner(x):
            return x + 1

        @script
        def outer(x):
            return torch.jit.fork(inner, x)

        @script
        def several(x) -> List[torch.jit.Future[torch.Tensor]]:
            return [torch.jit.fork(inner, x), torch.jit.fork(inner, x + 1)]

        @script
        def waits(f: torch.jit.Future[torch.Tensor]):
            return torch.jit.wait(f) * 2

        @script
        def failing(x):
            assert x.sum() > 100
            return x

        @script
        def outer_failing(x):
            return torch.jit.fork(failing, x)
        future = outer(torch.ones(1))
        self.assertEqual((future.wait().item(), torch.jit.wait(future).item(), future.value().item()), (2, 2, 2))
        self.assertTrue(future.done())
        self.assertIsInstance(future, torch._C.Future)
        self.assertEqual(future.then(lambda f: f.wait() + 3).wait().item(), 5)
        self.assertEqual([f.wait().item() for f in several(torch.ones(1))], [2, 3])
        self.assertEqual(waits(future).item(), 4)
        self.assertRaisesRegex(RuntimeError, "AssertionError", lambda: outer_failing(torch.ones(1)).wait())
        self.assertEqual(torch.jit.wait(torch.jit.fork(lambda x: x * 2, 4)), 8)


if __name__ == "__main__":
    unittest.main()
