"""wick.jit.script of modules, and what it gives."""

import copy
import importlib.util
import io
import os
import pickle
import tempfile
import unittest
from typing import Dict, Final, List, Optional, Tuple

import wick
import wick.jit
from wick import Tensor

if importlib.util.find_spec("wick.nn") is None:
    print("skipped: wick.nn is not there")
    raise SystemExit(0)

from wick import nn  # noqa: E402
import wick.nn.functional as F  # noqa: E402


class Inner(nn.Module):
    scale: Final[float]
    seen: Dict[str, int]

    def __init__(self, n, scale=2.0):
        super().__init__()
        self.w = nn.Parameter(wick.ones(n))
        self.register_buffer("b", wick.zeros(n))
        self.scale = scale
        self.activation = F.relu
        self.seen = {}

    def forward(self, x):
        return self.activation(x * self.w + self.b) * self.scale

    @wick.jit.export
    def note(self, name: str) -> int:
        self.seen[name] = self.seen.get(name, 0) + 1
        return self.seen[name]


class Outer(nn.Module):
    __constants__ = ["depth"]

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Inner(3), Inner(3), Inner(3, 0.5)])
        self.named = nn.ModuleDict({"x": Inner(3)})
        self.chain = nn.Sequential(Inner(3, 1.0), Inner(3, 1.0))
        self.maybe: Optional[int] = None
        self.depth = 3
        self.calls = 0

    def forward(self, x, flag: bool = False):
        self.calls += 1
        for i, layer in enumerate(self.layers):
            x = layer(x) + i
        for name, layer in self.named.items():
            x = layer(x)
        x = self.chain(x)
        if flag:
            x = self.helper(x, self.depth)
        return x

    def helper(self, x, k: int):
        return x * k + len(self.layers) + self.layers[0].scale

    def never_compiled(self, x):
        return {x for _ in range(3)}

    @property
    def twice(self) -> int:
        return self.depth * 2


class WithPython(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = 5

    def forward(self, x: int) -> int:
        return self.outside(x) + 1

    @wick.jit.ignore
    def outside(self, x: int) -> int:
        return sum({x, self.offset})


class WithProperty(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = 1

    @property
    def level(self) -> int:
        return self.value

    @level.setter
    def level(self, to: int):
        self.value = to * 10

    def forward(self, x: int) -> int:
        self.level = x
        return self.level


def before(self, input: Tuple[Tensor]) -> Tuple[Tensor]:
    return (input[0] + self.step,)


def after(self, input: Tuple[Tensor], result: Tensor) -> Tensor:
    return result * 10


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 1

    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class HoldsHooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Hooked()
        self.inner.register_forward_pre_hook(before)
        self.inner.register_forward_hook(after)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


@wick.jit.interface
class Transform(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Plus(nn.Module):
    def __init__(self, by: float):
        super().__init__()
        self.by = by

    def forward(self, x: Tensor) -> Tensor:
        return x + self.by


class Times(nn.Module):
    def __init__(self, by: int):
        super().__init__()
        self.by = by

    def forward(self, x: Tensor) -> Tensor:
        return x * self.by


class WithInterface(nn.Module):
    step: Transform

    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, x: Tensor) -> Tensor:
        return self.step.forward(x)


class ByHand(wick.jit.ScriptModule):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(wick.ones(n) * 2)

    @wick.jit.script_method
    def forward(self, x):
        return x * self.w


class Overloaded(nn.Module):
    @wick.jit._overload_method
    def pick(self, x: int) -> int:  # noqa: F811
        ...

    @wick.jit._overload_method
    def pick(self, x: str) -> str:  # noqa: F811
        ...

    def pick(self, x):  # noqa: F811
        return x + x

    def forward(self, x: int) -> Tuple[int, str]:
        return self.pick(x), self.pick("a")


class Statics(nn.Module):
    LIMIT = 4

    @staticmethod
    def clipped(x: int, limit: int) -> int:
        return x if x < limit else limit

    def forward(self, x: int) -> int:
        return self.clipped(x, self.LIMIT)


class TestModules(unittest.TestCase):
    def test_same_as_python(self):
        net = Outer()
        scripted = wick.jit.script(net)
        x = wick.tensor([[1.0, -2.0, 0.5]])
        for flag in (False, True):
            self.assertEqual(scripted(x, flag).tolist(), net(x, flag).tolist())
        self.assertEqual((scripted.calls, scripted.depth, scripted.twice, scripted.maybe), (2, 3, 6, None))
        self.assertEqual(scripted.layers[1].note("a"), 1)
        self.assertEqual(scripted.layers[1].note("a"), 2)
        self.assertEqual(scripted.layers[1].seen, {"a": 2})
        self.assertIn("aten::relu", str(scripted.inlined_graph))

    def test_tensors_are_shared(self):
        net = Outer()
        scripted = wick.jit.script(net)
        self.assertEqual([n for n, _ in scripted.named_parameters()], [n for n, _ in net.named_parameters()])
        self.assertEqual(list(scripted.state_dict()), list(net.state_dict()))
        self.assertIs(scripted.layers[0].w, net.layers[0].w)
        with wick.no_grad():
            net.layers[0].w.mul_(3)
        x = wick.ones(1, 3)
        self.assertEqual(scripted(x).tolist(), net(x).tolist())
        scripted(x).sum().backward()
        self.assertIsNotNone(net.layers[0].w.grad)

    def test_types_are_shared(self):
        first, second = wick.jit.script(Outer()), wick.jit.script(Outer())
        names = [m._script_handle.class_name for m in first.layers]
        self.assertEqual(first._script_handle.class_name, second._script_handle.class_name)
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[0], names[2])
        self.assertEqual(wick.jit.script(Inner(7))._script_handle.class_name, names[0])
        with wick.no_grad():
            second.layers[0].w.zero_()
        self.assertNotEqual(first(wick.ones(1, 3)).tolist(), second(wick.ones(1, 3)).tolist())

    def test_attributes_are_written_through(self):
        scripted = wick.jit.script(Outer())
        scripted.calls = 40
        scripted(wick.ones(1, 3))
        self.assertEqual(scripted.calls, 41)
        scripted.layers[0].w = nn.Parameter(wick.zeros(3))
        self.assertEqual(scripted.layers[0](wick.ones(3)).tolist(), [0, 0, 0])
        scripted.new_one = [1]
        self.assertEqual(scripted.new_one, [1])
        with self.assertRaises(AttributeError):
            scripted.nothing

    def test_to_and_train(self):
        scripted = wick.jit.script(Outer()).double()
        self.assertEqual(scripted(wick.ones(1, 3, dtype=wick.float64)).dtype, wick.float64)
        self.assertTrue(scripted.training)
        scripted.eval()
        self.assertFalse(scripted.training or scripted.layers[0].training)

    def test_python_in_between(self):
        net = WithPython()
        self.assertEqual(wick.jit.script(net)(2), net(2))

    def test_properties(self):
        scripted = wick.jit.script(WithProperty())
        self.assertEqual(scripted(3), 30)
        scripted.level = 5
        self.assertEqual(scripted.level, 50)

    def test_hooks(self):
        net = HoldsHooked()
        scripted = wick.jit.script(net)
        x = wick.ones(2)
        self.assertEqual(scripted(x).tolist(), net(x).tolist())
        self.assertEqual(scripted.inner(x).tolist(), [40, 40])

    def test_interface(self):
        for step in (Plus(2.0), Times(3)):
            net = WithInterface(step)
            self.assertEqual(wick.jit.script(net)(wick.ones(1)).tolist(), net(wick.ones(1)).tolist())

    def test_by_hand(self):
        module = ByHand(3)
        self.assertEqual(module(wick.ones(3)).tolist(), [2, 2, 2])
        self.assertEqual(len(list(module.parameters())), 1)
        module.define("""
            def twice(self, x):
                return self.forward(self.forward(x))
            """)
        self.assertEqual(module.twice(wick.ones(3)).tolist(), [4, 4, 4])

    def test_overloads_and_statics(self):
        self.assertEqual(wick.jit.script(Overloaded())(2), (4, "aa"))
        self.assertEqual([wick.jit.script(Statics())(n) for n in (1, 9)], [1, 4])

    def test_scripted_within(self):
        inner = wick.jit.script(Inner(3))

        class Holds(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                return self.inner(x) + 1
        scripted = wick.jit.script(Holds())
        self.assertEqual(scripted(wick.ones(3)).tolist(), [3, 3, 3])
        self.assertIs(scripted.inner, inner)

    def test_errors_show_the_place(self):
        class Wrong(nn.Module):
            def forward(self, x):
                return self.nothing + x
        with self.assertRaisesRegex(RuntimeError, "(?s)nothing.*test_script_modules.py.*return self.nothing"):
            wick.jit.script(Wrong())

    def test_errors_tell_of_attributes_that_have_no_type(self):
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.mixed = [1, "a"]

            def forward(self, x: int) -> int:
                return x + len(self.mixed)
        with self.assertRaisesRegex(RuntimeError, "(?s)must have consistent element type. Found .*return x \\+ len"):
            wick.jit.script(Mixed())


class TestArchives(unittest.TestCase):
    def test_saved_and_loaded(self):
        scripted = wick.jit.script(Outer())
        x, buffer = wick.ones(1, 3), io.BytesIO()
        wick.jit.save(scripted, buffer, _extra_files={"notes.txt": "some notes"})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.pt")
            scripted.save(path)
            loaded = wick.jit.load(path)
        files = {"notes.txt": ""}
        buffer.seek(0)
        again = wick.jit.load(buffer, map_location="cpu", _extra_files=files)
        self.assertEqual(files["notes.txt"], b"some notes")
        for module in (loaded, again, pickle.loads(pickle.dumps(scripted)), copy.deepcopy(scripted)):
            self.assertEqual(module(x, True).tolist(), scripted(x, True).tolist())
            self.assertEqual(list(module.state_dict()), list(scripted.state_dict()))
        self.assertEqual(len(loaded.layers), 3)
        with wick.no_grad():
            loaded.layers[0].w.zero_()
        self.assertNotEqual(loaded(x).tolist(), scripted(x).tolist())
        with self.assertRaises(ValueError):
            wick.jit.load("/no/such/file.pt")

    def test_frozen(self):
        scripted = wick.jit.script(Inner(3)).eval()
        with self.assertRaisesRegex(RuntimeError, "eval"):
            wick.jit.freeze(wick.jit.script(Inner(3)))
        frozen = wick.jit.freeze(scripted)
        self.assertEqual(list(frozen.parameters()), [])
        self.assertEqual(frozen(wick.ones(3)).tolist(), scripted(wick.ones(3)).tolist())
        self.assertEqual(wick.jit.optimize_for_inference(scripted)(wick.ones(3)).tolist(), [2, 2, 2])

    def test_states(self):
        first, second = wick.jit.script(Inner(2)), wick.jit.script(Inner(2))
        with wick.no_grad():
            first.w.fill_(4)
        second.load_state_dict(first.state_dict())
        self.assertEqual(second(wick.ones(2)).tolist(), [8, 8])


if __name__ == "__main__":
    unittest.main()
