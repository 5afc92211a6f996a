"""nn.utils.parametrize as PyTorch has it."""
import copy
import pickle
import unittest

from beside import torch

nn, parametrize = torch.nn, torch.nn.utils.parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).t()


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, y):
        return y / 2


class Sum(nn.Module):
    def forward(self, a, b):
        return a + b

    def right_inverse(self, y):
        return y / 2, y / 2


class Parametrize(unittest.TestCase):
    def made(self, step, layer=None):
        layer = layer or nn.Linear(3, 3)
        self.assertIs(parametrize.register_parametrization(layer, "weight", step), layer)
        return layer

    def test_registered(self):
        layer = self.made(Symmetric())
        self.assertEqual(type(layer).__name__, "ParametrizedLinear")
        self.assertEqual([name for name, _ in layer.named_parameters()], ["bias", "parametrizations.weight.original"])
        self.assertTrue(torch.equal(layer.weight, layer.weight.t()))
        self.assertTrue(parametrize.is_parametrized(layer, "weight"))
        self.assertFalse(parametrize.is_parametrized(layer, "bias"))
        with self.assertRaisesRegex(RuntimeError, "Symmetric does not implement right_inverse"):
            layer.weight = torch.ones(3, 3)
        layer(torch.ones(3)).sum().backward()
        self.assertEqual(layer.parametrizations.weight.original.grad.shape, (3, 3))

    def test_assigned_and_removed(self):
        plain = nn.Linear(3, 3)
        before = plain.weight.detach().clone()
        layer = self.made(Doubled(), plain)
        self.assertTrue(torch.allclose(layer.weight, before))
        layer.weight = torch.ones(3, 3)
        self.assertEqual(layer.parametrizations.weight.original[0].tolist(), [0.5] * 3)
        parametrize.remove_parametrizations(layer, "weight")
        self.assertIs(type(layer), nn.Linear)
        self.assertIsInstance(layer.weight, nn.Parameter)
        self.assertEqual(layer.weight[0].tolist(), [1] * 3)
        layer = self.made(Doubled(), layer)
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
        self.assertEqual(layer.weight[0].tolist(), [0.5] * 3)

    def test_several_originals(self):
        layer = self.made(Sum())
        names = [name for name, _ in layer.named_parameters()]
        self.assertEqual(names[1:], ["parametrizations.weight.original0", "parametrizations.weight.original1"])
        traced = torch.jit.trace(layer, torch.ones(3))
        self.assertTrue(torch.allclose(traced(torch.ones(3)), layer(torch.ones(3))))

    def test_cached(self):
        layer = self.made(Symmetric())
        self.assertIsNot(layer.weight, layer.weight)
        with parametrize.cached():
            self.assertIs(layer.weight, layer.weight)

    def test_copies(self):
        layer = self.made(Doubled())
        copied = copy.deepcopy(layer)
        self.assertIs(type(copied), type(layer))
        self.assertTrue(torch.equal(copied.weight, layer.weight))
        with self.assertRaisesRegex(RuntimeError, "only supported through state_dict"):
            pickle.dumps(layer)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "with name 'missing'"):
            parametrize.register_parametrization(nn.Linear(2, 2), "missing", Doubled())
        with self.assertRaisesRegex(ValueError, "does not have a parametrization on weight"):
            parametrize.remove_parametrizations(nn.Linear(2, 2), "weight")
        with self.assertRaisesRegex(ValueError, "may not change the shape"):
            parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Flatten(0))

    def test_programs_refuse(self):
        program = torch.jit.script(self.made(Doubled()))
        with self.assertRaisesRegex((torch.jit.Error, RuntimeError), "Parametrization is not working with scripting"):
            program(torch.ones(3))


if __name__ == "__main__":
    unittest.main()
