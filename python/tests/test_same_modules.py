"""Compiled modules as PyTorch has them: those derived by hand, what programs assign, tied tensors, copies."""
import copy
import io
import unittest

from beside import torch

nn = torch.nn
ScriptModule, script_method = torch.jit.ScriptModule, torch.jit.script_method


class Plain(ScriptModule):
    @script_method
    def forward(self, x):
        if torch.jit.is_scripting():
            return self.twice(x)
        return x

    @script_method
    def twice(self, x):
        return x * self.number(2)

    @script_method
    def number(self, n: int):
        return n

    def python(self, x):
        return [self.twice(x), "text"]


class Held(ScriptModule):
    __constants__ = ["scale"]

    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("calls", torch.zeros(1))
        self.inner = nn.ModuleList([nn.Linear(2, 2), Plain()])
        self.count = 0

    @script_method
    def forward(self, x):
        for layer in self.inner:
            x = layer(x)
        self.calls.add_(1)
        self.count += 1
        return x * self.weight * self.scale


class Derived(Plain):
    def __init__(self):
        super().__init__()
        self.extra = 3

    @script_method
    def twice(self, x):
        return x * 2 + self.extra


def reloaded(module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)


class ByHand(unittest.TestCase):
    def test_methods_are_compiled(self):
        module = Plain()
        self.assertEqual(module(torch.ones(1)).tolist(), [2])
        self.assertEqual(module.python(torch.ones(1))[0].tolist(), [2])
        with self.assertRaisesRegex(RuntimeError, "Expected a value of type 'int' for argument 'n'"):
            module.number(1.5)
        self.assertIs(type(module), Plain)
        self.assertIs(torch.jit.script(module), module)
        self.assertEqual(reloaded(module)(torch.ones(1)).tolist(), [2])

    def test_attributes(self):
        module = Held(3)
        want = (module.inner[0](torch.ones(2)) * 6).tolist()
        self.assertEqual(module(torch.ones(2)).tolist(), want)
        self.assertEqual((module.calls.item(), module.count, module.scale), (1, 1, 3))
        names = [name for name, _ in module.named_parameters()]
        self.assertEqual(names, ["weight", "inner.0.weight", "inner.0.bias"])
        module.count = 7
        module(torch.ones(2))
        self.assertEqual(module.count, 8)
        self.assertEqual(copy.deepcopy(module)(torch.ones(2)).tolist(), want)
        self.assertEqual(Held(5).scale, 5)

    def test_derived_again(self):
        self.assertEqual(Derived()(torch.ones(1)).tolist(), [5])
        self.assertEqual(Plain()(torch.ones(1)).tolist(), [2])

    def test_define(self):
        class Defining(ScriptModule):
            def __init__(self, number):
                super().__init__()
                self.define("def forward(self, x):\n  return self.more(x) + %d\n" % number)
                self.define("def more(self, x):\n  return x * 2\n")
        self.assertEqual(Defining(1)(torch.ones(1)).tolist(), [3])
        self.assertEqual(Defining(2)(torch.ones(1)).tolist(), [4])
        module = ScriptModule()
        module.define("def f(self, x):\n  return x + 1\n")
        module.define("def g(self, x):\n  return self.f(x) * 2\n")
        self.assertEqual(module.g(torch.ones(1)).tolist(), [4])

    def test_python_forward_stays_python(self):
        class Mixed(ScriptModule):
            def forward(self, x):
                return {"any": self.compiled(x)}

            @script_method
            def compiled(self, x):
                return x + 1
        self.assertEqual(Mixed()(torch.ones(1))["any"].tolist(), [2])

    def test_what_can_be_set(self):
        module = Held(1)
        module.note = ["python"]
        self.assertEqual(module.note, ["python"])
        with self.assertRaisesRegex(RuntimeError, "Can't add a new parameter after ScriptModule construction"):
            module.other = nn.Parameter(torch.ones(1))
        with self.assertRaisesRegex(RuntimeError, "Cannot re-assign modules in a ScriptModule"):
            module.inner = nn.Linear(1, 1)
        with self.assertRaises(RuntimeError):
            del module.weight

    def test_in_a_trace(self):
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Plain()

            def forward(self, x):
                return self.inner(x) + 1
        traced = torch.jit.trace(Outer(), (torch.ones(1),))
        self.assertEqual(traced(torch.full((1,), 3.0)).tolist(), [7])


class Assigning(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.register_buffer("seen", torch.zeros(2))
        self.register_buffer("part", self.seen[:1])
        self.plain = torch.ones(1)

    def forward(self, x):
        self.seen = self.seen + 1
        self.plain = x
        return self.second(self.first(x))

    @torch.jit.export
    def write_part(self):
        self.part.add_(1)


class Tensors(unittest.TestCase):
    def test_what_a_program_assigns(self):
        module = torch.jit.script(Assigning())
        x = torch.ones(2)
        module(x)
        self.assertEqual(module.seen.tolist(), [1, 1])
        self.assertEqual(module.state_dict()["seen"].tolist(), [1, 1])
        self.assertEqual(dict(module.named_buffers())["seen"].tolist(), [1, 1])
        self.assertIs(module.plain, x)
        module.seen = torch.full((2,), 4.0)
        module(x)
        self.assertEqual(module.seen.tolist(), [5, 5])

    def test_parameter_that_a_program_assigns(self):
        class Replacing(nn.Module):
            def __init__(self):
                super().__init__()
                self.p = nn.Parameter(torch.ones(1))

            def forward(self, x):
                self.p = x
                return x
        module = torch.jit.script(Replacing())
        module(torch.zeros(1))
        self.assertEqual(module.p.tolist(), [0])
        self.assertEqual([p.tolist() for p in module.parameters()], [[0]])

    def tied(self, module):
        self.assertIs(module.first.weight, module.second.weight)
        self.assertEqual(len(list(module.parameters())), 3)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
        module(torch.ones(2)).sum().backward()
        self.assertIs(module.first.weight.grad, module.second.weight.grad)
        before = module.second.weight.detach().clone()
        optimizer.step()
        self.assertFalse(torch.equal(before, module.first.weight))
        self.assertTrue(torch.equal(module.second.weight, module.first.weight))
        want = module.second.weight @ (module.first.weight @ torch.ones(2) + module.first.bias) + module.second.bias
        self.assertTrue(torch.allclose(module(torch.ones(2)), want))

    def test_tied_parameters_stay_tied(self):
        module = Assigning()
        for make in (lambda m: m, torch.jit.script, lambda m: reloaded(torch.jit.script(m)),
                     copy.deepcopy, lambda m: torch.jit.trace(m, torch.ones(2), check_trace=False)):
            self.tied(make(module))
        module = copy.deepcopy(torch.jit.script(module))
        self.assertIs(module.first.weight, module.second.weight)
        self.assertEqual(len(list(module.parameters())), 3)

    def test_tied_parameters_converted(self):
        module = reloaded(torch.jit.script(Assigning()))
        weight = module.first.weight
        module.double()
        self.assertIs(module.first.weight, weight)
        self.assertIs(module.second.weight, weight)
        self.assertIs(module(torch.ones(2, dtype=torch.float64)).dtype, torch.float64)

    def test_data_of_parameters(self):
        module = torch.jit.script(Assigning())
        x = torch.ones(2)
        for _ in range(4):
            module(x)
        module.first.weight.data = torch.zeros(2, 2)
        self.assertEqual(module.second.weight.tolist(), [[0, 0], [0, 0]])
        self.assertTrue(torch.equal(module(x), module.second.bias))
        kept = module.first.weight.data
        for value in (1.0, 2.0):
            module.first.weight.data = torch.full((2, 2), value)
            self.assertEqual(module.second.weight[0, 0].item(), value)
        module.first.weight.data = kept
        self.assertEqual(module.second.weight[0, 0].item(), 0)
        y = torch.ones(2)
        other, part = y, y[:1]
        y.data = torch.zeros(3, dtype=torch.float64)
        self.assertEqual((other.tolist(), other.dtype, part.tolist()), ([0, 0, 0], torch.float64, [1]))

    def test_copies_share_as_the_originals_do(self):
        a = torch.arange(6.0)
        made = copy.deepcopy({"a": a, "tail": a[2:], "turned": a.view(2, 3).t(), "wide": a[:1].expand(3)})
        made["a"][2] = 9
        made["a"][0] = 5
        self.assertEqual(made["tail"].tolist(), [9, 3, 4, 5])
        self.assertEqual(made["turned"].tolist(), [[5, 3], [1, 4], [9, 5]])
        self.assertEqual(made["wide"].tolist(), [5, 5, 5])
        self.assertEqual(a.tolist(), [0, 1, 2, 3, 4, 5])
        module = copy.deepcopy(Assigning())
        module.part.add_(1)
        self.assertEqual(module.seen.tolist(), [1, 0])
        module = copy.deepcopy(torch.jit.script(Assigning()))
        module.write_part()
        self.assertEqual(module.seen[0].item(), 1)


class Identity(unittest.TestCase):
    def test_of_tensors_through_programs(self):
        @torch.jit.script
        def same(x):
            return x

        @torch.jit.script
        def converted(x):
            return x.to(x.dtype), x.contiguous()
        x = torch.ones(2)
        x.note = "kept"
        self.assertIs(same(x), x)
        self.assertIs(converted(x)[0], x)
        self.assertIs(x.to(x.dtype), x)
        weight = nn.Parameter(torch.ones(2))
        self.assertIs(same(weight), weight)

    def test_of_tensors_in_containers(self):
        from typing import Dict, List, Tuple

        def through(d: Dict[str, torch.Tensor], many: List[torch.Tensor]) -> Tuple[Dict[str, torch.Tensor],
                                                                                  List[torch.Tensor]]:
            many.append(d["a"])
            return d, many
        a, b = torch.ones(1), torch.ones(2)
        d, many = torch.jit.script(through)({"a": a}, [b])
        self.assertIs(d["a"], a)
        self.assertIs(many[0], b)
        self.assertIs(many[1], a)


class Shadowing(nn.Module):
    @staticmethod
    def sum(x):
        return x * 2

    def forward(self, x):
        return self.sum(x)


class PythonMethods(unittest.TestCase):
    """Methods that no program calls are Python's, whatever they are named and whatever stands in them."""

    def test_own_names_of_functions_and_methods(self):
        class Own(nn.Module):
            def pad(self, *args, **kwargs):
                return "pad"

            def append(self, item):
                yield item

            def keys(self):
                return [each for each in self.__dict__ if each][0:(lambda: 1)()]

            def forward(self, x):
                found = [x]
                found.append(nn.functional.pad(x, [1, 1]))
                table = {"a": 1}
                return found[1], len(list(table.keys()))
        module = torch.jit.script(Own())
        self.assertEqual(module(torch.ones(2))[0].tolist(), [0, 1, 1, 0])

    def test_chosen_where_called(self):
        class Inner(nn.Module):
            def forward(self, x):
                return x

            def step(self, x):
                return x + 1

            def other(self, x, *rest):
                return rest

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([Inner(), Inner()])

            def step(self, *anything):
                return anything

            def forward(self, x):
                for layer in self.layers:
                    x = layer.step(x)
                return x
        module = torch.jit.script(Outer())
        self.assertEqual(module(torch.ones(1)).tolist(), [3])

    def test_unreadable_where_called(self):
        class Calling(nn.Module):
            def odd(self, x, /):
                return x

            def forward(self, x):
                return self.odd(x)
        with self.assertRaises(RuntimeError):
            torch.jit.script(Calling())

    def test_names_of_the_language(self):
        self.assertEqual(torch.jit.script(Shadowing())(torch.ones(2)).tolist(), [2, 2])

    def test_hasattr_of_methods(self):
        class Asking(nn.Module):
            def helper(self, x):
                return x + 1

            def forward(self, x):
                if hasattr(self, "helper"):
                    x = self.helper(x)
                if hasattr(self, "missing"):
                    x = self.missing(x)
                return x

        class Asked(nn.Module):
            def helper(self, x):
                return x + 1

            def forward(self, x):
                return hasattr(self, "helper"), hasattr(self, "missing")
        self.assertEqual(torch.jit.script(Asking())(torch.ones(1)).tolist(), [2])
        self.assertEqual(torch.jit.script(Asked())(torch.ones(1)), (True, False))


class Bare(unittest.TestCase):
    """What torch._C has of modules."""

    def made(self):
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = 11

            def forward(self, x):
                return self.a

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()
                self.weight = nn.Parameter(torch.ones(2))
                self.numbers = [1, 2]

            def forward(self, x):
                return self.inner(x) + self.numbers[0] + (x * self.weight).sum()
        return torch.jit.script(Outer()).eval()

    def test_of_a_module(self):
        module = self.made()
        bare = module._c
        self.assertTrue(bare.hasattr("inner") and bare.getattr("inner").hasattr("a"))
        self.assertFalse(bare.hasattr("missing"))
        self.assertEqual(bare.getattr("numbers"), [1, 2])
        self.assertEqual(bare._get_method("forward")(torch.ones(2)).item(), 14)
        self.assertTrue(bare._has_method("forward"))
        self.assertEqual(bare._type().name(), torch.jit.script(module)._c._type().name())
        with self.assertRaisesRegex(RuntimeError, "Method 'missing' is not defined"):
            bare._get_method("missing")
        with self.assertRaises(AttributeError):
            bare.getattr("missing")
        bare.setattr("numbers", [5])
        self.assertEqual(module.numbers, [5])

    def test_frozen(self):
        module = self.made()
        kept = torch._C._freeze_module(module._c, ["numbers"])
        self.assertEqual([kept.hasattr(name) for name in ("numbers", "inner", "weight")], [True, False, False])
        self.assertEqual(kept.forward(torch.ones(2)).item(), 14)
        self.assertEqual(torch.jit._recursive.wrap_cpp_module(kept)(torch.ones(2)).item(), 14)
        module._c = torch._C._freeze_module(module._c)
        self.assertFalse(module._c.hasattr("numbers"))
        self.assertEqual(module(torch.ones(2)).item(), 14)
        self.assertEqual(reloaded(module)(torch.ones(2)).item(), 14)


class StandIns(unittest.TestCase):
    def test_own_length(self):
        class Layers(nn.ModuleList):
            def __len__(self):
                return 7

        class Holding(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = Layers([nn.Linear(1, 1)])

            def forward(self, x):
                return len(self.layers)
        self.assertEqual(torch.jit.script(Holding())(torch.ones(1)), 7)

    def test_prepare_scriptable(self):
        class Real(nn.Module):
            def __init__(self, factor):
                super().__init__()
                self.factor = factor

            def forward(self, x):
                return x * self.factor

        class Standing(nn.Module):
            def __prepare_scriptable__(self):
                return Real(3)

            def forward(self, x):
                return [each for each in x.anything]

        class Holding(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.layers = Standing(), nn.ModuleList([Standing()])

            def forward(self, x):
                return self.inner(x) + self.layers[0](x)
        self.assertEqual(torch.jit.script(Standing())(torch.ones(1)).tolist(), [3])
        self.assertEqual(torch.jit.script(Holding())(torch.ones(1)).tolist(), [6])

    def test_type_that_others_used_otherwise(self):
        class Inner(nn.Module):
            def forward(self, x):
                return x

            def step(self, x):
                return x + 1

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, x):
                return self.inner.step(x)
        first = torch.jit.script(Inner())
        self.assertEqual(torch.jit.script(Outer())(torch.ones(1)).tolist(), [2])
        self.assertEqual(first(torch.ones(1)).tolist(), [1])


if __name__ == "__main__":
    unittest.main()
