"""Arguments by signatures, shapes of Nodes, modules cut in pieces, and what traces do not look into."""
import importlib
import math
import pickle
import typing
import unittest

from beside import torch

fx, nn = importlib.import_module(torch.__name__ + ".fx"), torch.nn
schemas = importlib.import_module(torch.__name__ + ".fx.operator_schemas")
shape_prop = importlib.import_module(torch.__name__ + ".fx.passes.shape_prop")
split = importlib.import_module(torch.__name__ + ".fx.passes.split_module")
immutable = importlib.import_module(torch.__name__ + ".fx.immutable_collections")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 2)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        y = self.first(x)
        z = torch.relu(y)
        return self.second(z) * self.scale + y.sum(), z


def kept(x):
    return x if x.sum() > 0 else -x


def calls_kept(x):
    return kept(x) + math.sqrt(x.size(0))


def product(x, y, z):
    return torch.einsum("ij,jk,kl->il", x, y, z)


class Pair(metaclass=fx.ProxyableClassMeta):
    def __init__(self, left, right):
        self.left, self.right = left, right

    def total(self):
        return self.left + self.right


def pairs(x):
    return Pair(x, x).total()


def ops(graph):
    return [node.op for node in graph.nodes]


class Arguments(unittest.TestCase):
    def test_functions(self):
        def f(a, b=2, *, c=3):
            return a
        self.assertEqual(schemas.normalize_function(f, (1,)), ((1,), {"b": 2, "c": 3}))
        self.assertEqual(schemas.normalize_function(f, (1,), {"c": 5}, normalize_to_only_use_kwargs=True),
                         ((), {"a": 1, "b": 2, "c": 5}))
        self.assertIsNone(schemas.normalize_function(lambda *args: args, (1,)))

    def test_operators(self):
        x = torch.ones(2)
        found = schemas.normalize_function(torch.relu, (x,), normalize_to_only_use_kwargs=True)
        self.assertEqual(list(found.kwargs), ["input"])
        found = schemas.normalize_function(torch.add, (x, x), arg_types=(torch.Tensor, torch.Tensor))
        self.assertEqual((len(found.args), found.kwargs), (2, {"alpha": 1}))
        found = schemas.normalize_function(torch.ops.aten.add.Tensor, (x, x))
        self.assertEqual(found.kwargs, {"alpha": 1})
        with self.assertRaisesRegex(RuntimeError, "the schema match was ambiguous"):
            schemas.normalize_function(torch.add, (x, x))

    def test_modules(self):
        net = Net()
        found = schemas.normalize_module(net, "first", (1,), normalize_to_only_use_kwargs=True)
        self.assertEqual(found.kwargs, {"input": 1})
        self.assertIsNone(schemas.normalize_module(nn.Sequential(net), "0", (1,)))
        with self.assertRaisesRegex(RuntimeError, "root did not have that target"):
            schemas.normalize_module(net, "third", (1,))

    def test_nodes(self):
        module = fx.symbolic_trace(Net())
        found = [node.normalized_arguments(module) for node in module.graph.nodes if node.op == "call_module"]
        self.assertEqual([len(pair.args) + len(pair.kwargs) for pair in found], [1, 1])

    def test_types(self):
        self.assertTrue(schemas.type_matches(typing.List[int], int))
        self.assertTrue(schemas.type_matches(typing.Optional[torch.Tensor], torch.Tensor))
        self.assertTrue(schemas.type_matches(typing.List[int], typing.List[int]))
        self.assertTrue(schemas.type_matches(typing.List[int], typing.Tuple[int, ...]))
        self.assertFalse(schemas.type_matches(typing.List[int], typing.List[str]))
        self.assertFalse(schemas.type_matches(int, str))
        self.assertEqual(schemas.create_type_hint([int, bool]), typing.List[int])
        self.assertEqual(schemas.create_type_hint((int, str)), typing.Tuple[typing.Any, ...])
        self.assertEqual(schemas.create_type_hint([]), typing.List[typing.Any])

    def test_writes(self):
        x = torch.ones(2)
        schemas.check_for_mutable_operation(torch.relu, (x,), {})
        with self.assertRaisesRegex(RuntimeError, "Tried to trace mutable operation"):
            schemas.check_for_mutable_operation(torch.relu_, (x,), {})

    def test_cannot_be_changed(self):
        graph = fx.symbolic_trace(lambda x: torch.cat([x, x]).sum(dim=[0])).graph
        cat = list(graph.nodes)[1]
        self.assertIsInstance(cat.args[0], immutable.immutable_list)
        with self.assertRaisesRegex(NotImplementedError, "'immutable_list' object does not support mutation"):
            cat.args[0].append(1)
        with self.assertRaisesRegex(NotImplementedError, "'immutable_dict' object does not support mutation"):
            immutable.immutable_dict(a=1)["b"] = 2
        for value in (immutable.immutable_list([1]), immutable.immutable_dict(a=1)):
            self.assertIs(type(pickle.loads(pickle.dumps(value))), type(value))
            self.assertEqual(pickle.loads(pickle.dumps(value)), value)

    def test_types_of_nodes(self):
        self.assertIn(str, fx.node.base_types)
        self.assertEqual(fx.node.Target, typing.Union[typing.Callable[..., typing.Any], str])
        self.assertIn(slice, fx.node.Argument.__args__)


class Shapes(unittest.TestCase):
    def test_of_nodes(self):
        module = fx.symbolic_trace(Net())
        out = shape_prop.ShapeProp(module).propagate(torch.ones(5, 4))
        self.assertEqual(out[0].shape, (5, 2))
        found = {node.name: node.meta.get("tensor_meta") for node in module.graph.nodes}
        self.assertEqual({name: tuple(meta.shape) for name, meta in found.items() if name != "output"}, {
            "x": (5, 4), "first": (5, 3), "relu": (5, 3), "second": (5, 2), "scale": (2,), "mul": (5, 2),
            "sum_1": (), "add": (5, 2)})
        self.assertEqual([tuple(meta.shape) for meta in found["output"]], [(5, 2), (5, 3)])
        first = found["first"]
        self.assertEqual((first.dtype, first.requires_grad, first.stride, first.memory_format, first.is_quantized,
                          first.qparams), (torch.float32, True, (3, 1), torch.contiguous_format, False, {}))
        self.assertIs(list(module.graph.nodes)[1].meta["type"], torch.Tensor)

    def test_layouts(self):
        module = fx.symbolic_trace(lambda x: x.contiguous(memory_format=torch.channels_last))
        shape_prop.ShapeProp(module).propagate(torch.ones(2, 3, 4, 5))
        self.assertIs(list(module.graph.nodes)[1].meta["tensor_meta"].memory_format, torch.channels_last)


class Split(unittest.TestCase):
    def test_in_two(self):
        net = Net()
        module = fx.symbolic_trace(net)
        where = {"first": 0, "relu": 0, "sum_1": 0}
        names = {}
        parts = split.split_module(module, net, lambda node: where.get(node.name, 1), names)
        self.assertEqual(sorted(name for name, _ in parts.named_children()), ["submod_0", "submod_1"])
        self.assertEqual(names, {"submod_0.first": "first", "submod_1.second": "second"})
        x = torch.rand(5, 4)
        for mine, its in zip(parts(x), net(x)):
            torch.testing.assert_close(mine, its)
        self.assertEqual(ops(parts.graph).count("call_module"), 2)

    def test_cycles(self):
        net = Net()
        with self.assertRaisesRegex(RuntimeError, "cycle exists between partitions!"):
            split.split_module(fx.symbolic_trace(net), net, lambda node: node.name == "relu")


class Traces(unittest.TestCase):
    def test_functions_that_are_not_looked_into(self):
        graph = fx.Tracer(autowrap_functions=(kept,)).trace(calls_kept)
        self.assertEqual([node.name for node in graph.nodes], ["x", "kept", "size", "sqrt", "add", "output"])
        module = fx.GraphModule(nn.Module(), graph)
        self.assertEqual(module(torch.ones(4)).tolist(), [3, 3, 3, 3])
        with self.assertRaises(fx.proxy.TraceError):
            fx.Tracer().trace(calls_kept)

    def test_parameters_are_read_once(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(2))

            def forward(self, x):
                return kept(self.weight) * x + self.weight
        graph = fx.Tracer(autowrap_functions=(kept,)).trace(Twice())
        self.assertEqual(ops(graph), ["placeholder", "get_attr"] + 3 * ["call_function"] + ["output"])

    def test_values_of_parameters(self):
        graph = fx.symbolic_trace(lambda x, by=2: x / by, concrete_args={"by": 4, "x": fx.PH}).graph
        self.assertEqual(repr(fx.PH), "PH")
        self.assertEqual([node.args[1] for node in graph.nodes if node.name == "truediv"], [4])

    def test_einsum(self):
        module = fx.symbolic_trace(product)
        einsum = list(module.graph.nodes)[3]
        self.assertIs(einsum.target, torch.einsum)
        self.assertEqual([str(arg) for arg in einsum.args], ["ij,jk,kl->il", "x", "y", "z"])
        self.assertIn("einsum = torch.functional.einsum('ij,jk,kl->il', x, y, z)", module.code)
        operands = torch.rand(2, 3), torch.rand(3, 4), torch.rand(4, 5)
        torch.testing.assert_close(module(*operands), product(*operands))

    def test_programs_of_functions_that_take_out(self):
        """What is not given is not recorded: programs have no None there."""
        def dots(x):
            return torch.tensordot(x, x, dims=1) + torch.linalg.multi_dot([x, x, x]) + torch.nonzero(x).sum()
        module, x = fx.symbolic_trace(dots), torch.rand(2, 2)
        torch.testing.assert_close(torch.jit.script(module)(x), dots(x))

    def test_assertions(self):
        def checked(x):
            torch._assert(x.size(0) == 2, "two of them")
            return x + 1
        module = fx.symbolic_trace(checked)
        module.graph.eliminate_dead_code()
        module.recompile()
        self.assertIn("torch._assert(", module.code)
        self.assertEqual(module(torch.ones(2)).tolist(), [2, 2])
        with self.assertRaisesRegex(AssertionError, "two of them"):
            module(torch.ones(3))

    def test_classes_that_are_recorded(self):
        module = fx.symbolic_trace(pairs)
        self.assertEqual([node.op for node in module.graph.nodes],
                         ["placeholder", "call_function", "call_method", "output"])
        self.assertEqual(module(torch.ones(1)).tolist(), [2])
        self.assertEqual(Pair(1, 2).total(), 3)


if __name__ == "__main__":
    unittest.main()
