"""Graphs as objects, as torch._C has them: read, written, run."""
import unittest

from beside import torch

C = torch._C
ADD = """graph(%a : Tensor, %b : Tensor):
  %one : int = prim::Constant[value=1]()
  %sum : Tensor = aten::add(%a, %b, %one)
  %out : Tensor = aten::relu(%sum)
  return (%out)
"""


def add():
    return C.parse_ir(ADD)


def kinds(graph):
    return [node.kind() for node in graph.nodes()]


class Inner(torch.nn.Module):
    def forward(self, x):
        return x + 1


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.inner(x) * self.weight


class OfFunctions(unittest.TestCase):
    def test_one_object(self):
        @torch.jit.script
        def f(x):
            return x + 1
        self.assertIs(f.graph, f.graph)

    def test_passes_change_it(self):
        @torch.jit.script
        def inner(x):
            return x + 1

        @torch.jit.script
        def f(x):
            return inner(x)
        self.assertIn("prim::CallFunction", kinds(f.graph))
        C._jit_pass_inline(f.graph)
        self.assertNotIn("prim::CallFunction", kinds(f.graph))
        self.assertEqual(f(torch.ones(2)).tolist(), [2, 2])

    def test_inlined_graph(self):
        module = torch.jit.script(Outer())
        self.assertIn("prim::CallMethod", kinds(module.graph))
        self.assertNotIn("prim::CallMethod", kinds(module.inlined_graph))

    def test_places(self):
        @torch.jit.script
        def f(x):
            return x + 1
        self.assertIn("# ", str(f.graph))
        self.assertIn("test_same_graphs.py:", str(f.graph))
        self.assertNotIn("# ", f.graph.str(False))
        self.assertIn("# ", f.graph.str(True))
        C.Graph.set_global_print_source_ranges(False)
        try:
            self.assertNotIn("# ", str(f.graph))
        finally:
            C.Graph.set_global_print_source_ranges(True)
        self.assertIn("# ", str(f.graph))

    def test_self_of_code(self):
        module = torch.jit.script(Outer())
        self.assertIn("def forward(self,", module.code)
        self.assertNotIn("self: ", module.code)

    def test_lower_graph(self):
        module = torch.jit.script(Outer())
        graph, attributes = C._jit_pass_lower_graph(module.graph, module._c)
        self.assertEqual(len(list(graph.inputs())), 1 + len(attributes))
        self.assertEqual([value.tolist() for value in attributes], [[1, 1]])
        self.assertNotIn("prim::GetAttr", kinds(graph))

    def test_last_executed(self):
        @torch.jit.script
        def f(x):
            return torch.sin(x).cos()
        for _ in range(4):
            f(torch.ones(2))
        graph = torch.jit.last_executed_optimized_graph()
        self.assertEqual(len(list(graph.inputs())), 1)

    def test_debug_state(self):
        @torch.jit.script
        def f(x, n: int):
            for _ in range(n):
                x = x * x + x
            return x
        for _ in range(4):
            f(torch.ones(2), 2)
        state = f.get_debug_state()
        for plan in state.execution_plans.values():
            self.assertEqual(len(list(plan.graph.inputs())), 2)

    def test_trace_graph(self):
        graph, out = torch.jit._get_trace_graph(lambda x: x * 2 + x, (torch.ones(2),))
        self.assertEqual(out.tolist(), [3, 3])
        self.assertEqual([k for k in kinds(graph) if k.startswith("aten")], ["aten::mul", "aten::add"])

    def test_trace_graph_of_module(self):
        graph, out = torch.jit._get_trace_graph(Outer(), (torch.ones(2),))
        self.assertEqual(out.tolist(), [2, 2])
        self.assertEqual(len(list(graph.inputs())), 2)
        self.assertNotIn("prim::GetAttr", kinds(graph))

    def test_trace_graph_and_inputs(self):
        graph, out, inputs = torch.jit._get_trace_graph(lambda x: x + 1, (torch.zeros(1),), return_inputs=True)
        self.assertEqual([value.tolist() for value in inputs], [[0]])

    def test_hide_source_ranges(self):
        @torch.jit.script
        def f(x):
            return x + 1
        graph = f.graph
        with torch.jit._hide_source_ranges():
            self.assertNotIn(".py:", str(graph))
        self.assertIn(".py:", str(graph))


class Read(unittest.TestCase):
    def test_nodes(self):
        self.assertEqual(kinds(add()), ["prim::Constant", "aten::add", "aten::relu"])

    def test_iterators(self):
        graph = add()
        self.assertEqual(next(graph.inputs()).debugName(), "a")
        self.assertEqual(next(graph.nodes()).kind(), "prim::Constant")
        self.assertEqual(next(graph.outputs()).node().kind(), "aten::relu")

    def test_identity(self):
        graph = add()
        one, again = next(graph.nodes()), next(graph.nodes())
        self.assertEqual(one, again)
        self.assertEqual(hash(one), hash(again))
        self.assertEqual(one.output(), again.output())
        self.assertNotEqual(one, list(graph.nodes())[1])
        self.assertEqual(len({one, again}), 1)

    def test_find(self):
        @torch.jit.script
        def f(x, n: int):
            if n > 1:
                x = x + 1
            else:
                x = x + 2
            return x
        self.assertEqual(len(f.graph.findAllNodes("aten::add")), 2)
        self.assertEqual(len(f.graph.findAllNodes("aten::add", recurse=False)), 0)
        self.assertIsNone(f.graph.findNode("aten::nothing"))
        self.assertEqual(f.graph.findNode("aten::add").kind(), "aten::add")
        node = f.graph.findNode("prim::If")
        self.assertEqual(len(node.findAllNodes("aten::add")), 2)
        blocks = list(node.blocks())
        self.assertEqual(len(blocks), 2)
        self.assertEqual(len(list(blocks[0].nodes())), 1)
        self.assertEqual(next(blocks[0].outputs()).node().kind(), "aten::add")
        self.assertEqual(blocks[0].owningNode(), node)
        self.assertEqual(next(blocks[0].nodes()).owningBlock(), blocks[0])
        self.assertEqual(len(blocks[1].findAllNodes("aten::add")), 1)

    def test_ends(self):
        graph = add()
        self.assertEqual(graph.param_node().kind(), "prim::Param")
        self.assertEqual(graph.return_node().kind(), "prim::Return")
        self.assertEqual([value.debugName() for value in graph.param_node().outputs()], ["a", "b"])
        self.assertEqual(graph.return_node().input().node().kind(), "aten::relu")
        self.assertEqual(next(graph.inputs()).node(), graph.param_node())
        self.assertEqual(graph.block().paramNode(), graph.param_node())
        self.assertEqual(graph.block().returnNode(), graph.return_node())

    def test_inputs_and_outputs(self):
        graph = add()
        node = graph.findNode("aten::add")
        self.assertEqual(node.inputsSize(), 3)
        self.assertEqual(node.outputsSize(), 1)
        self.assertEqual(node.inputsAt(1).debugName(), "b")
        self.assertEqual(node.outputsAt(0), node.output())
        self.assertEqual(node.namedInput("other").debugName(), "b")
        self.assertEqual(node.namedInput("alpha").toIValue(), 1)
        with self.assertRaises(RuntimeError):
            node.namedInput("nothing")
        with self.assertRaises(RuntimeError):
            node.input()
        with self.assertRaises(RuntimeError):
            node.inputsAt(7)
        self.assertFalse(node.hasMultipleOutputs())
        self.assertTrue(node.hasUses())

    def test_order(self):
        graph = add()
        nodes = list(graph.nodes())
        self.assertTrue(nodes[0].isBefore(nodes[1]))
        self.assertFalse(nodes[1].isBefore(nodes[0]))
        self.assertTrue(nodes[1].isAfter(nodes[0]))
        self.assertEqual(nodes[1].prev(), nodes[0])
        self.assertEqual(nodes[0].prev().kind(), "prim::Param")

    def test_schema(self):
        graph = add()
        node = graph.findNode("aten::add")
        text = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
        self.assertTrue(node.matches("aten::add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"))
        self.assertIn(str(node.schema()).replace(".Tensor(", "("), (text, text.replace(".Tensor(", "(")))
        self.assertEqual(str(graph.findNode("prim::Constant").schema()), "(no schema)")

    def test_uses(self):
        graph = add()
        a = next(graph.inputs())
        uses = a.uses()
        self.assertEqual([(use.user.kind(), use.offset) for use in uses], [("aten::add", 0)])
        out = next(graph.outputs())
        self.assertEqual([use.user.kind() for use in out.uses()], ["prim::Return"])

    def test_constants(self):
        graph = add()
        node = next(graph.nodes())
        self.assertEqual(node.output().toIValue(), 1)
        self.assertEqual(node.attributeNames(), ["value"])
        self.assertEqual(node.kindOf("value"), "i")
        self.assertEqual(node.i("value"), 1)
        self.assertTrue(node.hasAttribute("value"))
        self.assertTrue(node.hasAttributes())
        self.assertFalse(node.mustBeNone())
        for read in (lambda: node.f("value"), lambda: node.i("other"), lambda: node.kindOf("other")):
            with self.assertRaises(RuntimeError):
                read()

    def test_text_of_parts(self):
        graph = add()
        node = graph.findNode("aten::relu")
        self.assertIn(" : Tensor = aten::relu(%", repr(node))
        self.assertTrue(repr(node).endswith("\n"))
        self.assertIn(" defined in (%", repr(node.output()))

    def test_nondeterministic(self):
        graph = C.parse_ir("graph(%a : Tensor):\n  %p : float = prim::Constant[value=0.5]()\n"
                           "  %t : bool = prim::Constant[value=1]()\n"
                           "  %d : Tensor = aten::dropout(%a, %p, %t)\n  %r : Tensor = aten::relu(%d)\n"
                           "  return (%r)\n")
        self.assertTrue(graph.findNode("aten::dropout").isNondeterministic())
        self.assertFalse(graph.findNode("aten::relu").isNondeterministic())

    def test_scope(self):
        traced = torch.jit.trace(Outer(), torch.ones(2))
        graph = traced.inlined_graph
        self.assertEqual(graph.findNode("aten::mul").scopeName(), "")


class Written(unittest.TestCase):
    def run_graph(self, graph, *values):
        return C._create_function_from_graph("made", graph)(*values)

    def test_function_of_graph(self):
        graph = add()
        f = C._create_function_from_graph("foo", graph)
        self.assertEqual(f(torch.ones(2), torch.tensor([1.0, -3.0])).tolist(), [2, 0])
        self.assertIs(f.graph, graph)
        self.assertEqual(f.name, "foo")

    def test_copy(self):
        graph = add()
        copy = graph.copy()
        copy.findNode("aten::relu").output().replaceAllUsesWith(copy.findNode("aten::add").output())
        copy.findNode("aten::relu").destroy()
        self.assertEqual(kinds(copy), ["prim::Constant", "aten::add"])
        self.assertEqual(kinds(graph), ["prim::Constant", "aten::add", "aten::relu"])
        self.assertEqual(self.run_graph(copy, torch.ones(1), torch.tensor([-3.0])).tolist(), [-2])

    def test_create_and_insert(self):
        graph = add()
        relu = graph.findNode("aten::relu")
        node = graph.create("aten::neg", [relu.input()], 1)
        node.insertBefore(relu)
        relu.replaceInput(0, node.output())
        graph.lint()
        self.assertEqual(kinds(graph), ["prim::Constant", "aten::add", "aten::neg", "aten::relu"])
        self.assertEqual(self.run_graph(graph, torch.ones(1), torch.tensor([-3.0])).tolist(), [2])

    def test_insert_after_append_prepend(self):
        graph = add()
        last = graph.create("aten::neg", [next(graph.outputs())], 1)
        graph.appendNode(last)
        first = graph.create("aten::abs", [next(graph.inputs())], 1)
        graph.prependNode(first)
        behind = graph.create("aten::sin", [first.output()], 1)
        behind.insertAfter(first)
        self.assertEqual(kinds(graph), ["aten::abs", "aten::sin", "prim::Constant", "aten::add", "aten::relu",
                                        "aten::neg"])
        behind.moveAfter(last)
        self.assertEqual(kinds(graph)[-1], "aten::sin")
        behind.moveBefore(last)
        self.assertEqual(kinds(graph)[-2:], ["aten::sin", "aten::neg"])
        graph.lint()

    def test_insert_point(self):
        graph = add()
        relu = graph.findNode("aten::relu")
        with graph.insert_point_guard(relu):
            two = graph.insertConstant(2)
            made = graph.insert("aten::mul", [relu.input(), two])
        relu.replaceInput(0, made)
        self.assertEqual(kinds(graph), ["prim::Constant", "aten::add", "prim::Constant", "aten::mul", "aten::relu"])
        self.assertEqual(self.run_graph(graph, torch.ones(1), torch.ones(1)).tolist(), [4])
        graph.setInsertPoint(graph.block())
        graph.insertConstant(3)
        self.assertEqual(kinds(graph)[-1], "prim::Constant")

    def test_constants_of_kinds(self):
        graph = add()
        for value, text in ((1, "int"), (1.5, "float"), ("s", "str"), (True, "bool"), ([1, 2], "int[]"),
                            ([1.0], "float[]"), (None, "NoneType"), (1j, "complex")):
            made = graph.insertConstant(value)
            self.assertEqual(made.toIValue(), value)
            self.assertEqual(made.type().str(), text)
        self.assertEqual(graph.insertConstant(torch.ones(2)).toIValue().tolist(), [1, 1])

    def test_outputs(self):
        graph = add()
        graph.registerOutput(graph.findNode("aten::add").output())
        self.assertEqual(len(list(graph.outputs())), 2)
        graph.makeMultiOutputIntoTuple()
        self.assertEqual(next(graph.outputs()).type().kind(), "TupleType")
        relu, total = self.run_graph(graph, torch.ones(1), torch.tensor([-3.0]))
        self.assertEqual((relu.item(), total.item()), (0, -2))
        graph.eraseOutput(0)
        self.assertEqual(len(list(graph.outputs())), 0)

    def test_inputs(self):
        graph = add()
        made = graph.addInput()
        made.setDebugName("c")
        self.assertEqual([value.debugName() for value in graph.inputs()], ["a", "b", "c"])
        graph.permuteInputs([2, 0, 1])
        self.assertEqual([value.debugName() for value in graph.inputs()], ["c", "a", "b"])
        graph.eraseInput(0)
        self.assertEqual([value.debugName() for value in graph.inputs()], ["a", "b"])
        with self.assertRaises(RuntimeError):
            graph.eraseInput(5)
        graph.lint()

    def test_names(self):
        graph = add()
        a, b = graph.inputs()
        a.setDebugName("x")
        self.assertEqual(a.debugName(), "x")
        with self.assertRaises(RuntimeError):
            a.setDebugName("3")
        self.assertEqual((a.offset(), b.offset()), (0, 1))

    def test_used_nodes_stay(self):
        graph = add()
        with self.assertRaises(RuntimeError):
            graph.findNode("aten::add").destroy()
        self.assertEqual(len(kinds(graph)), 3)

    def test_node_inputs(self):
        graph = add()
        node, (a, b) = graph.findNode("aten::add"), graph.inputs()
        node.replaceInput(1, a)
        self.assertEqual([value.debugName() for value in list(node.inputs())[:2]], ["a", "a"])
        node.replaceInputWith(a, b)
        self.assertEqual([value.debugName() for value in list(node.inputs())[:2]], ["b", "b"])
        node.addInput(a)
        self.assertEqual(node.inputsSize(), 4)
        node.removeInput(3)
        self.assertEqual(node.inputsSize(), 3)
        node.removeAllInputs()
        self.assertEqual(node.inputsSize(), 0)

    def test_node_outputs(self):
        graph = add()
        node = graph.create("foo::bar", 2)
        self.assertEqual(node.outputsSize(), 2)
        self.assertTrue(node.hasMultipleOutputs())
        node.addOutput()
        self.assertEqual(node.outputsSize(), 3)
        node.eraseOutput(1)
        self.assertEqual(node.outputsSize(), 2)
        self.assertFalse(node.hasUses())

    def test_if_by_hand(self):
        graph = C.parse_ir("graph(%a : Tensor, %c : bool):\n  return (%a)\n")
        a, c = graph.inputs()
        node = graph.create("prim::If", [c], 1)
        graph.appendNode(node)
        for kind in ("aten::neg", "aten::relu"):
            block = node.addBlock()
            made = block.addNode(kind, [a])
            block.registerOutput(made.output())
        graph.registerOutput(node.output())
        graph.eraseOutput(0)
        graph.lint()
        x = torch.tensor([-1.0, 2.0])
        self.assertEqual(self.run_graph(graph, x, True).tolist(), [1, -2])
        self.assertEqual(self.run_graph(graph, x, False).tolist(), [0, 2])

    def test_block_inputs(self):
        graph = add()
        node = graph.create("foo::loop", [], 1)
        block = node.addBlock()
        made = block.addInputToBlock()
        self.assertEqual(list(block.inputs()), [made])
        self.assertEqual(block.paramNode().kind(), "prim::Param")
        self.assertEqual(list(block.nodes()), [])

    def test_attributes(self):
        graph = add()
        node = graph.create("foo::bar")
        node.i_("i", 3).f_("f", 1.5).s_("s", "text").is_("is", [1, 2]).fs_("fs", [0.5]).ss_("ss", ["a", "b"])
        node.t_("t", torch.ones(2)).ty_("ty", C.TensorType.get())
        self.assertEqual([node.kindOf(name) for name in ("i", "f", "s", "is", "ss", "t", "ty")],
                         ["i", "f", "s", "is", "ss", "t", "ty"])
        self.assertEqual((node.i("i"), node.f("f"), node.s("s"), list(getattr(node, "is")("is")), list(node.fs("fs")),
                          list(node.ss("ss"))), (3, 1.5, "text", [1, 2], [0.5], ["a", "b"]))
        self.assertEqual(node.t("t").tolist(), [1, 1])
        node.i_("i", 4)
        self.assertEqual(node.i("i"), 4)
        node.removeAttribute("i")
        self.assertFalse(node.hasAttribute("i"))
        other = graph.create("foo::other")
        other.copyAttributes(node)
        self.assertEqual(sorted(other.attributeNames()), sorted(node.attributeNames()))

    def test_clone(self):
        graph = add()
        node = graph.findNode("aten::add")
        clone = graph.createClone(node, lambda value: value)
        clone.insertAfter(node)
        self.assertEqual(kinds(graph), ["prim::Constant", "aten::add", "aten::add", "aten::relu"])
        self.assertEqual(list(clone.inputs()), list(node.inputs()))

    def test_replace_uses(self):
        graph = add()
        a, b = graph.inputs()
        a.replaceAllUsesWith(b)
        self.assertEqual([u.user.kind() for u in a.uses()], [])
        self.assertEqual(len(b.uses()), 2)

    def test_replace_uses_after(self):
        graph = C.parse_ir("graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  %c : Tensor = aten::neg(%a)\n"
                           "  %d : Tensor = aten::mul(%b, %c)\n  return (%d)\n")
        relu = graph.findNode("aten::relu")
        next(graph.inputs()).replaceAllUsesAfterNodeWith(relu, relu.output())
        self.assertEqual(graph.findNode("aten::neg").input(), relu.output())
        self.assertEqual(relu.input().debugName(), "a")

    def test_types(self):
        graph = add()
        a, b = graph.inputs()
        a.setType(C.TensorType.get().with_sizes([2, 3]))
        self.assertEqual(a.type().sizes(), [2, 3])
        b.setTypeAs(a)
        self.assertEqual(b.type().sizes(), [2, 3])
        b.inferTypeFrom(torch.ones(4))
        self.assertEqual(b.type().sizes(), [4])
        self.assertTrue(b.isCompleteTensor())
        self.assertFalse(a.isCompleteTensor())
        a.setType(C.ListType.ofInts())
        self.assertEqual(a.type().str(), "int[]")
        self.assertEqual(a.type().getElementType().kind(), "IntType")

    def test_subgraph(self):
        graph = C.parse_ir("graph(%a : Tensor, %b : Tensor):\n  %c : Tensor = aten::mul(%a, %b)\n"
                           "  %d : Tensor = aten::mul(%c, %b)\n  return (%d)\n")
        for value in graph.inputs():
            value.setType(value.type().with_dtype(torch.float32).with_sizes([2, 2]))
        C._jit_pass_create_autodiff_subgraphs(graph)
        node = graph.findNode("prim::DifferentiableGraph")
        self.assertEqual(node.kindOf("Subgraph"), "g")
        inner = node.g("Subgraph")
        self.assertEqual([k for k in kinds(inner)], ["aten::mul", "aten::mul"])
        inner.registerOutput(next(inner.nodes()).output())
        self.assertEqual(len(list(node.g("Subgraph").outputs())), 2)

    def test_autodiff_of_one(self):
        graph = C.parse_ir("graph(%a : Tensor, %b : Tensor):\n  %c : Tensor = aten::mul(%a, %b)\n  return (%c)\n")
        C._jit_pass_create_autodiff_subgraphs(graph)
        self.assertIsNone(graph.findNode("prim::DifferentiableGraph"))
        C._jit_pass_create_autodiff_subgraphs(graph, 1)
        self.assertIsNotNone(graph.findNode("prim::DifferentiableGraph"))

    def test_graph_attribute(self):
        graph, inner = add(), add()
        node = graph.create("foo::group")
        node.g_("Subgraph", inner)
        self.assertEqual(kinds(node.g("Subgraph")), kinds(inner))

    def test_insert_graph(self):
        graph, inner = add(), add()
        outputs = graph.insertGraph(inner, [next(graph.outputs()), next(graph.inputs())])
        graph.registerOutput(list(outputs)[0])
        graph.eraseOutput(0)
        self.assertEqual(kinds(graph).count("aten::add"), 2)
        self.assertEqual(self.run_graph(graph, torch.ones(1), torch.ones(1)).tolist(), [3])

    def test_empty_graph(self):
        graph = C.Graph()
        self.assertEqual(kinds(graph), [])
        x = graph.addInput()
        graph.registerOutput(graph.insert("aten::relu", [x]))
        self.assertEqual(self.run_graph(graph, torch.tensor([-1.0, 1.0])).tolist(), [0, 1])

    def test_alias_db(self):
        graph = C.parse_ir("graph(%a : Tensor, %n : int):\n  %one : int = prim::Constant[value=1]()\n"
                           "  %b : Tensor = aten::add(%a, %n, %one)\n  %c : Tensor = aten::t(%b)\n"
                           "  %d : Tensor = aten::relu_(%c)\n  %e : Tensor = aten::neg(%a)\n  return (%d, %e)\n")
        db = graph.alias_db()
        b, c, e = (graph.findNode(kind).output() for kind in ("aten::add", "aten::t", "aten::neg"))
        self.assertTrue(db.may_contain_alias(b, c))
        self.assertFalse(db.may_contain_alias(b, e))
        self.assertFalse(db.may_contain_alias(next(graph.inputs()), e))
        self.assertTrue(db.has_writers(b))
        self.assertIn("points to", str(db))
        neg, relu = graph.findNode("aten::neg"), graph.findNode("aten::relu_")
        self.assertTrue(db.move_before_topologically_valid(neg, relu))
        self.assertTrue(neg.isBefore(relu))
        self.assertFalse(db.move_before_topologically_valid(relu, graph.findNode("aten::add")))

    def test_parse_ir_fails(self):
        for text in ("graph(", "graph():\n  return (%x)\n", ""):
            with self.assertRaises(RuntimeError):
                C.parse_ir(text)

    def test_tensor_constants(self):
        text = ("graph(%a : Tensor):\n  %one : int = prim::Constant[value=1]()\n"
                "  %c : Float(2, strides=[1], requires_grad=0, device=cpu) = prim::Constant[value=<Tensor>]()\n"
                "  %d : Tensor = aten::add(%a, %c, %one)\n  return (%d)\n")
        with self.assertRaises(RuntimeError):
            C.parse_ir(text)
        graph = C.parse_ir(text, parse_tensor_constants=True)
        constant = graph.findNode("aten::add").inputsAt(1)
        self.assertEqual(tuple(constant.toIValue().shape), (2,))

    def test_parsed_again(self):
        @torch.jit.script
        def f(x, n: int):
            for i in range(n):
                if i > 1:
                    x = x + i
            return x
        again = C.parse_ir(f.graph.str(False))
        self.assertEqual(str(C._jit_pass_canonicalize(again, False)).count("\n"), str(f.graph).count("\n"))
        self.assertEqual(self.run_graph(again, torch.zeros(1), 4).tolist(), f(torch.zeros(1), 4).tolist())


if __name__ == "__main__":
    unittest.main()
