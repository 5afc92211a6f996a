"""Graphs of what functions and modules do with stand-ins for values, as torch.fx makes them."""
import copy
import importlib
import operator
import unittest

from beside import torch

fx, nn = importlib.import_module(torch.__name__ + ".fx"), torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))
        self.scale = nn.Parameter(torch.ones(2) * 2)
        self.register_buffer("shift", torch.ones(2))

    def forward(self, x):
        x = self.rest(self.fc(x))
        return torch.cat([x * self.scale, x + self.shift], dim=1).clamp(min=0.0)


def doubled(x):
    return torch.relu(x) * 2


def relu_plus(a, b):
    return torch.relu(a) + b


def sigmoid_times(a, b):
    return torch.sigmoid(a) * b


def twice(x, w):
    a = torch.relu(x) + w
    return torch.relu(w) + a


def sign(x):
    return x if x.sum() > 0 else -x


def signed(x):
    return sign(x) + 1


fx.wrap("sign")


def ops(graph):
    return [node.op for node in graph.nodes]


def code(module):
    return module.code.split()


class Traced(unittest.TestCase):
    def test_function(self):
        module = fx.symbolic_trace(doubled)
        self.assertEqual(str(module.graph).split(), """graph():
            %x : [#users=1] = placeholder[target=x]
            %relu : [#users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
            %mul : [#users=1] = call_function[target=operator.mul](args = (%relu, 2), kwargs = {})
            return mul""".split())
        self.assertEqual(code(module), """def forward(self, x):
            relu = torch.relu(x);  x = None
            mul = relu * 2;  relu = None
            return mul""".split())
        self.assertEqual(module(torch.ones(2)).tolist(), [2, 2])

    def test_module(self):
        net, x = Net(), torch.rand(4, 3)
        module = fx.symbolic_trace(net)
        self.assertEqual(ops(module.graph), ["placeholder", "call_module", "call_module", "call_module", "get_attr",
                                             "call_function", "get_attr", "call_function", "call_function",
                                             "call_method", "output"])
        self.assertEqual([node.target for node in module.graph.nodes if node.op == "call_module"],
                         ["fc", "rest.0", "rest.1"])
        self.assertTrue(torch.equal(module(x), net(x)))
        self.assertEqual(sorted(dict(module.named_parameters())), sorted(dict(net.named_parameters())))
        self.assertIs(module.fc, net.fc)

    def test_scripted(self):
        net, x = Net(), torch.rand(4, 3)
        self.assertTrue(torch.equal(torch.jit.script(fx.symbolic_trace(net))(x), net(x)))

    def test_copied(self):
        net, x = Net(), torch.rand(4, 3)
        module = fx.symbolic_trace(net)
        other = copy.deepcopy(module)
        self.assertTrue(torch.equal(other(x), net(x)))
        other.fc.weight.data.zero_()
        self.assertTrue(torch.equal(module(x), net(x)))
        self.assertFalse(torch.equal(other.fc.weight, net.fc.weight))  # results may all be cut off at 0

    def test_operators(self):
        def f(x):
            return x.size(0) + x.shape[1], 2 ** x, -x, x @ x, x < 3, {"a": x}, [x, x], x[1:, None], ~(x > 1)
        x = torch.eye(2)
        got, wanted = fx.symbolic_trace(f)(x), f(x)
        self.assertEqual(got[0], wanted[0])
        for a, b in zip(got[1:5] + (got[5]["a"],) + tuple(got[6]) + got[7:],
                        wanted[1:5] + (wanted[5]["a"],) + tuple(wanted[6]) + wanted[7:]):
            self.assertTrue(torch.equal(a, b))

    def test_values_decide(self):
        for f in (sign, lambda_for, lambda_len):
            with self.assertRaises((fx.proxy.TraceError, RuntimeError)):
                fx.Tracer().trace(f)

    def test_wrapped(self):
        graph = fx.symbolic_trace(signed).graph
        self.assertEqual([node.target for node in graph.nodes if node.op == "call_function"], [sign, operator.add])

    def test_leaves(self):
        class Shallow(fx.Tracer):
            def is_leaf_module(self, m, module_qualified_name):
                return True
        net = Net()
        graph = Shallow().trace(net)
        self.assertEqual([node.target for node in graph.nodes if node.op == "call_module"], ["fc", "rest"])
        x = torch.rand(1, 3)
        self.assertTrue(torch.equal(fx.GraphModule(net, graph)(x), net(x)))


def lambda_for(x):
    for row in x:
        x = x + row
    return x


def lambda_len(x):
    return x * len(x)


class Changed(unittest.TestCase):
    def test_replaced(self):
        module = fx.symbolic_trace(doubled)
        for node in module.graph.nodes:
            if node.target is torch.relu:
                with module.graph.inserting_after(node):
                    made = module.graph.call_function(torch.sigmoid, node.args)
                node.replace_all_uses_with(made)
                module.graph.erase_node(node)
        module.graph.lint()
        module.recompile()
        self.assertEqual(module(torch.zeros(1)).tolist(), [1])

    def test_used_nodes_stay(self):
        graph = fx.symbolic_trace(doubled).graph
        with self.assertRaises(RuntimeError):
            graph.erase_node(next(iter(graph.nodes)))

    def test_dead_code(self):
        def f(x):
            x + 1
            return x * 2
        module = fx.symbolic_trace(f)
        self.assertTrue(module.graph.eliminate_dead_code())
        self.assertEqual(ops(module.graph), ["placeholder", "call_function", "output"])

    def test_pattern(self):
        module = fx.symbolic_trace(twice)
        matches = fx.replace_pattern(module, relu_plus, sigmoid_times)
        self.assertEqual(len(matches), 2)
        self.assertEqual(code(module), """def forward(self, x, w):
            sigmoid = torch.sigmoid(x);  x = None
            mul = sigmoid * w;  sigmoid = None
            sigmoid_1 = torch.sigmoid(w);  w = None
            mul_1 = sigmoid_1 * mul;  sigmoid_1 = mul = None
            return mul_1""".split())

    def test_by_hand(self):
        graph = fx.Graph()
        x = graph.placeholder("x")
        linear = graph.call_module("linear", (x,))
        graph.output(graph.call_method("relu", (linear,)))
        layer = nn.Linear(2, 2)
        module = fx.GraphModule({"linear": layer}, graph)
        given = torch.rand(3, 2)
        self.assertTrue(torch.equal(module(given), layer(given).relu()))


class Run(unittest.TestCase):
    def test_interpreter(self):
        class Negating(fx.Interpreter):
            def call_function(self, target, args, kwargs):
                return -super().call_function(target, args, kwargs)
        module = fx.symbolic_trace(doubled)
        self.assertEqual(fx.Interpreter(module).run(torch.ones(1)).tolist(), [2])
        self.assertEqual(Negating(module).run(torch.ones(1)).tolist(), [2])

    def test_transformer(self):
        class Swapping(fx.Transformer):
            def call_function(self, target, args, kwargs):
                return super().call_function(torch.sigmoid if target is torch.relu else target, args, kwargs)
        self.assertEqual(Swapping(fx.symbolic_trace(doubled)).transform()(torch.zeros(1)).tolist(), [1])


class Foreign(unittest.TestCase):
    def test_objects_that_stand_for_tensors(self):
        calls = []

        class Standing:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                calls.append((func is torch.add, types, len(args), kwargs or {}))
                return 5
        one = Standing()
        self.assertEqual(torch.add(one, 2), 5)
        self.assertEqual(torch.add(torch.ones(1), one, alpha=2), 5)
        self.assertEqual(torch.cat([torch.ones(1), one]), 5)
        self.assertEqual([call[0] for call in calls], [True, True, False])
        self.assertEqual(calls[1][3], {"alpha": 2})
        self.assertTrue(all(tuple(types) == (Standing,) for _, types, _, _ in calls))
        with self.assertRaises(TypeError):
            torch.add(object(), 2)

        class Refusing:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return NotImplemented
        with self.assertRaises(TypeError):
            torch.add(Refusing(), 2)


if __name__ == "__main__":
    unittest.main()
