"""What can't be compiled or called, and the first lines of what is said then."""
import unittest
from typing import Dict, List, Optional, Tuple

from beside import torch

nn, script = torch.nn, torch.jit.script


class Plain(nn.Module):
    def forward(self, x):
        return x


class Two(nn.Module):
    def forward(self, x, y: int):
        return x


class Errors(unittest.TestCase):
    def refused(self, text, thing, kind=RuntimeError):
        with self.assertRaises(kind) as caught:
            script(thing)
        first = next(line for line in str(caught.exception).splitlines() if line.strip())
        self.assertTrue(first.startswith(text), first)


class Hooks(Errors):
    def hooked(self, hook, before, module=None):
        module = Plain() if module is None else module
        (module.register_forward_pre_hook if before else module.register_forward_hook)(hook)
        return module

    def test_outputs(self):
        def hook(self, input: Tuple[torch.Tensor], output: int):
            return output
        self.refused("Hook 'hook' on module 'Plain' has the wrong type for the output argument. "
                     "Received type: 'int'. "
                     "Expected type: 'Tensor'.", self.hooked(hook, False))

    def test_numbers(self):
        def few(self, input: Tuple[torch.Tensor]):
            return input

        def none(self):
            return None
        self.refused("Hook 'few' on module 'Plain' was expected to only have exactly 3 inputs but it had 2 inputs.",
                     self.hooked(few, False))
        self.refused("Pre-hook 'none' on module 'Plain' was expected to only have exactly 2 inputs "
                     "but it had 1 inputs.",
                     self.hooked(none, True))

    def test_inputs(self):
        def plain(self, input: torch.Tensor):
            return None

        def inferred(self, input):
            return None

        def inner(self, input: Tuple[int]):
            return None

        def many(self, input: Tuple[torch.Tensor, int]):
            return None
        for hook in (plain, inferred):
            self.refused("Pre-hook '%s' on module 'Plain' expected the input argument to be typed "
                         "as a Tuple but found "
                         "type: 'Tensor' instead." % hook.__name__, self.hooked(hook, True))
        self.refused("Pre-hook 'inner' on module 'Plain' has the wrong inner types for the input tuple argument. "
                     "Received type: 'Tuple[int]'.", self.hooked(inner, True))
        self.refused("Pre-hook 'many' on module 'Plain' has the wrong number of contained types for the input "
                     "argument's Tuple. Received type: 'Tuple[Tensor, int]'.", self.hooked(many, True))

    def test_results(self):
        def number(self, input: Tuple[torch.Tensor]) -> int:
            return 1

        def numbers(self, input: Tuple[torch.Tensor]) -> Tuple[int]:
            return (1,)

        def silent(self, input: Tuple[torch.Tensor]):
            return (1,)

        def short(self, input: Tuple[torch.Tensor, int]) -> Tuple[torch.Tensor]:
            return (input[0],)
        self.refused("Pre-hook 'number' on module 'Plain' returned the wrong type of: 'int'.", self.hooked(number,
            True))
        self.refused("Pre-hook 'numbers' on module 'Plain' returned the wrong type of: "
                     "'Tuple[int]'. The returned tuple "
                     "contains the wrong inner types.", self.hooked(numbers, True))
        self.refused("Pre-hook 'silent' on module 'Plain' is missing a return annotation.", self.hooked(silent, True))
        self.refused("Pre-hook 'short' on module 'Two' returned the wrong type of: 'Tuple[Tensor]'. "
                     "The returned tuple "
                     "contains the wrong number of contained types.", self.hooked(short, True, Two()))

    def test_names(self):
        def made(times):
            def hook(self, input: Tuple[torch.Tensor]) -> Tuple[torch.Tensor]:
                return (input[0] * 2,)
            return hook
        module = self.hooked(made(3), True, self.hooked(made(2), True))
        self.refused("Pre-hook 'hook' on Plain has at least two different python definitions. "
                     "Please use unique names "
                     "for all hooks.", module)

    def test_good(self):
        def before(self, input: Tuple[torch.Tensor]) -> torch.Tensor:
            return input[0] * 2

        def after(self, input: Tuple[torch.Tensor], output: torch.Tensor) -> List[torch.Tensor]:
            return [output, output]

        def last(self, input: Tuple[torch.Tensor], output: List[torch.Tensor]):
            return output[0] + 1

        def both(self, input: Tuple[torch.Tensor, int]) -> Tuple[torch.Tensor, int]:
            return (input[0] + input[1], 1)
        module = self.hooked(last, False, self.hooked(after, False, self.hooked(before, True)))
        self.assertEqual(script(module)(torch.ones(1)).item(), 3)
        self.assertEqual(script(self.hooked(both, True, Two()))(torch.ones(1), 2).item(), 3)


class Classes(Errors):
    def test_interfaces_inherit(self):
        @torch.jit.interface
        class First:
            def f(self, x: int) -> int:
                pass

        @torch.jit.interface
        class FirstModule(nn.Module):
            def f(self, x: int) -> int:
                pass
        for base in (First, FirstModule):
            with self.assertRaisesRegex(RuntimeError,
                "TorchScript interface does not support inheritance yet. Please "
                                        "directly inherit from 'object' or 'nn.Module'."):
                @torch.jit.interface
                class Second(base):
                    def g(self, x: int) -> int:
                        pass

    def test_classes_inherit(self):
        @script
        class First:
            def __init__(self):
                self.x = 1
        with self.assertRaisesRegex(RuntimeError, "TorchScript classes does not support inheritance yet. Please "
                                    "directly inherit from 'object'."):
            @script
            class Second(First):
                def __init__(self):
                    self.x = 1

    def test_module_classes(self):
        self.refused("Type '%s' cannot be compiled since it inherits from nn.Module, pass an instance instead"
                     % nn.Linear, nn.Linear)


class Modules(Errors):
    def test_methods_without_self(self):
        class Empty(nn.Module):
            def forward():
                return 1
        self.refused("invalid method signature", Empty(), ValueError)

    def test_attributes(self):
        class Missing(nn.Module):
            def forward(self, x):
                return self.nothing

        class Exported(nn.Module):
            def forward(self, x):
                return x

            @torch.jit.export
            def other(self, x):
                return self.nothing

        class Unknown(nn.Module):
            def __init__(self):
                super().__init__()
                self.thing = object()

            def forward(self, x):
                return self.thing

        class Untyped(nn.Module):
            def __init__(self):
                super().__init__()
                self.items = []

            def forward(self, x):
                return len(self.items)
        self.refused("Module 'Missing' has no attribute 'nothing'", Missing())
        self.refused("Module 'Exported' has no attribute 'nothing'", Exported())
        self.refused("Module 'Unknown' has no attribute 'thing' (This attribute exists on the Python module, but we "
                     "failed to convert Python type: 'object' to a TorchScript type.", Unknown())
        self.refused("Module 'Untyped' has no attribute 'items' (This attribute exists on the Python module, but we "
                     "failed to convert Python type: 'list' to a TorchScript type.", Untyped())

    def test_freezing(self):
        with self.assertRaisesRegex(RuntimeError, "Freezing expects a ScriptModule as input. Please use "
                                    "torch.jit.script or torch.jit.trace to script your 'nn.Module'."):
            torch.jit.freeze(Plain())
        with self.assertRaisesRegex(RuntimeError, "Freezing is currently only implemented for modules in eval mode"):
            torch.jit.freeze(script(Plain()))


class Functions(Errors):
    def test_bodies(self):
        def calls(x: int):
            return x(1)

        def unpacks(x: int):
            a, b = x
            return a

        def undefined(x):
            return y  # noqa: F821

        def several(x: int):
            if x > 1:
                z = 1
            else:
                z = "a"
            return z

        def maybe(x: int):
            if x > 1:
                z = 1
            return z

        def short(x: Tuple[int, int]):
            a, b, c = x
            return a

        def optional(x: Optional[torch.Tensor]):
            return x + 1
        for function, text in ((calls, "cannot call a value of type 'int'"), (unpacks,
            "int cannot be used as a tuple"),
                               (undefined, "undefined value y"), (several, "Type mismatch: z is set to type int"),
                               (maybe, "z is not defined in the false branch"),
                               (short, "need 3 values to unpack but found only 2")):
            self.refused(text, function)
        self.assertRaises(RuntimeError, script, optional)

    def test_lambdas(self):
        with self.assertRaises((RuntimeError, torch.jit.frontend.FrontendError)):
            script(lambda x: x)

    def test_defined_twice(self):
        unit = torch.jit.CompilationUnit("def f(x):\n  return x\n")
        with self.assertRaisesRegex(RuntimeError, "method 'f' already defined."):
            unit.define("def f(x):\n  return x + 1\n")

    def test_types_of_containers(self):
        def keys(x):
            return {1: 1, "a": 2}

        def table(x: Dict[str, int]):
            return x[1]
        for function in (keys, table):
            self.assertRaises(RuntimeError, script, function)

    def test_tuples_of_nothing_said(self):
        def bare(x: Tuple):
            return x

        def empty(x: Tuple[()]):
            return x
        self.refused("Attempted to use Tuple without a contained type. Please add a contained type, e.g. Tuple[int]",
                     bare)
        self.assertEqual(script(empty)(()), ())


class Run(unittest.TestCase):
    """The last line of what a program raised or failed with."""

    def last_line(self, function, *arguments):
        with self.assertRaises((RuntimeError, torch.jit.Error)) as caught:
            script(function)(*arguments)
        return str(caught.exception).rstrip("\n").splitlines()[-1]

    def test_raised(self):
        def f(which: int):
            if which == 0:
                raise ValueError("no")
            if which == 1:
                raise IndexError("not there")
            if which == 2:
                raise AssertionError("wrong")
            assert which > 3, "low"
            return [1][which]
        self.assertEqual(self.last_line(f, 0), "builtins.ValueError: no")
        self.assertEqual(self.last_line(f, 1), "builtins.IndexError: not there")
        self.assertEqual(self.last_line(f, 2), "RuntimeError: AssertionError: wrong")
        self.assertEqual(self.last_line(f, 3), "RuntimeError: AssertionError: low")
        self.assertEqual(self.last_line(f, 4), "RuntimeError: list index out of range")

    def test_failed(self):
        def f(x):
            return x.view(3)

        def g(d: Dict[int, int]):
            return d[5]
        self.assertEqual(self.last_line(f, torch.ones(2)),
                         "RuntimeError: shape '[3]' is invalid for input of size 2")
        self.assertEqual(self.last_line(g, {1: 2}), "RuntimeError: KeyError: 5")

    def test_ignored(self):
        @torch.jit.ignore
        def of_python(x: int) -> int:
            return "text"

        @torch.jit.ignore
        def tensor_of_python(x: int):
            return 3

        def f():
            return of_python(2)

        def g():
            return tensor_of_python(2)
        for function in (f, g):
            with self.assertRaises((RuntimeError, torch.jit.Error)):
                script(function)()

    def test_unused(self):
        @torch.jit.unused
        def never(x: int) -> int:
            return x

        def f(x: int):
            return never(x)
        self.assertIn("This Python function is annotated to be ignored and cannot be run", self.last_line(f, 1))


class Containers(Errors):
    def holding(self, get):
        class Holding(nn.Module):
            def __init__(self):
                super().__init__()
                self.steps = nn.ModuleList([nn.ReLU()])
                self.named = nn.ModuleDict({"a": nn.ReLU()})
        Holding.forward = get
        return Holding()

    def test_indices(self):
        def by_number(self, x, i: int):
            return self.steps[i](x)

        def by_name(self, x, name: str):
            return self.named[name](x)

        def too_far(self, x):
            return self.steps[7](x)

        def left(self, x):
            for step in self.steps:
                break
            return x
        self.refused("Expected integer literal for index. ModuleList/Sequential indexing is only supported with "
                     "integer literals.", self.holding(by_number))
        self.refused("Unable to extract string literal index. ModuleDict indexing is only supported with string "
                     "literals.", self.holding(by_name))
        self.refused("Index 7 out of range of length 1", self.holding(too_far))
        self.refused("Because we emit iteration over modulelists or tuples as unrolled loops, we do not support "
                     "break or continue inside the body of these loops", self.holding(left))

    def test_callers(self):
        class Inner(nn.Module):
            def forward(self, x):
                return self.helped(x)

            def helped(self, x):
                return x.no_such_method()
        with self.assertRaises(RuntimeError) as caught:
            script(Inner())
        self.assertIn("'Inner.helped' is being compiled since it was called from 'Inner.forward'",
                      str(caught.exception))

    def test_static_methods(self):
        self.assertEqual(script(Static())(torch.ones(1)).tolist(), [3])


class Static(nn.Module):
    @staticmethod
    def plus_one(x):
        return x + 1

    def forward(self, x):
        return Static.plus_one(self.plus_one(x))

if __name__ == "__main__":
    unittest.main()
