"""torch._C's passes and objects that change graphs: frozen convolutions, integers told by tests, decompositions,
derivatives; switches of fusers; names of modules within programs."""
import itertools
import unittest
from typing import List

from beside import torch

C, nn = torch._C, torch.nn


def kinds(graph):
    found = []

    def walk(block):
        for node in block.nodes():
            if node.kind() != "prim::Constant":
                found.append(node.kind())
            for inner in node.blocks():
                walk(inner)
    walk(graph.block())
    return found


class Scaled(nn.Module):
    def __init__(self, kind, other, bias, dims):
        super().__init__()
        self.conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1](3, 4, 2, bias=bias)
        self.kind, self.other = kind, other

    def forward(self, x):
        y = self.conv(x)
        if self.kind == "add":
            return y + self.other
        if self.kind == "sub":
            return y - self.other
        if self.kind == "mul":
            return y * self.other
        return y / self.other


class Frozen(unittest.TestCase):
    def folded(self, kind, other, bias=True, dims=2):
        module = torch.jit.script(Scaled(kind, other, bias, dims).eval())
        frozen = torch.jit.freeze(module, optimize_numerics=False)
        name = "add_or_sub" if kind in ("add", "sub") else "mul_or_div"
        changed = getattr(C, "_jit_pass_fold_frozen_conv_" + name)(frozen.graph)
        C._jit_pass_lint(frozen.graph)
        x = torch.rand([2, 3] + [4] * dims)
        plain = frozen.graph.copy()
        plain.eraseInput(0)
        torch.testing.assert_close(C._create_function_from_graph("folded", plain)(x), module(x), rtol=1e-4, atol=1e-5)
        return changed, ["aten::" + kind in kinds(frozen.graph)]

    def test_folds(self):
        for kind, other, bias, dims in itertools.product(("add", "sub", "mul", "div"), (2, 2.5), (True, False),
                                                         (1, 2, 3)):
            with self.subTest((kind, other, bias, dims)):
                self.assertEqual(self.folded(kind, other, bias, dims), (True, [False]))

    def test_folds_tensors(self):
        for kind in ("add", "sub", "mul", "div"):
            for other in (torch.tensor(3.), torch.tensor(3), torch.rand(1, 4, 1, 1) + 1, torch.rand(1, 1, 1)):
                with self.subTest((kind, other.shape)):
                    self.assertEqual(self.folded(kind, other), (True, [False]))

    def test_leaves_what_broadcasts(self):
        for kind in ("add", "sub", "mul", "div"):
            for other in (torch.rand(4, 1, 1) + 1, torch.rand(3) + 1, torch.rand(2, 4, 1, 1) + 1,
                          torch.rand(1, 1, 1, 1, 1) + 1):
                with self.subTest((kind, other.shape)):
                    self.assertEqual(self.folded(kind, other), (False, [True]))

    def test_linear_is_transposed(self):
        for bias in (True, False):
            frozen = torch.jit.freeze(torch.jit.script(nn.Linear(3, 4, bias=bias).eval()), optimize_numerics=False)
            self.assertTrue(C._jit_pass_transpose_frozen_linear(frozen.graph))
            self.assertEqual(kinds(frozen.graph), ["aten::matmul"] + ["aten::add"] * bias)
            self.assertFalse(C._jit_pass_transpose_frozen_linear(frozen.graph))
            self.assertFalse(C._jit_pass_concat_frozen_linear(frozen.graph))

    def test_optimized(self):
        module = nn.Sequential(nn.Dropout(), nn.Conv2d(3, 4, 1), nn.Dropout()).eval()
        frozen = torch.jit.freeze(torch.jit.script(module), optimize_numerics=False)
        C._jit_pass_optimize_frozen_graph(frozen.graph, True)
        self.assertEqual(kinds(frozen.graph), ["aten::conv2d"])

    def test_dropout_of_modules(self):
        frozen = C._freeze_module(torch.jit.script(nn.Sequential(nn.Dropout(), nn.ReLU()).eval())._c)
        C._jit_pass_remove_dropout(frozen)
        self.assertEqual(kinds(frozen._get_method("forward").graph), ["aten::relu"])
        with self.assertRaisesRegex(RuntimeError, "training mode is not yet supported"):
            C._jit_pass_remove_dropout(torch.jit.script(nn.Dropout())._c)


UNITS = []  # a graph does not keep its program in torch


class Refined(unittest.TestCase):
    def refined(self, text):
        UNITS.append(torch.jit.CompilationUnit(text))
        graph = UNITS[-1].f.graph
        changed = C._jit_pass_integer_value_refinement(graph)
        C._jit_pass_constant_propagation(graph)
        C._jit_pass_dce(graph)
        return changed, [kind for kind in kinds(graph) if kind in ("aten::add", "aten::mul")]

    def test_in_a_branch(self):
        self.assertEqual(self.refined("def f(x: int):\n  if x == 4:\n    return x + 1\n  return 3\n"), (True, []))
        self.assertEqual(self.refined("def f(x: int):\n  if x != 4:\n    y = 2\n  else:\n    y = x + 1\n"
                                      "  return y\n"), (True, []))

    def test_after_a_refusal(self):
        self.assertEqual(self.refined("def f(x: int):\n  if x != 4:\n    raise RuntimeError('x')\n  return x + 2\n"),
                         (True, []))
        self.assertEqual(self.refined("def f(x: int):\n  assert 3 == x\n  return x + 1\n"), (True, []))

    def test_and_or_not(self):
        self.assertEqual(self.refined("def f(x: int, y: int):\n  if x == 4 and y == 3:\n    return x + y\n"
                                      "  return x\n"), (True, []))
        self.assertEqual(self.refined("def f(x: int, y: int):\n  if x != 4 or y != 3:\n    raise RuntimeError('x')\n"
                                      "  return x + y\n"), (True, []))
        self.assertEqual(self.refined("def f(x: int, y: int):\n  if not x == 4:\n    raise RuntimeError('x')\n"
                                      "  return y * x\n"), (True, ["aten::mul"]))
        self.assertEqual(self.refined("def f(x: int, y: int):\n  if x == 3 or y == 4:\n    return x + y\n"
                                      "  return x + y\n"), (False, ["aten::add", "aten::add"]))

    def test_floats_are_left(self):
        self.assertEqual(self.refined("def f(x: float):\n  assert x == 3.0\n  return x + 1\n"),
                         (False, ["aten::add"]))


def square_by_pow(x):
    return torch.pow(x, 2)


class Replaced(unittest.TestCase):
    def test_decomposition(self):
        made = torch.jit.script(square_by_pow)
        torch.jit._register_decomposition(torch.ops.aten.square.default, made.graph)
        UNITS.append(torch.jit.CompilationUnit("def f(x):\n  return torch.square(x) + 1\n"))
        graph = UNITS[-1].f.graph
        self.assertIsNotNone(C._jit_decomposition_graph_for_node(graph.findNode("aten::square")))
        C._jit_pass_run_decompositions(graph)
        self.assertEqual(kinds(graph), ["aten::pow", "aten::add"])

    def test_own_decomposition(self):
        for unbiased in (True, False):
            UNITS.append(torch.jit.CompilationUnit("def f(x):\n  return torch.var(x, %s)\n" % unbiased))
            graph = UNITS[-1].f.graph
            C._jit_pass_run_decompositions(graph)
            self.assertNotIn("aten::var", kinds(graph))
            x = torch.rand(3, 4)
            torch.testing.assert_close(C._jit_interpret_graph(graph, (x,)), torch.var(x, unbiased))

    def test_side_effects_go(self):
        UNITS.append(torch.jit.CompilationUnit("def f(x):\n  print(x)\n  y = x + 1\n  x.add_(2)\n  return y\n"))
        graph = UNITS[-1].f.graph
        C._jit_pass_dce_allow_deleting_nodes_with_side_effects(graph)
        self.assertEqual(kinds(graph), ["aten::add"])


class Derivatives(unittest.TestCase):
    def of(self, body, inputs):
        graph = C.parse_ir("graph(%a : Float(2, 3), %b : Float(2, 3)):\n  %one : int = prim::Constant[value=1]()\n"
                           + body + "  return (%r)\n")
        gradient = C._jit_differentiate(graph)
        self.assertEqual(gradient.f_real_outputs, 1)
        results = C._jit_interpret_graph(gradient.f, inputs)
        results = list(results) if isinstance(results, tuple) else [results]
        seed = torch.rand(2, 3)
        given = [seed] + [torch.zeros_like(results[i]) for i in gradient.df_input_vjps[1:]]
        given += [inputs[i] for i in gradient.df_input_captured_inputs]
        given += [results[i] for i in gradient.df_input_captured_outputs]
        self.assertEqual(len(list(gradient.df.inputs())), len(given))
        plain = [x.clone().requires_grad_() for x in inputs]
        torch.autograd.backward([C._jit_interpret_graph(graph, tuple(plain))], [seed])
        self.assertEqual(gradient.df_output_vjps, [i for i, x in enumerate(plain) if x.grad is not None])
        if torch.__name__ == "wick":  # torch has no pass by name that makes a gradient's graph one that runs
            gradient.df.run_pass("lower_grad_of")
            found = C._jit_interpret_graph(gradient.df, tuple(given))
            found = found if isinstance(found, tuple) else (found,)
            for one, grad in zip(found, [x.grad for x in plain if x.grad is not None]):
                torch.testing.assert_close(one, grad)

    def test_of_what_has_no_formula(self):
        UNITS.append(torch.jit.CompilationUnit("def f(a, b):\n  return a.add_(b)\n"))
        graph = UNITS[-1].f.graph
        if torch.__name__ == "wick":  # torch fails in an assertion of its own, or gives what is no gradient
            with self.assertRaisesRegex((RuntimeError, NotImplementedError), "can't be differentiated in a graph"):
                C._jit_differentiate(graph)

    def test_of_operators(self):
        x = torch.rand(2, 3), torch.rand(2, 3)
        for body in ("  %c : Float(2, 3) = aten::mul(%a, %b)\n  %d : Float(2, 3) = aten::sigmoid(%c)\n"
                     "  %r : Float(2, 3) = aten::add(%d, %a, %one)\n", "  %r : Float(2, 3) = aten::tanh(%a)\n"):
            with self.subTest(body):
                self.of(body, x)


class Texts(unittest.TestCase):
    def test_names_that_stand_twice(self):
        graph = C.parse_ir("graph(%0 : Tensor):\n  %1 : Tensor = aten::relu(%0)\n  %1 : Tensor = aten::tanh(%1)\n"
                           "  %1 : Tensor = aten::neg(%1)\n  return (%1)\n")
        self.assertEqual(kinds(graph), ["aten::relu", "aten::tanh", "aten::neg"])
        C._jit_pass_lint(graph)
        self.assertEqual(C._jit_interpret_graph(graph, (torch.zeros(1),)).tolist(), [0])


class Aliases(unittest.TestCase):
    def test_schemas_say_what_operators_do(self):
        for body, name in (("x.view(-1)", "view"), ("x + 1", "add"), ("x.add_(1)", "add_"), ("torch.relu(x)", "relu"),
                           ("x.transpose(0, 1)", "transpose"), ("x.split(1)", "split"), ("x.sum(1)", "sum"),
                           ("torch.max(x, 1)", "max"), ("x.expand([2, 3])", "expand"),
                           ("x.contiguous()", "contiguous")):
            with self.subTest(name):
                UNITS.append(torch.jit.CompilationUnit("def f(x):\n  return %s\n" % body))
                graph = UNITS[-1].f.graph
                C._jit_pass_constant_propagation(graph)
                C._jit_check_alias_annotation(graph, (torch.rand(2, 3),), name)


class Switches(unittest.TestCase):
    def test_kept(self):
        for setter, getter, value in (("_jit_set_texpr_reductions_enabled", "_jit_texpr_reductions_enabled", True),
                                      ("_jit_texpr_set_fallback_allowed", "_jit_texpr_fallback_allowed", True),
                                      ("_jit_set_te_must_use_llvm_cpu", "_jit_get_te_must_use_llvm_cpu", False),
                                      ("_jit_set_symbolic_shapes_test_mode",
                                       "_jit_symbolic_shapes_test_mode_enabled", True),
                                      ("_debug_set_fusion_group_inlining",
                                       "_debug_get_fusion_group_inlining", False)):
            with self.subTest(setter):
                before = getattr(C, getter)()
                getattr(C, setter)(value)
                self.assertEqual(getattr(C, getter)(), value)
                getattr(C, setter)(before)

    def test_overloads_tell_of_themselves(self):
        overload = torch.ops.aten.add.Tensor
        self.assertEqual((overload.name(), overload.namespace), ("aten::add.Tensor", "aten"))
        self.assertEqual(overload._overloadname, "Tensor")
        self.assertEqual(overload._schema.name, "aten::add")


class Holding(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.ReLU(), nn.Linear(3, 3)])
        self.last = nn.Tanh()
        self.register_buffer("scale", torch.ones(1))


class Children(Holding):
    def forward(self, x):
        names: List[str] = []
        for name, _ in self.named_children():
            names.append(name)
        count = 0
        for _ in self.children():
            count += 1
        return names, count, len(self.children())


class Modules(Holding):
    def forward(self, x):
        names: List[str] = []
        for name, _ in self.named_modules():
            names.append(name)
        for i, _ in enumerate(self.layers.modules()):
            names.append(str(i))
        return names


class Buffers(Holding):
    def forward(self, x):
        for name, buffer in self.named_buffers():
            x = x * buffer + len(name)
        return x


class Programs(unittest.TestCase):
    def test_modules_within_programs(self):
        x = torch.ones(1)
        self.assertEqual(torch.jit.script(Children())(x), (["layers", "last"], 2, 2))
        self.assertEqual(torch.jit.script(Modules())(x),
                         ["", "layers", "layers.0", "layers.1", "last", "0", "1", "2"])
        self.assertEqual(torch.jit.script(Buffers())(x).tolist(), [6.0])

    def test_tensors_made_in_traces(self):
        for made in (lambda a: torch.tensor([1., 2.]) + a, lambda a: torch.tensor(3) * a):
            graph = torch.jit.trace(made, torch.ones(2)).graph
            self.assertEqual(kinds(graph)[:2], ["aten::to", "aten::detach"])
        traced = torch.jit.trace(lambda a: torch.tensor([1., 2.]), torch.ones(2))
        self.assertEqual(traced(torch.zeros(2)).tolist(), [1, 2])


if __name__ == "__main__":
    unittest.main()
