"""Classes derived from Tensor and __torch_function__, as PyTorch has them (beside.py)."""
import copy
import pickle
import unittest
import warnings

from beside import torch

nn = torch.nn
overrides = __import__(torch.__name__ + ".overrides", fromlist=["overrides"])
disabled = torch._C._disabled_torch_function_impl


class Plain(torch.Tensor):
    pass


class Derived(Plain):
    pass


class Other(torch.Tensor):
    pass


class Without(torch.Tensor):
    __torch_function__ = disabled


class Refusing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Told(torch.Tensor):
    """Notes what it is asked."""

    told = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.told.append(getattr(func, "__name__", "?"))
        return super().__torch_function__(func, types, args, kwargs)


class Unit(torch.Tensor):
    """Keeps an attribute through calls."""

    @staticmethod
    def __new__(cls, data, unit=None):
        return super().__new__(cls, data)

    def __init__(self, data, unit=None):
        self.unit = unit

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        made = super().__torch_function__(func, types, args, kwargs)
        units = [a.unit for a in args if isinstance(a, Unit)]
        if isinstance(made, Unit) and units:
            made.unit = units[0]
        return made


class Stand:
    """No tensor."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, [kind.__name__ for kind in types], len(args)


class OwnParameter(nn.Parameter):
    pass


def made(kind, *numbers):
    return torch.tensor(numbers or (1.0, 2.0)).as_subclass(kind)


class Results(unittest.TestCase):
    def kinds(self, *results):
        return [type(result).__name__ for result in results]

    def test_operators_keep_the_class(self):
        p = made(Plain)
        results = (p + 1, 1 - p, 2 ** p, 2 / p, p // 2, -p, p == p, p < 1, abs(p), p @ p, p.T, p.data, p.view(-1),
                   p.float(), p.to(torch.float64), p.detach(), p.clone(), p.new_ones(2), torch.zeros_like(p),
                   torch.stack([p, p]), torch.cat([torch.ones(1), p]), nn.functional.relu(p), p[0], p[p > 0],
                   nn.functional.softmax(p, -1), p.sum(), p.add_(1), torch.add(torch.ones(2), p),
                   torch.einsum("i,i", p, p), p.norm(), p.unique(), reversed(p), torch.as_tensor(p))
        self.assertEqual(set(self.kinds(*results)), {"Plain"})

    def test_several_results(self):
        p = made(Plain)
        self.assertEqual(self.kinds(*p.split(1)), ["Plain"] * 2)
        self.assertEqual(self.kinds(*p.max(0)), ["Plain"] * 2)
        self.assertEqual(type(p.max(0)).__name__, "max")
        self.assertEqual(self.kinds(*p), ["Plain"] * 2)
        self.assertEqual(self.kinds(*torch.broadcast_tensors(p, p)), ["Plain"] * 2)

    def test_what_is_no_tensor_stays(self):
        p = made(Plain)
        self.assertEqual(p.shape, torch.Size([2]))
        self.assertIs(type(p.shape), torch.Size)
        self.assertEqual(p.tolist(), [1.0, 2.0])
        self.assertEqual((len(p), p.dim(), p.dtype, bool(p.sum()), float(p[0]), int(p[1])),
                         (2, 1, torch.float32, True, 1.0, 2))
        self.assertTrue(1.0 in p)

    def test_plain_tensors_of_it(self):
        p = made(Plain)
        self.assertEqual(self.kinds(torch.tensor(p), p.as_subclass(torch.Tensor), torch.zeros(2)), ["Tensor"] * 3)

    def test_derived_wins_over_its_base(self):
        p, d = made(Plain), made(Derived)
        self.assertEqual(self.kinds(p + d, d + p, torch.stack([p, d]), p.where(p > 0, d)), ["Derived"] * 4)

    def test_classes_apart(self):
        p, o = made(Plain), made(Other)
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            p + o
        with self.assertRaisesRegex(TypeError, "no implementation found for 'torch.add' on types that implement"):
            torch.add(p, o)

    def test_without_override(self):
        d = made(Without)
        self.assertEqual(self.kinds(d + 1, d.T, d[0], d + made(Plain)), ["Tensor", "Tensor", "Tensor", "Plain"])

    def test_in_place_is_the_object(self):
        p = made(Plain)
        q = p
        q += 1
        self.assertIs(q, p)
        p[0] = 7
        self.assertEqual(p.tolist(), [7.0, 3.0])
        self.assertIs(p.requires_grad_(), p)

    def test_print(self):
        self.assertEqual(repr(made(Plain)), "Plain([1., 2.])")
        self.assertEqual(str(made(Told)), "Told([1., 2.])")

    def test_gradients(self):
        p = made(Plain).requires_grad_()
        (p * 3).sum().backward()
        self.assertEqual(type(p.grad).__name__, "Tensor")
        self.assertEqual(p.grad.tolist(), [3.0, 3.0])
        found, = torch.autograd.grad((p * p).sum(), p)
        self.assertEqual((type(found).__name__, found.tolist()), ("Plain", [2.0, 4.0]))
        shown = torch.ones(2, requires_grad=True).as_subclass(Plain)
        self.assertEqual(shown.grad_fn.name(), "AliasBackward0")

    def test_make_subclass(self):
        data = torch.ones(2)
        p = torch.Tensor._make_subclass(Plain, data, True)
        self.assertTrue(p.requires_grad and p.is_leaf)
        p.data[0] = 5
        self.assertEqual(data[0].item(), 5)
        with self.assertRaisesRegex(TypeError, "must be Tensor, not int"):
            torch.Tensor._make_subclass(Plain, 3)
        for call in (lambda: torch.Tensor._make_subclass(int, data), lambda: data.as_subclass(int)):
            with self.assertRaisesRegex(RuntimeError, "does not inherit from Tensor"):
                call()

    def test_refused(self):
        r = made(Refusing)
        with self.assertRaisesRegex(TypeError, "no implementation found for 'torch.cat' on types"):
            torch.cat([r])
        with self.assertRaisesRegex(TypeError, "no implementation found for 'torch.Tensor.shape.__get__'"):
            r.shape
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            r + 1


class Calls(unittest.TestCase):
    def told(self, call):
        Told.told.clear()
        call()
        return list(Told.told)

    def test_what_is_asked(self):
        x = made(Told)
        for call, wanted in ((lambda: x + 1, ["add"]), (lambda: x.shape, ["__get__"]), (lambda: x.T, ["__get__"]),
                             (lambda: len(x), ["__len__"]), (lambda: repr(x), ["__repr__"]),
                             (lambda: x[0], ["__getitem__"]), (lambda: torch.ones(2)[x > 3], ["gt", "__getitem__"]),
                             (lambda: x.split(1), ["split"]), (lambda: x.float(), ["float"]),
                             (lambda: x.to(torch.float64), ["to"]), (lambda: x.size(), ["size"]),
                             (lambda: bool(x.sum()), ["sum", "__bool__"]), (lambda: x.sum().item(), ["sum", "item"]),
                             (lambda: torch.cat([x, torch.ones(1)]), ["cat"]), (lambda: x.numel(), ["numel"]),
                             (lambda: torch.add(torch.ones(2), 1, out=torch.ones(2).as_subclass(Told)), ["add"]),
                             (lambda: x.as_subclass(Plain), []), (lambda: hash(x), []), (lambda: torch.tensor(x), []),
                             (lambda: x.__dict__, []), (lambda: torch.is_tensor(x), []),
                             (lambda: nn.functional.linear(x, torch.ones(2, 2)), ["linear"]),
                             (lambda: nn.functional.relu(x), ["relu"]),
                             (lambda: float(x.max()), ["max", "__float__"]),
                             (lambda: x.detach().__setitem__(0, 1), ["detach", "__setitem__"])):
            self.assertEqual(self.told(call), wanted)

    def test_the_function_can_be_named(self):
        class Counted(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                if func in (torch.Tensor.split, torch.Tensor.shape.__get__, torch.Tensor.__len__):
                    return "seen"
                return super().__torch_function__(func, types, args, kwargs)
        x = made(Counted)
        self.assertEqual((x.split(1), x.shape), ("seen", "seen"))

    def test_keywords(self):
        class Keywords(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return len(args), sorted(kwargs or {})
        x = made(Keywords)
        self.assertEqual(torch.sum(x, dim=0, keepdim=True), (1, ["dim", "keepdim"]))
        self.assertEqual(x.sum(), (1, []))

    def test_plain_method_warns(self):
        class Method(torch.Tensor):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                with torch._C.DisableTorchFunction():
                    return func(*args, **(kwargs or {}))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = made(Method) + 1
        self.assertIs(type(result), torch.Tensor)
        self.assertIn("as a plain method is deprecated", str(seen[0].message))

    def test_disabled(self):
        p = made(Plain)
        self.assertTrue(torch._C._is_torch_function_enabled())
        with torch._C.DisableTorchFunction():
            self.assertFalse(torch._C._is_torch_function_enabled())
            self.assertIs(type(p + 1), torch.Tensor)
            self.assertIs(type(p.T), torch.Tensor)
            self.assertIs(type(p[0]), torch.Tensor)
            self.assertFalse(overrides.has_torch_function((p,)))
            with torch._C.DisableTorchFunction():
                pass
            self.assertFalse(torch._C._is_torch_function_enabled())
            with self.assertRaises(TypeError):
                torch.add(Stand(), 1)
        self.assertTrue(torch._C._is_torch_function_enabled())
        self.assertIs(type(disabled(torch.add, (Plain,), (p, 1), {})), torch.Tensor)

    def test_default_asked_directly(self):
        p = made(Plain)
        self.assertIs(type(Plain.__torch_function__(torch.add, (Plain,), (p, 1))), Plain)
        self.assertIs(Other.__torch_function__(torch.add, (Plain,), (p, 1), {}), NotImplemented)
        self.assertIs(torch.Tensor.__torch_function__(torch.add, (Plain,), (p, 1)), NotImplemented)

    def test_errors_of_overrides(self):
        class Failing(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                raise KeyError("mine")
        x = made(Failing)
        for call in (lambda: x + 1, lambda: x.shape, lambda: x[0], lambda: len(x), lambda: x.split(1),
                     lambda: bool(x), lambda: torch.cat([x]), lambda: repr(x)):
            with self.assertRaisesRegex(KeyError, "mine"):
                call()


class Objects(unittest.TestCase):
    def test_attributes(self):
        u = Unit([1.0, 2.0], unit="m")
        self.assertEqual((u.unit, (u + 1).unit, (2 * u).unit is None, u[0].unit, u.sum().unit),
                         ("m", "m", False, "m", "m"))
        self.assertEqual((u * u).tolist(), [1.0, 4.0])
        self.assertEqual(copy.copy(u).unit, "m")
        self.assertEqual(u.__dict__, {"unit": "m"})
        with self.assertRaisesRegex(AttributeError, "'Unit' object has no attribute 'weight'"):
            u.weight

    def test_attribute_hides_a_method(self):
        p = made(Plain)
        p.split = 3
        self.assertEqual(p.split, 3)

    def test_own_methods_and_properties(self):
        class Own(torch.Tensor):
            @property
            def shape(self):
                return "own"

            def split(self, size):
                return super().split(size)[0]

            def __getattr__(self, name):
                return "asked for " + name
        x = made(Own)
        self.assertEqual((x.shape, x.nothing), ("own", "asked for nothing"))
        self.assertEqual(x.split(1).tolist(), [1.0])

    def test_parameters(self):
        own = OwnParameter(torch.ones(2))
        self.assertTrue(own.requires_grad and isinstance(own, nn.Parameter))
        self.assertIs(type(own + 1), torch.Tensor)
        self.assertIs(nn.Parameter.__torch_function__, disabled)
        kept = nn.Parameter(made(Plain))
        self.assertEqual((type(kept).__name__, kept.requires_grad), ("Plain", True))
        self.assertTrue(isinstance(kept, nn.Parameter) and not isinstance(made(Plain), nn.Parameter))
        self.assertEqual(repr(kept), "Parameter(Plain([1., 2.], requires_grad=True))")

    def test_modules(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = OwnParameter(torch.ones(2))
                self.v = nn.Parameter(made(Plain))

            def forward(self, x):
                return x * self.w + self.v
        net = Net()
        self.assertEqual([name for name, _ in net.named_parameters()], ["w", "v"])
        self.assertEqual(type(net(torch.ones(2))).__name__, "Plain")
        net(torch.ones(2)).sum().backward()
        self.assertEqual(net.v.grad.tolist(), [1.0, 1.0])
        self.assertEqual(type(nn.Linear(2, 1)(made(Plain))).__name__, "Plain")

    def test_duck(self):
        k, p = Stand(), made(Plain)
        self.assertEqual(torch.add(k, 1), ("add", ["Stand"], 2))
        self.assertEqual(torch.ones(2) + k, ("add", ["Stand"], 2))
        self.assertEqual(p + k, ("add", ["Plain", "Stand"], 2))
        self.assertEqual(k + p, ("add", ["Plain", "Stand"], 2))
        self.assertEqual(torch.cat([k, torch.ones(1)]), ("cat", ["Stand"], 1))
        self.assertEqual(torch.split(k, 1)[0], "split")


class Programs(unittest.TestCase):
    def test_functions_take_them_as_tensors(self):
        @torch.jit.script
        def f(x):
            return x + 1
        self.assertIs(type(f(made(Plain))), torch.Tensor)
        self.assertEqual(f(made(Told)).tolist(), [2.0, 3.0])

    def test_modules_are_asked(self):
        class Net(nn.Module):
            def forward(self, x):
                return x * 2
        scripted = torch.jit.script(Net())
        self.assertEqual(type(scripted(made(Plain))).__name__, "Plain")
        self.assertEqual(type(torch.jit.trace(Net(), torch.ones(2))(made(Plain))).__name__, "Plain")
        self.assertIs(type(scripted(torch.ones(2))), torch.Tensor)

    def test_traced_of_one(self):
        class Net(nn.Module):
            def forward(self, x):
                return x * 2
        traced = torch.jit.trace(Net(), made(Plain))
        self.assertEqual(traced(torch.ones(2)).tolist(), [2.0, 2.0])


class Questions(unittest.TestCase):
    def test_has(self):
        has = overrides.has_torch_function
        p = made(Plain)
        self.assertEqual([has((p,)), has([p]), has((torch.ones(1),)), has((made(Without),)), has((Stand(), 1)),
                          has(())], [True, True, False, False, True, False])
        self.assertTrue(overrides.has_torch_function_unary(p))
        self.assertTrue(overrides.has_torch_function_variadic(1, p))

    def test_like(self):
        like = overrides.is_tensor_like
        self.assertEqual([like(made(Plain)), like(torch.ones(1)), like(Stand()), like(1)], [True, True, True, False])

    def test_handle(self):
        def mine(a, b=1):
            if overrides.has_torch_function((a,)):
                return overrides.handle_torch_function(mine, (a,), a, b=b)
            return a + b
        self.assertEqual(mine(1), 2)
        self.assertEqual(mine(Stand()), ("mine", ["Stand"], 1))
        self.assertIs(type(mine(made(Plain))), Plain)
        with self.assertRaisesRegex(TypeError, "no implementation found for '.*mine' on types"):
            mine(made(Refusing))

    def test_wrap(self):
        @overrides.wrap_torch_function(lambda a: (a,))
        def mine(a):
            return "own"
        self.assertEqual(mine(1), "own")
        self.assertEqual(mine(Stand()), ("mine", ["Stand"], 1))

    def test_names(self):
        for name in ("torch.add", "torch.nn.functional.relu", "torch.Tensor.shape.__get__", "torch.linalg.norm",
                     "torch.nn.functional.linear", "torch.Tensor.split"):
            found = torch
            for part in name.split(".")[1:]:
                found = getattr(found, part)
            self.assertEqual(overrides.resolve_name(found), name)
        self.assertIsNone(overrides.resolve_name(len))

    def test_lists(self):
        found = overrides.get_overridable_functions()
        self.assertIn(torch.add, found[torch])
        self.assertIn(torch.Tensor.split, found[torch.Tensor])
        self.assertIn(nn.functional.relu, found[nn.functional])
        self.assertIn(torch.tensor, overrides.get_ignored_functions())
        self.assertTrue(overrides.is_tensor_method_or_property(torch.Tensor.add))
        self.assertTrue(overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__))
        self.assertFalse(overrides.is_tensor_method_or_property(nn.functional.relu))


if "wick" in torch.__name__:
    class Copies(unittest.TestCase):
        """1.13 refuses to copy and to unpickle what has no new_empty of its own."""

        def test_deepcopy_and_pickle(self):
            u = Unit([1.0, 2.0], unit="m")
            for made_again in (copy.deepcopy(u), pickle.loads(pickle.dumps(u))):
                self.assertEqual((type(made_again), made_again.unit, made_again.tolist()), (Unit, "m", [1.0, 2.0]))
                self.assertNotEqual(made_again.data_ptr(), u.data_ptr())

        def test_modules(self):
            net = nn.Module()
            net.w, net.v = OwnParameter(torch.ones(2)), nn.Parameter(made(Plain))
            again = copy.deepcopy(net)
            self.assertEqual([type(again.w), type(again.v)], [OwnParameter, Plain])
            self.assertEqual(len(list(again.parameters())), 2)


if __name__ == "__main__":
    unittest.main()
