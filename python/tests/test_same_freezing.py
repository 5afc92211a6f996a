"""What freezing leaves of a module, and what shapes of graphs follow from their inputs'."""
import unittest
from typing import Optional

from beside import torch

C, nn = torch._C, torch.nn


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(self.conv(x))


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(2)
        self.sizes = [1, 2]
        self.name = "kept"

    def forward(self, x):
        return x * self.scale + len(self.name) + self.sizes[1]

    @torch.jit.export
    def other(self, x):
        return x - self.scale


class Writing(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = torch.zeros(1)

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class PlusOne(nn.Module):
    def forward(self, x):
        return x + 1


class Stepping(nn.Module):
    step: Step

    def __init__(self):
        super().__init__()
        self.step = PlusOne()

    def forward(self, x):
        return self.step(x) * 2


class Maybe(nn.Module):
    weight: Optional[torch.Tensor]

    def __init__(self, has):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1)) if has else None

    def forward(self, x):
        weight = self.weight
        return x if weight is None else x + weight


def frozen(module, **options):
    return C._freeze_module(torch.jit.script(module.eval())._c, **options)


class Freezing(unittest.TestCase):
    def test_attributes_go(self):
        left = frozen(Kept())
        self.assertEqual([left.hasattr(name) for name in ("scale", "sizes", "name", "training")], [False] * 4)
        self.assertEqual(left._get_method("forward")(torch.ones(2)).tolist(), [7, 7])

    def test_preserved(self):
        left = frozen(Kept(), preservedAttrs=["name", "other"])
        self.assertTrue(left.hasattr("name"))
        self.assertEqual(left.getattr("name"), "kept")
        self.assertEqual(left._get_method("other")(torch.ones(2)).tolist(), [0, 0])
        self.assertFalse(left.hasattr("scale"))

    def test_unknown_name(self):
        with self.assertRaisesRegex(RuntimeError, "Unknown name: nothing"):
            frozen(Kept(), preservedAttrs=["nothing"])
        with self.assertRaisesRegex(RuntimeError, "Unknown name: nothing"):
            torch.jit.freeze(torch.jit.script(Kept().eval()), preserved_attrs=["nothing"])

    def test_parameters_preserved(self):
        left = frozen(Norm(), preserveParameters=True)
        names = [name for name, _ in torch.jit._recursive.wrap_cpp_module(left).named_parameters()]
        self.assertEqual(names, ["conv.weight", "conv.bias", "norm.weight", "norm.bias"])

    def test_written(self):
        left = frozen(Writing())
        self.assertTrue(left.hasattr("count"))
        self.assertEqual(left._get_method("forward")(torch.ones(1)).tolist(), [2])
        self.assertEqual(left._get_method("forward")(torch.ones(1)).tolist(), [3])

    def test_interfaces(self):
        left = frozen(Stepping())
        self.assertFalse(left.hasattr("step"))
        self.assertEqual(left._get_method("forward")(torch.ones(1)).tolist(), [4])
        with self.assertRaisesRegex(RuntimeError, "attempted to freeze a module that uses interface attributes"):
            frozen(Stepping(), freezeInterfaces=False)

    def test_in_training(self):
        module = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout())
        left = C._freeze_module(torch.jit.script(module.train())._c)
        self.assertFalse(left.hasattr("training"))
        with self.assertRaisesRegex(RuntimeError, "eval mode"):
            torch.jit.freeze(torch.jit.script(module))

    def test_exact(self):
        scripted, x = torch.jit.script(Norm().eval()), torch.rand(1, 3, 5, 5)
        self.assertNotIn("aten::batch_norm", str(torch.jit.freeze(scripted).graph))
        exact = torch.jit.freeze(scripted, optimize_numerics=False)
        self.assertIn("aten::batch_norm", str(exact.graph))
        self.assertTrue(torch.equal(exact(x), scripted(x)))
        self.assertIn("aten::batch_norm", str(frozen(Norm())._get_method("forward").graph))

    def test_what_is_gone(self):
        left = torch.jit.freeze(torch.jit.script(Kept().eval()))
        self.assertFalse(hasattr(left, "other"))
        self.assertFalse(hasattr(left, "scale"))


class Parameters(unittest.TestCase):
    def test_optional(self):
        self.assertEqual([name for name, _ in torch.jit.script(Maybe(True)).named_parameters()], ["weight"])
        self.assertEqual([name for name, _ in torch.jit.script(Maybe(False)).named_parameters()], [])

    def test_biases(self):
        for layer in (nn.Conv2d(1, 2, 1), nn.Conv1d(1, 2, 1), nn.ConvTranspose2d(1, 2, 1), nn.Linear(1, 2)):
            scripted = torch.jit.script(layer)
            self.assertEqual(list(scripted.state_dict()), ["weight", "bias"])
            self.assertEqual([name for name, _ in scripted.named_parameters()], ["weight", "bias"])
            scripted.load_state_dict({"weight": layer.weight.detach(), "bias": torch.zeros(2)})
            self.assertEqual(layer.bias.tolist(), [0, 0])


def sizes_of(function, *sizes):
    """The sizes of a function's operators; symbols as numbers in the order in which they appear."""
    graph, names = torch.jit.script(function).graph.copy(), {}
    for value, size in zip(graph.inputs(), sizes):
        value.setType(C.TensorType.get().with_sizes(size))
    C._jit_pass_constant_propagation(graph)
    C._jit_pass_propagate_shapes_on_graph(graph)
    found = []
    for value in [value for value in graph.inputs()] + [n.output() for n in graph.nodes() if n.kind()[:4] == "aten"]:
        kind = value.type()
        if kind.kind() == "TensorType" and kind.symbolic_sizes() is not None:
            found.append([size if size >= 0 else "s%d" % names.setdefault(size, len(names))
                          for size in kind.symbolic_sizes()])
    return found


def product(x, y):
    return x * y


def matrices(x, y):
    return torch.mm(x, y)


def batches(x, y):
    return torch.matmul(x, y)


def regrouped(x):
    return x.view([-1, 2])


def turned(x):
    return x.transpose(0, 1), x.unsqueeze(0), x.relu()


def convolved(x, w):
    return torch.conv2d(x, w, None, [1, 1], [0, 0], [1, 1], 1)


def reduced(x):
    return x.mean(1), x.sum([0], True)


def stretched(x):
    return x.expand([5, -1, 3])


class Symbols(unittest.TestCase):
    def test_known(self):
        self.assertEqual(sizes_of(product, [5, 2], [1, 2])[-1], [5, 2])

    def test_unknown(self):
        self.assertEqual(sizes_of(matrices, [None, 4], [4, None]), [["s0", 4], [4, "s1"], ["s0", "s1"]])
        self.assertEqual(sizes_of(batches, [None, 3, 4], [4, None])[-1], ["s0", 3, "s1"])
        self.assertEqual(sizes_of(regrouped, [10, 3])[-1], [15, 2])
        self.assertEqual(sizes_of(turned, [None, 3]), [["s0", 3], [3, "s0"], [1, "s0", 3], ["s0", 3]])
        self.assertEqual(sizes_of(reduced, [None, 3]), [["s0", 3], ["s0"], [1, 3]])
        self.assertEqual(sizes_of(stretched, [None, 3])[-1], [5, "s0", 3])

    def test_convolution(self):
        found = sizes_of(convolved, [None, 3, None, 224], [8, 3, 3, 3])[-1]
        self.assertEqual((found[1], found[3]), (8, 222))

    def test_nothing_else_is_told(self):
        graph = torch.jit.script(product).graph.copy()
        for value in graph.inputs():
            value.setType(C.TensorType.get().with_sizes([2, 3]))
        C._jit_pass_propagate_shapes_on_graph(graph)
        out = next(graph.outputs()).type()
        self.assertEqual((out.sizes(), out.dtype(), out.device()), ([2, 3], None, None))

    def test_symbols_are_of_the_type(self):
        kind = C.TensorType.get().with_sizes([None, 2, None])
        self.assertEqual(kind.symbolic_sizes(), kind.symbolic_sizes())
        self.assertNotEqual(kind.symbolic_sizes()[0], kind.symbolic_sizes()[2])


if __name__ == "__main__":
    unittest.main()
