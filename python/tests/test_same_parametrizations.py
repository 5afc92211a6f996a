"""Weights that are orthogonal or of norm one, and calls of modules with other parameters."""
import importlib
import math
import unittest
import warnings

from beside import torch

nn = torch.nn
parametrizations = importlib.import_module(torch.__name__ + ".nn.utils.parametrizations")
parametrize = importlib.import_module(torch.__name__ + ".nn.utils.parametrize")
stateless = importlib.import_module(torch.__name__ + ".nn.utils.stateless")
grad = importlib.import_module(torch.__name__ + ".nn.grad")


class Orthogonal(unittest.TestCase):
    def check(self, weight):
        rows, columns = weight.shape[-2:]
        product = weight @ weight.mT if rows < columns else weight.mT @ weight
        torch.testing.assert_close(product, torch.eye(min(rows, columns)).expand(product.shape), atol=1e-5, rtol=0)

    def test_stays_orthogonal(self):
        for name in (None, "matrix_exp", "cayley", "householder"):
            for sizes in ((4, 4), (3, 5), (5, 3)):
                for use_trivialization in (True, False):
                    with self.subTest((name, sizes, use_trivialization)):
                        torch.manual_seed(0)
                        layer = nn.Linear(*sizes)
                        made = parametrizations.orthogonal(layer, "weight", name,
                                                           use_trivialization=use_trivialization)
                        self.assertIs(made, layer)
                        self.check(layer.weight)
                        layer(torch.ones(sizes[0])).sum().backward()
                        original = layer.parametrizations.weight.original
                        with torch.no_grad():
                            original -= 0.5 * original.grad
                        self.check(layer.weight)

    def test_assigning(self):
        torch.manual_seed(0)
        for sizes in ((3, 3), (4, 2), (2, 4)):
            layer = parametrizations.orthogonal(nn.Linear(*sizes))
            new = nn.init.orthogonal_(torch.empty(sizes[1], sizes[0]))
            layer.weight = new
            torch.testing.assert_close(layer.weight.detach(), new, atol=1e-5, rtol=0)

    def test_exponential(self):
        """From the assigned weight on: a rotation by what is below the diagonal."""
        layer = nn.Linear(2, 2)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        parametrizations.orthogonal(layer)
        root = 10 ** 0.5
        base = torch.tensor([[1 / root, 3 / root], [3 / root, -1 / root]])
        torch.testing.assert_close(layer.weight.detach(), base, atol=1e-5, rtol=0)
        with torch.no_grad():
            layer.parametrizations.weight.original[1, 0] = 0.5
        rotation = torch.tensor([[math.cos(0.5), -math.sin(0.5)], [math.sin(0.5), math.cos(0.5)]])
        torch.testing.assert_close(layer.weight.detach(), base @ rotation, atol=1e-4, rtol=0)

    def test_refusals(self):
        for error, text, call in (
                (ValueError, "with name 'missing'", lambda: parametrizations.orthogonal(nn.Linear(2, 2), "missing")),
                (ValueError, "Got a tensor of 1 dimensions", lambda: parametrizations.orthogonal(
                    nn.Linear(2, 2), "bias")),
                (ValueError, 'has to be one of "matrix_exp", "cayley", "householder". Got: other',
                 lambda: parametrizations.orthogonal(nn.Linear(2, 2), "weight", "other")),
                (ValueError, "Expected a matrix or batch of matrices of shape", lambda: setattr(
                    parametrizations.orthogonal(nn.Linear(2, 2)), "weight", torch.ones(3, 3))),
                (NotImplementedError, "not possible to assign to the matrix exponential", lambda: setattr(
                    parametrizations.orthogonal(nn.Linear(2, 2), "weight", "cayley", use_trivialization=False),
                    "weight", torch.eye(2)))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


class SpectralNorm(unittest.TestCase):
    def test_norm_of_one(self):
        torch.manual_seed(0)
        for layer, dim in ((nn.Linear(4, 3), 0), (nn.Conv2d(2, 3, 2), 0), (nn.ConvTranspose1d(2, 3, 2), 1)):
            with self.subTest(type(layer)):
                before = layer.weight.detach().clone()
                self.assertIs(parametrizations.spectral_norm(layer, n_power_iterations=20), layer)
                for _ in range(20):
                    layer.weight
                matrix = before.movedim(dim, 0).flatten(1)
                norm = (matrix @ matrix.t()).matrix_power(16).trace() ** (1 / 32)
                torch.testing.assert_close(layer.weight.detach(), before / norm, atol=2e-2, rtol=0)
                layer.eval()
                self.assertTrue(torch.equal(layer.weight, layer.weight))
                layer.weight.sum().backward()
                self.assertEqual(layer.parametrizations.weight.original.grad.shape, before.shape)

    def test_vectors_of_a_seed(self):
        torch.manual_seed(3)
        u, v = torch.empty(3).normal_(0, 1), torch.empty(4).normal_(0, 1)
        torch.manual_seed(3)
        weight = torch.arange(12.0).view(3, 4) / 7 - 1
        made = parametrizations._SpectralNorm(weight, 2)
        for _ in range(15):
            u = nn.functional.normalize(weight @ v, dim=0)
            v = nn.functional.normalize(weight.t() @ u, dim=0)
        torch.testing.assert_close(made.eval()(weight), weight / (u @ (weight @ v)), atol=1e-5, rtol=0)
        self.assertEqual(sorted(made.state_dict()), ["_u", "_v"])

    def test_bias(self):
        layer = parametrizations.spectral_norm(nn.Linear(2, 2), "bias")
        self.assertAlmostEqual(float(layer.bias.norm()), 1, places=5)

    def test_refusals(self):
        for error, text, call in (
                (IndexError, "Dimension out of range", lambda: parametrizations.spectral_norm(
                    nn.Linear(2, 2), dim=2)),
                (ValueError, "Expected n_power_iterations to be positive", lambda: parametrizations.spectral_norm(
                    nn.Linear(2, 2), n_power_iterations=0))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, scale=1):
        self.count = self.count + 1
        return self.inner(x) * scale


class FunctionalCall(unittest.TestCase):
    def setUp(self):
        self.module, self.x = Counting(), torch.ones(2)

    def test_other_parameters(self):
        weight = torch.eye(2, requires_grad=True)
        values = {"inner.weight": weight, "inner.bias": torch.zeros(2)}
        before = self.module.inner.weight
        out = stateless.functional_call(self.module, values, (self.x,), {"scale": 3})
        self.assertEqual(out.tolist(), [3, 3])
        out.sum().backward()
        self.assertEqual(weight.grad.tolist(), [[3, 3], [3, 3]])
        self.assertIs(self.module.inner.weight, before)
        self.assertIs(type(self.module), Counting)
        self.assertEqual(self.module.count.item(), 1)
        self.assertEqual(stateless.functional_call(self.module, values, self.x).tolist(), [1, 1])

    def test_buffers_are_written_to_the_dict(self):
        values = {"count": torch.tensor(5.0)}
        stateless.functional_call(self.module, values, self.x)
        self.assertEqual((values["count"].item(), self.module.count.item()), (6, 0))

    def test_errors_leave_the_module_as_it_was(self):
        with self.assertRaises(RuntimeError):
            stateless.functional_call(self.module, {"inner.weight": torch.ones(3, 3)}, self.x)
        self.assertIs(type(self.module.inner), nn.Linear)
        with self.assertRaises(AttributeError):
            stateless.functional_call(self.module, {"other.weight": torch.ones(3, 3)}, self.x)

    def test_tied_weights(self):
        module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        module[1].weight = module[0].weight
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            stateless.functional_call(module, {"0.weight": torch.eye(2), "1.weight": torch.ones(2, 2)}, self.x)
        self.assertIn("multiple values for tied weights", str(seen[-1].message))

    def test_programs_refuse(self):
        with self.assertRaisesRegex(RuntimeError, "can't be used with Jitted modules"):
            stateless.functional_call(torch.jit.script(nn.Linear(2, 2)), {}, self.x)


class Gradients(unittest.TestCase):
    def test_of_convolutions(self):
        for n, conv in ((1, nn.functional.conv1d), (2, nn.functional.conv2d), (3, nn.functional.conv3d)):
            x = torch.rand((2, 4) + (5,) * n, requires_grad=True)
            weight = torch.rand((6, 2) + (3,) * n, requires_grad=True)
            out = conv(x, weight, None, 2, 1, 1, 2)
            given = torch.rand(out.shape)
            expected = torch.autograd.grad(out, (x, weight), given)
            of_input, of_weight = getattr(grad, "conv%dd_input" % n), getattr(grad, "conv%dd_weight" % n)
            torch.testing.assert_close(of_input(x.shape, weight, given, 2, 1, 1, 2), expected[0])
            torch.testing.assert_close(of_weight(x, weight.shape, given, 2, 1, 1, 2), expected[1])


class Distributed(unittest.TestCase):
    def samples(self, rank, **options):
        sampler = torch.utils.data.DistributedSampler(range(10), 4, rank, **options)
        self.assertEqual(len(sampler), len(list(sampler)))
        return list(sampler)

    def test_every_fourth(self):
        self.assertEqual([self.samples(rank, shuffle=False) for rank in range(4)],
                         [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]])
        self.assertEqual([self.samples(rank, shuffle=False, drop_last=True) for rank in range(4)],
                         [[0, 4], [1, 5], [2, 6], [3, 7]])

    def test_shuffled(self):
        order = torch.randperm(10, generator=torch.Generator().manual_seed(7)).tolist()
        self.assertEqual(self.samples(1, seed=7), (order + order)[1:12:4])
        sampler = torch.utils.data.DistributedSampler(range(10), 4, 1, seed=5)
        sampler.set_epoch(2)
        self.assertEqual(list(sampler), self.samples(1, seed=7))

    def test_more_processes_than_samples(self):
        sampler = torch.utils.data.DistributedSampler([0, 1], 5, 4, shuffle=False)
        self.assertEqual(list(sampler), [0])

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "Invalid rank 4, rank should be in the interval \\[0, 3\\]"):
            self.samples(4)
        with self.assertRaises(RuntimeError):
            torch.utils.data.DistributedSampler(range(3))


if __name__ == "__main__":
    unittest.main()
