"""torch._C's and torch._jit_internal's names around programs: schemas, units, modules as programs have them."""
import importlib
import io
import unittest
import warnings

from beside import torch

C, nn = torch._C, torch.nn
internal = importlib.import_module(torch.__name__ + "._jit_internal")
annotations = importlib.import_module(torch.__name__ + ".jit.annotations")


class Added(nn.Module):
    def __init__(self, a=1):
        super().__init__()
        self.a = a
        self.weight = nn.Parameter(torch.ones(1))
        self.register_buffer("kept", torch.ones(2))
        self.inner = nn.ReLU()

    def forward(self, x):
        return self.inner(x) + self.a


class Chain(nn.Module):
    def __init__(self, *steps):
        super().__init__()
        self.steps = nn.ModuleList(steps)

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


def plus_one(x):
    return x + 1


def plus_one_twice(x):
    return plus_one(plus_one(x))


class Schemas(unittest.TestCase):
    def test_of_function(self):
        @torch.jit.script
        def f(x, n: int = 2, *, flag: bool):
            return x + n if flag else x
        schema = f.schema
        self.assertEqual(str(schema), "f(Tensor x, int n=2, *, bool flag) -> Tensor")
        self.assertEqual((schema.name, schema.overload_name), ("f", ""))
        self.assertEqual([one.name for one in schema.arguments], ["x", "n", "flag"])
        self.assertEqual([str(one.type) for one in schema.arguments], ["Tensor", "int", "bool"])
        self.assertEqual([one.has_default_value() for one in schema.arguments], [False, True, False])
        self.assertEqual([one.default_value for one in schema.arguments], [None, 2, None])
        self.assertEqual([one.kwarg_only for one in schema.arguments], [False, False, True])
        self.assertEqual([str(one.type) for one in schema.returns], ["Tensor"])

    def test_parsed(self):
        text = "aten::foo.some(Tensor(a!) self, int[2] size=0, *, Scalar? by=None) -> (Tensor(a!), int)"
        schema = C.parse_schema(text)
        self.assertEqual((str(schema), schema.name, schema.overload_name), (text, "aten::foo", "some"))
        self.assertEqual(schema, C.parse_schema(text))
        self.assertNotEqual(schema, C.parse_schema("aten::foo() -> int"))
        self.assertEqual([(one.N, one.default_value) for one in schema.arguments], [(None, None), (2, [0, 0]),
                                                                                   (None, None)])
        self.assertTrue(schema.arguments[0].alias_info.is_write)
        self.assertIsNone(schema.arguments[1].alias_info)
        self.assertEqual([str(one.type) for one in schema.arguments], ["Tensor", "List[int]", "Optional[number]"])
        with self.assertRaises(RuntimeError):
            C.parse_schema("nothing of the kind")

    def test_of_operators(self):
        schema = C._get_schema("aten::add", "Tensor")
        self.assertEqual(str(schema), "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
        with self.assertRaises(RuntimeError):
            C._get_schema("aten::add", "nothing")
        self.assertIn("Scalar", [one.overload_name for one in C._jit_get_schemas_for_operator("aten::add")])
        self.assertEqual(C._jit_get_schemas_for_operator("aten::no_such_operator"), [])
        self.assertIn("aten::relu", {one.name for one in C._jit_get_all_schemas()})
        function, overloads = C._jit_get_operation("aten::add")
        self.assertEqual(function(torch.ones(1), torch.ones(1)).tolist(), [2])
        self.assertIn("Tensor", overloads)
        with self.assertRaises(RuntimeError):
            C._jit_get_operation("aten::no_such_operator")

    def test_compatible(self):
        old = C.parse_schema("any::f(Tensor x, int n=1) -> Tensor")
        for text, expected in (
                ("any::f(Tensor x, int n=1) -> Tensor", True),
                ("any::f(Tensor x, int n=1, int m=2) -> Tensor", True),
                ("any::f(Tensor x) -> Tensor", False),
                ("any::f(Tensor x, int n) -> Tensor", False),
                ("any::f(Tensor x, str n=\"a\") -> Tensor", False),
                ("any::f(Tensor? x, int n=1) -> Tensor", True),
                ("any::g(Tensor x, int n=1) -> Tensor", False),
                ("any::f(Tensor x, int n=1) -> (Tensor, int)", False),
                ("any::f(Tensor y, int n=1) -> Tensor", False)):
            self.assertIs(C.parse_schema(text).is_backward_compatible_with(old), expected, text)


class Units(unittest.TestCase):
    def test_functions(self):
        unit = torch.jit.CompilationUnit("def f(x):\n    return x + 1\n\ndef g(x):\n    return f(x) * 2\n")
        self.assertEqual(sorted(one.name for one in unit.get_functions()), ["f", "g"])
        self.assertEqual(unit.find_function("g")(torch.ones(1)).tolist(), [4])
        self.assertIsNone(unit.find_function("h"))
        with self.assertRaises(AttributeError):
            unit.h

    def test_created(self):
        unit = C.CompilationUnit()
        graph = torch.jit.script(plus_one).graph
        unit.create_function("made", graph)
        self.assertEqual(unit.find_function("made")(torch.ones(1)).tolist(), [2])
        with self.assertRaises(RuntimeError):
            unit.create_function("made", graph)
        unit.create_function("made", graph, True)
        self.assertEqual(len(unit.get_functions()), 2)

    def test_emit_hooks(self):
        seen = []
        before = C._jit_get_emit_hooks()
        C._jit_set_emit_hooks(lambda module: seen.append(module._has_method("forward")),
                              lambda function: seen.append(function.name))
        try:
            def once(x):
                return x * 3
            torch.jit.script(once)
            C._run_emit_module_hook(torch.jit.script(Added(7))._c)
        finally:
            C._jit_set_emit_hooks(*before)
        self.assertIn("once", seen)
        self.assertIs(seen[-1], True)

    def test_inline_everything(self):
        self.assertFalse(C._jit_get_inline_everything_mode())
        C._jit_set_inline_everything_mode(True)
        try:
            def calls(x):
                return plus_one(x) * 2
            kinds = [node.kind() for node in torch.jit.script(calls).graph.nodes()]
        finally:
            C._jit_set_inline_everything_mode(False)
        self.assertIn("aten::add", kinds)
        self.assertNotIn("prim::CallFunction", kinds)

    def test_function_of_trace(self):
        made = C._create_function_from_trace("made", plus_one_twice, (torch.ones(1),), lambda value: "", True, False,
                                             ["given"])
        self.assertEqual(made(torch.ones(2)).tolist(), [3, 3])
        self.assertEqual([one.debugName() for one in made.graph.inputs()], ["given"])

    def test_tracing_state(self):
        self.assertIsNone(C._get_tracing_state())
        seen = []

        def f(x):
            seen.append(C._get_tracing_state() is not None)
            return x + 1
        torch.jit.trace(f, torch.ones(1), check_trace=False)
        self.assertEqual(seen, [True])

    def test_module_of_bytes(self):
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(Added()), buffer)
        module = C.import_ir_module_from_buffer(C.CompilationUnit(), buffer.getvalue(), None, {})
        self.assertTrue(module.hasattr("weight"))
        self.assertTrue(module._has_method("forward"))


    def test_is_instance(self):
        ints, number = C.ListType.ofInts(), C.IntType.get()
        for value, kind in ((1, number), (True, number), (1, C.FloatType.get()), ([1], ints), ([], ints),
                            (None, C.OptionalType(number)), (torch.ones(1), C.TensorType.get()),
                            ({"a": 1}, C.DictType(C.StringType.get(), number))):
            with self.subTest(value=value, kind=str(kind)):
                self.assertIsNone(C._jit_assert_is_instance(value, kind))
        for value, kind in ((1.0, number), ("a", number), (["a"], ints),
                            ({"a": "b"}, C.DictType(C.StringType.get(), number))):
            with self.subTest(value=value, kind=str(kind)):
                with self.assertRaises(RuntimeError):
                    C._jit_assert_is_instance(value, kind)

    def test_optimize_for_inference(self):
        scripted = torch.jit.script(Added().eval())
        frozen = C._freeze_module(scripted._c)
        x = torch.ones(1)
        want = frozen.forward(x)
        self.assertIsNone(C._jit_pass_optimize_for_inference(frozen, ["forward"]))
        self.assertTrue(torch.allclose(frozen.forward(x), want))
        with self.assertRaisesRegex(RuntimeError, "Method 'missing' is not defined"):
            C._jit_pass_optimize_for_inference(frozen, ["missing"])
        with self.assertRaisesRegex(RuntimeError, "only implemented for modules in eval mode"):
            C._jit_pass_optimize_for_inference(scripted.train()._c)


class Modules(unittest.TestCase):
    def test_parts(self):
        module = torch.jit.script(Added())._c
        self.assertEqual([name for name, _ in C.ParameterDict(module).items()], ["weight"])
        self.assertEqual([name for name, _ in C.BufferDict(module).items()], ["kept"])
        self.assertEqual([name for name, _ in C.ModuleDict(module).items()], ["inner"])
        self.assertIn("return", module.code)
        text = module.dump_to_str(True, False, False)
        self.assertIn("module __torch__.", text)
        self.assertIn("method forward {", text)

    def test_self_in_graphs(self):
        scripted = torch.jit.script(Added())
        self.assertIn("graph(%self : ", str(scripted.graph))
        self.assertIn("graph(%self : ", str(scripted.inlined_graph))

    def test_classes_of_archives(self):
        buffer = io.BytesIO()
        scripted = torch.jit.script(Added(2))
        torch.jit.save(scripted, buffer)

        def loaded():
            buffer.seek(0)
            return torch.jit.load(buffer)
        first, second = loaded(), loaded()
        self.assertEqual(first._c._type(), first._c._type())
        self.assertNotEqual(first._c._type(), second._c._type())
        self.assertNotEqual(first._c._type(), scripted._c._type())
        self.assertEqual(scripted._c._type(), torch.jit.script(Added(3))._c._type())
        self.assertEqual(torch.jit.script(Chain(first))(torch.ones(1)).tolist(), [3])
        self.assertEqual(torch.jit.script(Chain(second))(torch.ones(1)).tolist(), [3])
        self.assertEqual(torch.jit.script(Chain(first, second, Added(5), scripted))(torch.ones(1)).tolist(), [12])

    def test_unique_state(self):
        tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        tied[1].weight = tied[0].weight
        self.assertEqual(list(torch.jit._unique_state_dict(tied)), ["0.weight", "0.bias", "1.bias"])


class Marks(unittest.TestCase):
    def test_modifiers(self):
        @torch.jit.ignore
        def ignored(x):
            return x

        @torch.jit.unused
        def unused(x):
            return x
        self.assertTrue(internal.is_ignored_fn(ignored))
        self.assertTrue(internal.is_ignored_fn(unused))
        self.assertFalse(internal.is_ignored_fn(plus_one))
        self.assertTrue(internal.should_drop(unused))
        self.assertFalse(internal.should_drop(ignored))

        def copy(x):
            return x
        internal.copy_torchscript_modifier(unused, copy)
        self.assertTrue(internal.should_drop(copy))
        self.assertFalse(internal.module_has_exports(Added()))

    def test_names(self):
        self.assertTrue(internal._qualified_name(Added).startswith("__torch__."))
        self.assertTrue(internal._qualified_name(Added).endswith("Added"))
        find = internal.createResolutionCallbackFromClosure(plus_one_twice)
        self.assertIs(find("plus_one"), plus_one)
        local = 5
        self.assertEqual((internal.createResolutionCallbackFromFrame()("local"), local), (5, 5))
        self.assertEqual(internal.get_callable_argument_names(lambda a, b=2: a), ["a", "b"])
        self.assertEqual(internal.get_callable_argument_names(lambda *a: a), [])

    def test_annotations(self):
        import typing
        self.assertTrue(internal.is_optional(typing.Optional[int]))
        self.assertFalse(internal.is_optional(int))
        self.assertTrue(internal.is_list(typing.List[int]))
        self.assertTrue(internal.is_tuple(typing.Tuple[int]))
        self.assertTrue(internal.is_dict(typing.Dict[str, int]))
        self.assertEqual(str(annotations.ann_to_type(typing.List[int], None)), "List[int]")
        self.assertEqual(str(C.unify_type_list([C.IntType.get(), C.IntType.get()])), "int")

    def test_builtins(self):
        builtins = importlib.import_module(torch.__name__ + ".jit._builtins")
        self.assertEqual(builtins._find_builtin(torch.add), "aten::add")
        self.assertIsNone(builtins._find_builtin(plus_one))

    def test_tree(self):
        text = str(torch.jit.frontend.get_jit_def(plus_one, plus_one.__name__))
        self.assertEqual(text.split(), """(def (ident plus_one) (decl
            (list (param (ident x) (option) (option) (False))) (option))
            (list (return (+ (variable (ident x)) (const 1)))))""".split())
        self.assertEqual(torch.jit.frontend.get_default_args(lambda a, b=3: a), {"b": 3})

    def test_empty_containers(self):
        for empty in ([], {}):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                internal.check_empty_containers(empty)
            self.assertEqual(len(seen), 1)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            internal.check_empty_containers([1])
        self.assertEqual(seen, [])


if __name__ == "__main__":
    unittest.main()
