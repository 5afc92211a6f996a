"""Types of graphs as objects, as torch._C has them."""
import unittest

from beside import torch

C = torch._C
F, L = torch.float32, torch.int64


def of(text):
    """The type of a graph's input, from its text."""
    graph = C.parse_ir("graph(%%a : %s):\n  return (%%a)\n" % text)
    return next(graph.inputs()).type()


# text in graphs: kind, text in programs
PLAIN = {
    "int": ("IntType", "int"), "float": ("FloatType", "float"), "bool": ("BoolType", "bool"),
    "str": ("StringType", "str"), "complex": ("ComplexType", "complex"), "NoneType": ("NoneType", "NoneType"),
    "Any": ("AnyType", "Any"), "Device": ("DeviceObjType", "Device"), "Scalar": ("NumberType", "number"),
    "Tensor": ("TensorType", "Tensor"), "int[]": ("ListType", "List[int]"), "Tensor[]": ("ListType", "List[Tensor]"),
    "int[][]": ("ListType", "List[List[int]]"), "Tensor?": ("OptionalType", "Optional[Tensor]"),
    "int?": ("OptionalType", "Optional[int]"), "Tensor?[]": ("ListType", "List[Optional[Tensor]]"),
    "int[]?": ("OptionalType", "Optional[List[int]]"), "Dict(str, int)": ("DictType", "Dict[str, int]"),
    "Dict(str, Tensor[])": ("DictType", "Dict[str, List[Tensor]]"),
    "(int, Tensor)": ("TupleType", "Tuple[int, Tensor]"), "(int, (float, str))":
    ("TupleType", "Tuple[int, Tuple[float, str]]"),
    "(Tensor, Dict(int, float[]))": ("TupleType", "Tuple[Tensor, Dict[int, List[float]]]"),
}
# text in graphs: sizes, number of dimensions, dtype, strides, requires_grad, sizes with None, complete
TENSORS = {
    "Tensor": (None, None, None, None, True, None, False),
    "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)": ([2, 3], 2, F, [3, 1], False, [2, 3], True),
    "Float(2, 3, strides=[3, 1], requires_grad=1, device=cpu)": ([2, 3], 2, F, [3, 1], True, [2, 3], True),
    "Float(*, *)": (None, 2, F, None, True, [None, None], False),
    "Double(2, *)": (None, 2, torch.float64, None, True, [2, None], False),
    "Float(*)": (None, 1, F, None, True, [None], False),
    "Long(requires_grad=0, device=cpu)": ([], 0, L, [], False, [], True),
    "Long(4)": ([4], 1, L, None, True, [4], False),
    "Half(1, 2)": ([1, 2], 2, torch.float16, None, True, [1, 2], False),
    "Bool(3)": ([3], 1, torch.bool, None, True, [3], False), "Byte(3)": ([3], 1, torch.uint8, None, True, [3], False),
    "Int(2, 2)": ([2, 2], 2, torch.int32, None, True, [2, 2], False),
}
MADE = {
    "sizes": (lambda t: t.with_sizes([2, 3]), "Tensor(2, 3)"),
    "sizes not known": (lambda t: t.with_sizes([2, None]), "Tensor(2, *)"),
    "device": (lambda t: t.with_device(torch.device("cpu")), "Tensor(device=cpu)"),
    "dtype": (lambda t: t.with_dtype(F), "FloatTensor"),
    "dtype and sizes": (lambda t: t.with_dtype(F).with_sizes([2, 3]), "Float(2, 3)"),
    "all": (lambda t: t.with_dtype(L).with_sizes([2]).with_device(torch.device("cpu")), "Long(2, device=cpu)"),
    "strides": (lambda t: t.with_dtype(F).with_sizes([2, 3]).contiguous(), "Float(2, 3, strides=[3, 1])"),
}
SUBTYPES = [("int", "int", True), ("int", "Any", True), ("Tensor", "Tensor?", True), ("Tensor?", "Tensor", False),
            ("Float(2)", "Tensor", True), ("Tensor", "Float(2)", False), ("int[]", "int[]", True),
            ("int", "float", False), ("int", "Scalar", True), ("float", "Scalar", True), ("NoneType", "int?", True),
            ("int[]", "Tensor[]", False), ("(int, int)", "(int, int)", True), ("(int, int)", "(int, float)", False),
            ("(int, Tensor)", "(int, Tensor?)", True), ("Dict(str, int)", "Dict(str, int)", True)]
VALUES = [(1, "int"), (1.5, "float"), (True, "bool"), ("a", "str"), (1j, "complex"), (None, "NoneType"),
          ([1, 2], "List[int]"), ((1, 2.0), "Tuple[int, float]"), ({"a": 1}, "Dict[str, int]"),
          ([[1.0]], "List[List[float]]"), ([(1, "a")], "List[Tuple[int, str]]"), (torch.ones(1), "Tensor")]


class OfText(unittest.TestCase):
    pass


def add(name, test):
    setattr(OfText, "test_" + name, test)


for i, (text, (kind, annotation)) in enumerate(PLAIN.items()):
    def plain(self, text=text, kind=kind, annotation=annotation):
        made = of(text)
        self.assertEqual((made.str(), made.kind(), made.annotation_str, str(made), repr(made)),
                         (text, kind, annotation, annotation, annotation))
        self.assertIsInstance(made, getattr(C, kind))
        self.assertIsInstance(made, C.Type)
        self.assertEqual(made, of(text))
    add("plain_%d" % i, plain)
for i, (text, facts) in enumerate(TENSORS.items()):
    def tensor(self, text=text, facts=facts):
        made = of(text)
        self.assertEqual((made.sizes(), made.dim(), made.dtype(), made.strides(), made.requires_grad(),
                          made.varyingSizes()), facts[:-1])
        graph = C.parse_ir("graph(%%a : %s):\n  return (%%a)\n" % text)
        self.assertEqual(next(graph.inputs()).isCompleteTensor(), facts[-1])
        self.assertEqual(made.str(), text)
        self.assertEqual(made.kind(), "TensorType")
        self.assertFalse(made.undefined())
    add("tensor_%d" % i, tensor)
for i, (name, (make, text)) in enumerate(MADE.items()):
    def made(self, make=make, text=text):
        self.assertEqual(make(C.TensorType.get()).str(), text)
        self.assertEqual(str(make(C.TensorType.get())), "Tensor")
    add("made_%d" % i, made)
for i, (a, b, answer) in enumerate(SUBTYPES):
    def subtype(self, a=a, b=b, answer=answer):
        self.assertEqual(of(a).isSubtypeOf(of(b)), answer)
    add("subtype_%d" % i, subtype)
for i, (value, text) in enumerate(VALUES):
    def inferred(self, value=value, text=text):
        made = C._jit_try_infer_type(value)
        self.assertTrue(made.success())
        self.assertEqual(made.type().annotation_str, text)
    add("inferred_%d" % i, inferred)


class Made(unittest.TestCase):
    def test_containers(self):
        integer, text, tensor = C.IntType.get(), C.StringType.get(), C.TensorType.get()
        self.assertEqual(C.ListType(integer).str(), "int[]")
        self.assertEqual(C.ListType.ofTensors().str(), "Tensor[]")
        self.assertEqual(C.ListType.ofFloats().str(), "float[]")
        self.assertEqual(C.ListType.ofBools().str(), "bool[]")
        self.assertEqual(C.OptionalType(tensor).str(), "Tensor?")
        self.assertEqual(C.OptionalType.ofTensor().getElementType().kind(), "TensorType")
        self.assertEqual(C.DictType(text, tensor).str(), "Dict(str, Tensor)")
        self.assertEqual(C.DictType(text, integer).getKeyType().kind(), "StringType")
        self.assertEqual(C.DictType(text, integer).getValueType().kind(), "IntType")
        self.assertEqual(C.TupleType([integer, tensor]).str(), "(int, Tensor)")
        self.assertEqual([t.kind() for t in C.TupleType([integer, tensor]).elements()], ["IntType", "TensorType"])
        self.assertEqual(C.TupleType([]).str(), "()")
        self.assertEqual(C.FutureType(integer).annotation_str, "Future[int]")
        self.assertEqual(C.UnionType([integer, tensor]).annotation_str, "Union[Tensor, int]")
        self.assertEqual([t.kind() for t in C.ListType(integer).containedTypes()], ["IntType"])

    def test_optionals(self):
        once = C.OptionalType(C.TensorType.get())
        self.assertEqual(C.OptionalType(once).str(), "Tensor?")
        self.assertEqual(C.UnionType([C.IntType.get(), C.NoneType.get()]).kind(), "OptionalType")

    def test_equal(self):
        self.assertEqual(C.IntType.get(), C.IntType.get())
        self.assertEqual(C.ListType(C.IntType.get()), C.ListType.ofInts())
        self.assertNotEqual(C.ListType.ofInts(), C.ListType.ofFloats())

    def test_of_tensor(self):
        made = C.TensorType.create_from_tensor(torch.ones(2, 3))
        self.assertEqual((made.sizes(), made.strides(), made.dtype(), str(made.device()), made.scalarType()),
                         ([2, 3], [3, 1], F, "cpu", "Float"))
        made = C.TensorType.create_from_tensor(torch.ones(2, 3).t())
        self.assertEqual(made.strides(), [1, 3])

    def test_no_tensor(self):
        for ask in ("sizes", "dim", "dtype"):
            with self.assertRaises(RuntimeError):
                getattr(C.IntType.get(), ask)()

    def test_not_inferred(self):
        made = C._jit_try_infer_type(object())
        self.assertFalse(made.success())
        self.assertTrue(made.reason())

    def test_of_values(self):
        @torch.jit.script
        def f(x, n: int):
            return x + n, [n]
        self.assertEqual([value.type().kind() for value in f.graph.inputs()][:2], ["TensorType", "IntType"])
        self.assertEqual(next(f.graph.outputs()).type().annotation_str, "Tuple[Tensor, List[int]]")

    def test_of_classes(self):
        class Net(torch.nn.Module):
            def forward(self, x):
                return x
        module = torch.jit.script(Net())
        made = next(module.graph.inputs()).type()
        self.assertEqual(made.kind(), "ClassType")
        self.assertEqual(made.name(), "Net")
        self.assertTrue(made.qualified_name().startswith("__torch__."))


if __name__ == "__main__":
    unittest.main()
