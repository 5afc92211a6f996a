"""Passes by the names that torch._C has, and what follows from types of inputs."""
import unittest

from beside import torch

C = torch._C
ONE = "  %one : int = prim::Constant[value=1]()\n"


def graph_of(inputs, body, result):
    return C.parse_ir("graph(%s):\n%s  return (%s)\n" % (inputs, body, result))


def kinds(graph):
    return [node.kind() for node in graph.nodes()]


UNITS = []  # a graph does not keep its program in torch


def compiled(text, name="f"):
    UNITS.append(torch.jit.CompilationUnit(text))
    return getattr(UNITS[-1], name).graph


class Cleanup(unittest.TestCase):
    def test_dce(self):
        graph = graph_of("%a : Tensor", "  %b : Tensor = aten::relu(%a)\n  %c : Tensor = aten::neg(%a)\n", "%b")
        self.assertIsNone(C._jit_pass_dce(graph))
        self.assertEqual(kinds(graph), ["aten::relu"])

    def test_cse(self):
        graph = graph_of("%a : Tensor", "  %b : Tensor = aten::relu(%a)\n  %c : Tensor = aten::relu(%a)\n"
                         "  %d : Tensor = aten::mul(%b, %c)\n", "%d")
        self.assertTrue(C._jit_pass_cse(graph))
        self.assertEqual(kinds(graph), ["aten::relu", "aten::mul"])
        self.assertFalse(C._jit_pass_cse(graph))

    def test_constant_pooling(self):
        graph = graph_of("%a : Tensor", ONE + "  %two : int = prim::Constant[value=1]()\n"
                         "  %b : Tensor = aten::add(%a, %one, %two)\n", "%b")
        C._jit_pass_constant_pooling(graph)
        self.assertEqual(kinds(graph), ["prim::Constant", "aten::add"])

    def test_constant_propagation(self):
        graph = graph_of("", ONE + "  %b : int = aten::add(%one, %one)\n", "%b")
        self.assertTrue(C._jit_pass_constant_propagation(graph))
        C._jit_pass_dce(graph)
        self.assertEqual(kinds(graph), ["prim::Constant"])
        self.assertEqual(next(graph.outputs()).toIValue(), 2)
        self.assertFalse(C._jit_pass_constant_propagation(graph))

    def test_lint(self):
        C._jit_pass_lint(graph_of("%a : Tensor", "  %b : Tensor = aten::relu(%a)\n", "%b"))

    def test_canonicalize(self):
        graph = graph_of("%a : Tensor", "  %b : Tensor = aten::relu(%a)\n", "%b")
        made = C._jit_pass_canonicalize(graph, False)
        self.assertIn("graph(%0 : Tensor):", made.str(False))
        self.assertIn("%a", str(graph))
        self.assertIn("%a", str(C._jit_pass_canonicalize(graph)))

    def test_inline(self):
        graph = compiled("def g(x):\n    return x + 1\ndef f(x):\n    return g(x) * 2\n")
        C._jit_pass_inline(graph)
        self.assertEqual([k for k in kinds(graph) if k.startswith("aten")], ["aten::add", "aten::mul"])

    def test_loop_unrolling(self):
        graph = compiled("def f(x):\n    for i in range(3):\n        x = x + i\n    return x\n")
        C._jit_pass_loop_unrolling(graph)
        self.assertGreaterEqual(len(graph.findAllNodes("aten::add")), 3)
        self.assertIsNone(graph.findNode("prim::Loop"))

    def test_lower_tuples(self):
        graph = compiled("def f(x):\n    y = (x, x + 1)\n    return y[1]\n")
        C._jit_pass_lower_all_tuples(graph)
        self.assertIsNone(graph.findNode("prim::TupleConstruct"))

    def test_erase_number_types(self):
        graph = graph_of("%a : int", "  %b : int = aten::add(%a, %a)\n", "%b")
        C._jit_pass_erase_number_types(graph)
        self.assertEqual(next(graph.inputs()).type().kind(), "TensorType")

    def test_remove_inplace_ops(self):
        graph = compiled("def f(x):\n    y = x + 1\n    y.mul_(2)\n    return y\n")
        C._jit_pass_remove_inplace_ops(graph)
        self.assertIn("aten::mul", kinds(graph))
        self.assertNotIn("aten::mul_", kinds(graph))

    def test_inline_fork_wait(self):
        graph = compiled("def g(x):\n    return x + 1\ndef f(x):\n    y = torch.jit._fork(g, x)\n"
                         "    return torch.jit._wait(y)\n")
        C._jit_pass_inline_fork_wait(graph)
        self.assertIsNone(graph.findNode("prim::fork"))

    def test_fuse_linear(self):
        graph = graph_of("%x : Tensor, %w : Tensor, %b : Tensor", ONE + "  %t : Tensor = aten::t(%w)\n"
                         "  %r : Tensor = aten::addmm(%b, %x, %t, %one, %one)\n", "%r")
        C._jit_pass_fuse_linear(graph)
        self.assertIn("aten::linear", kinds(graph))
        self.assertNotIn("aten::addmm", kinds(graph))


class Mutation(unittest.TestCase):
    def removed(self, body, signature="x"):
        graph = compiled("def f(%s):\n%s" % (signature, "".join("    %s\n" % line for line in body)))
        return C._jit_pass_remove_mutation(graph), kinds(graph)

    def test_of_an_input_stays(self):
        changed, found = self.removed(["x.add_(3)", "return x"])
        self.assertFalse(changed)
        self.assertIn("aten::add_", found)

    def test_of_a_new_tensor(self):
        changed, found = self.removed(["x = torch.zeros([2, 2])", "x.add_(3)", "return x"], "")
        self.assertTrue(changed)
        self.assertIn("aten::add", found)
        self.assertNotIn("aten::add_", found)

    def test_of_a_result(self):
        changed, found = self.removed(["y = x + 1", "y.add_(2)", "y.sub_(1)", "return y"])
        self.assertTrue(changed)
        self.assertEqual([k for k in found if k.startswith("aten")], ["aten::add", "aten::add", "aten::sub"])

    def test_of_a_view_stays(self):
        changed, found = self.removed(["y = x.view(-1)", "y.add_(1)", "return y"])
        self.assertFalse(changed)
        self.assertIn("aten::add_", found)

    def test_seen_through_a_view_stays(self):
        _, found = self.removed(["y = torch.rand([2])", "z = y[0]", "z.fill_(2)", "return y"], "")
        self.assertIn("aten::fill_", found)

    def test_of_both_results(self):
        _, found = self.removed(["x = torch.zeros([2])", "y = x.add_(1)", "return y, x"], "")
        self.assertIn("aten::add", found)

    def test_append(self):
        _, found = self.removed(["a = [x]", "a.append(x + 1)", "return torch.cat(a)"])
        self.assertNotIn("aten::append", found)


class Peephole(unittest.TestCase):
    def after(self, signature, result):
        graph = compiled("def f(%s):\n    return %s\n" % (signature, result))
        C._jit_pass_peephole(graph)
        C._jit_pass_dce(graph)
        return [k for k in kinds(graph) if k != "prim::Constant"]

    def test_numbers(self):
        for result in ("x + 0", "0 + x", "x * 1", "1 * x", "x - 0", "x // 1", "int(x)", "x == x", "x != x"):
            with self.subTest(result):
                self.assertEqual(self.after("x: int", result), [])
        self.assertEqual(self.after("x: int, y: int", "x == y"), ["aten::eq"])
        self.assertEqual(self.after("x: int", "x < x"), ["aten::lt"])

    def test_comparison_gives_constants(self):
        for result, value in (("x == x", True), ("x != x", False)):
            graph = compiled("def f(x: int):\n    return %s\n" % result)
            self.assertTrue(C._jit_pass_peephole(graph))
            self.assertIs(next(graph.outputs()).toIValue(), value)

    def test_tensors_compare(self):
        self.assertEqual(self.after("x", "x == x"), ["aten::eq"])

    def test_lists(self):
        graph = compiled("def f(x: int, y: int):\n    l = [x, y]\n    return l[0], len(l)\n")
        self.assertTrue(C._jit_pass_peephole_list_idioms(graph))
        C._jit_pass_dce(graph)
        self.assertNotIn("aten::__getitem__", kinds(graph))
        self.assertNotIn("aten::len", kinds(graph))

    def test_nothing_to_do(self):
        self.assertFalse(C._jit_pass_peephole(compiled("def f(x):\n    return x.relu()\n")))


class Shapes(unittest.TestCase):
    def typed(self, *kinds_of_inputs):
        graph = graph_of("%a : Tensor, %b : Tensor", ONE + "  %c : Tensor = aten::add(%a, %b, %one)\n"
                         "  %d : Tensor = aten::mm(%c, %c)\n", "%d")
        for value, kind in zip(graph.inputs(), kinds_of_inputs):
            value.setType(kind)
        return graph

    def test_propagate_shapes(self):
        kind = C.TensorType.get().with_dtype(torch.float32).with_sizes([2, 2])
        graph = self.typed(kind, kind)
        C._jit_pass_propagate_shapes_on_graph(graph)
        self.assertEqual(next(graph.outputs()).type().dim(), 2)

    def test_complete(self):
        graph = self.typed()
        C._jit_pass_complete_shape_analysis(graph, (torch.ones(2, 2), torch.ones(2, 2)), False)
        made = next(graph.outputs()).type()
        self.assertEqual((made.sizes(), made.dtype()), ([2, 2], torch.float32))

    def test_propagated_copy(self):
        graph = self.typed()
        made = C._propagate_shapes(graph, [torch.ones(2, 2), torch.ones(2, 2)], False)
        self.assertEqual(kinds(made), kinds(graph))
        self.assertIsNone(next(graph.inputs()).type().sizes())

    def test_assigned(self):
        graph = self.typed()
        made = C._propagate_and_assign_input_shapes(graph, (torch.ones(2, 2), torch.ones(2, 2)), [1, 1], False, False)
        self.assertEqual([value.type().sizes() for value in made.inputs()], [[2, 2], [2, 2]])

    def test_dtype(self):
        kind = C.TensorType.get().with_sizes([2, 2])
        graph = self.typed(kind.with_dtype(torch.float32), kind.with_dtype(torch.float64))
        C._jit_pass_propagate_dtype(graph)
        self.assertEqual(graph.findNode("aten::add").output().type().dtype(), torch.float64)

    def test_erased(self):
        kind = C.TensorType.get().with_dtype(torch.float32).with_sizes([2, 2])
        graph = self.typed(kind, kind)
        C._jit_pass_erase_shape_information(graph)
        self.assertIsNone(next(graph.inputs()).type().sizes())

    def devices_of(self, body, result, inputs="%a : Tensor, %b : Tensor", devices=("cpu", "cpu")):
        graph = graph_of(inputs, body, result)
        for value, device in zip(graph.inputs(), devices):
            if device is not None:
                value.setType(C.TensorType.get().with_device(torch.device(device)))
        C._jit_pass_propagate_device(graph)
        made = next(graph.outputs()).type().device()
        return None if made is None else str(made)

    def test_devices(self):
        add = ONE + "  %c : Tensor = aten::add(%a, %b, %one)\n"
        self.assertEqual(self.devices_of(add, "%c"), "cpu")
        self.assertEqual(self.devices_of(add, "%c", devices=("cuda:0", "cuda:0")), "cuda:0")
        self.assertIsNone(self.devices_of(add, "%c", devices=("cpu", None)))
        self.assertEqual(self.devices_of("  %c : Tensor = aten::relu(%a)\n", "%c"), "cpu")

    def test_devices_of_branches(self):
        body = ("  %c : Tensor = prim::If(%k)\n    block0():\n      -> (%a)\n    block1():\n      -> (%b)\n")
        inputs = "%a : Tensor, %b : Tensor, %k : bool"
        self.assertEqual(self.devices_of(body, "%c", inputs), "cpu")
        self.assertIsNone(self.devices_of(body, "%c", inputs, ("cpu", "cuda:0")))


class Rewriting(unittest.TestCase):
    def test_pattern_with_untyped_constants(self):
        graph = graph_of("%a : Tensor, %b : Tensor", ONE + "  %c : Tensor = aten::add(%a, %b, %one)\n"
                         "  %d : Tensor = aten::relu(%c)\n", "%d")
        C._jit_pass_custom_pattern_based_rewrite_graph(
            "graph(%a, %b):\n  %n = prim::Constant[value=1]()\n  %c = aten::add(%a, %b, %n)\n"
            "  %d = aten::relu(%c)\n  return (%d)\n",
            "graph(%a, %b):\n  %c = aten::mul(%a, %b)\n  return (%c)\n", graph)
        self.assertIn("aten::mul", kinds(graph))
        self.assertNotIn("aten::relu", kinds(graph))

    def test_pattern(self):
        graph = graph_of("%a : Tensor, %b : Tensor", "  %c : Tensor = aten::mul(%a, %b)\n"
                         "  %d : Tensor = aten::relu(%c)\n", "%d")
        pattern = ("graph(%x, %y):\n  %m = aten::mul(%x, %y)\n  %r = aten::relu(%m)\n  return (%r)")
        made = "graph(%x, %y):\n  %r = mine::mul_relu(%x, %y)\n  return (%r)"
        C._jit_pass_custom_pattern_based_rewrite_graph(pattern, made, graph)
        self.assertIn("mine::mul_relu", kinds(graph))

    def test_interpret(self):
        graph = graph_of("%a : Tensor, %b : Tensor", "  %c : Tensor = aten::mul(%a, %b)\n", "%c")
        result = C._jit_interpret_graph(graph, (torch.ones(2), torch.ones(2)))
        result = result[0] if isinstance(result, (tuple, list)) else result
        self.assertEqual(result.tolist(), [1, 1])


class Activations(unittest.TestCase):
    def changed(self, name, inputs, body, result):
        graph = graph_of(inputs, ONE + body, result)
        said = getattr(C, "_jit_pass_" + name)(graph)
        return said, [kind[6:] for kind in kinds(graph) if kind.startswith("aten::")]

    def test_addmm(self):
        inputs = "%x : Float(2, 2), %y : Float(2, 2), %z : Float(2, 2)"
        product = "  %m : Tensor = aten::mm(%x, %y)\n"
        for added, wanted in (("%m, %z, %one", ["mm", "addmm", "add"]), ("%z, %m, %one", ["mm", "addmm", "add"]),
                              ("%m, %one, %one", ["mm", "add"]), ("%z, %z, %one", ["mm", "add"])):
            said, found = self.changed("fuse_addmm", inputs, product + "  %r : Tensor = aten::add(" + added + ")\n",
                                       "%r")
            self.assertEqual((said, found), ("addmm" in wanted, wanted))
        body = product + "  %r : Tensor = aten::add(%m, %z, %one)\n"
        self.assertFalse(self.changed("fuse_addmm", inputs.replace("Float(2, 2)", "Tensor"), body, "%r")[0])

    def test_addmm_of_twice_the_product(self):
        said, found = self.changed("fuse_addmm", "%x : Tensor, %z : Tensor",
                                   "  %two : int = prim::Constant[value=2]()\n"
                                   "  %m : Tensor = aten::mm(%x, %x)\n"
                                   "  %r : Tensor = aten::add(%z, %m, %two)\n", "%r")
        self.assertEqual((said, found), (False, ["mm", "add"]))

    def test_add_relu(self):
        for add, relu, wanted in (("add", "relu", ["_add_relu"]), ("add_", "relu_", ["_add_relu_"]),
                                  ("add_", "relu", ["add_", "relu"]), ("add", "relu_", ["_add_relu"])):
            said, found = self.changed("fuse_add_relu", "%x : Tensor, %y : Tensor",
                                       "  %a : Tensor = aten::" + add + "(%x, %y, %one)\n"
                                       "  %r : Tensor = aten::" + relu + "(%a)\n", "%r")
            self.assertEqual((said, found), (None, wanted))

    def test_sum_that_others_see(self):
        _, found = self.changed("fuse_add_relu", "%x : Tensor", "  %a : Tensor = aten::add(%x, %x, %one)\n"
                                "  %b : Tensor = aten::relu(%a)\n  %r : Tensor = aten::mul(%a, %b)\n", "%r")
        self.assertEqual(found, ["add", "relu", "mul"])

    def test_in_place(self):
        for name, in_place in (("relu", True), ("hardswish", True), ("selu", True), ("sigmoid", False),
                               ("tanh", False), ("exp", False), ("mish", False)):
            said, found = self.changed("functional_to_inplace_activation", "%x : Tensor",
                                       "  %a : Tensor = aten::neg(%x)\n"
                                       "  %r : Tensor = aten::" + name + "(%a)\n", "%r")
            self.assertEqual((said, found), (in_place, ["neg", name + "_" * in_place]))

    def test_not_in_place(self):
        neg, relu = "  %a : Tensor = aten::neg(%x)\n", "  %b : Tensor = aten::relu(%a)\n"
        for body, wanted in (("  %r : Tensor = aten::relu(%x)\n", ["relu"]),
                             (neg + "  %v : Tensor = aten::t(%a)\n" + relu
                              + "  %r : Tensor = aten::add(%b, %v, %one)\n", ["neg", "t", "relu", "add"]),
                             (neg + relu + "  %r : Tensor = aten::add(%b, %a, %one)\n", ["neg", "relu", "add"]),
                             ("  %a : Tensor = aten::t(%x)\n  %r : Tensor = aten::relu(%a)\n", ["t", "relu"])):
            self.assertEqual(self.changed("functional_to_inplace_activation", "%x : Tensor", body, "%r"),
                             (False, wanted))

    def test_out_of_place(self):
        for name in ("relu", "sigmoid", "tanh", "silu"):
            said, found = self.changed("inplace_to_functional_activation", "%x : Tensor",
                                       "  %a : Tensor = aten::neg(%x)\n"
                                       "  %r : Tensor = aten::" + name + "_(%a)\n", "%r")
            self.assertEqual((said, found), (True, ["neg", name]))
        said, found = self.changed("inplace_to_functional_activation", "%x : Tensor",
                                   "  %b : Tensor = aten::relu_(%x)\n  %r : Tensor = aten::add(%b, %x, %one)\n", "%r")
        self.assertEqual((said, found), (False, ["relu_", "add"]))

    def test_tensors_among_arguments(self):
        found = C._jit_pass_filter_non_tensor_arguments({"a": torch.ones(1), "b": 2, "c": [1]})
        self.assertEqual(list(found), ["a"])


if __name__ == "__main__":
    unittest.main()
