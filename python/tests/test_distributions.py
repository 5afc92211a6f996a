"""Distributions against what PyTorch 1.13 gave (distributions.json.gz, which distributions_cases.py writes)."""

import gzip
import json
import math
import os
import unittest

import distributions_cases
import wick

NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "True": 1, "False": 0}


def number(text):
    return NUMBERS[text] if text in NUMBERS else float(text)


def agree(mine, its, tolerance=1e-4):
    """Texts are the same, numbers of tensors close; dtypes and sizes are the same."""
    if isinstance(its, list) and len(its) == 3 and isinstance(its[0], str):
        return isinstance(mine, list) and mine[:2] == its[:2] and len(mine[2]) == len(its[2]) and all(
            x == y or math.isclose(number(x), number(y), rel_tol=tolerance, abs_tol=tolerance / 10)
            for x, y in zip(mine[2], its[2]))
    if isinstance(its, list):
        return len(mine) == len(its) and all(agree(x, y, tolerance) for x, y in zip(mine, its))
    return mine == its


class Distributions(unittest.TestCase):
    def compare(self, name, mine, its):
        # PyTorch's gradients of gammas are approximations, right to a thousandth
        tolerance = 1e-3 if name.endswith("rsample_gradients") else 1e-4
        self.assertTrue(agree(mine, its, tolerance), "{}: {} instead of {}".format(name, mine, its))

    def test_as_pytorch(self):
        with gzip.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributions.json.gz")) as file:
            recorded = json.load(file)
        mine = json.loads(json.dumps(distributions_cases.results(wick)))
        self.assertEqual(list(mine), list(recorded))
        for name, its in recorded.items():
            if not isinstance(its, dict) or not isinstance(mine[name], dict):
                with self.subTest(name):
                    self.compare(name, mine[name], its)
                continue
            self.assertEqual(list(mine[name]), list(its))
            for what in its:
                with self.subTest(name + " " + what):
                    self.compare(name + " " + what, mine[name][what], its[what])

    def test_pairs_without_a_divergence(self):
        d = wick.distributions
        with self.assertRaisesRegex(NotImplementedError, "p type Poisson and q type Uniform"):
            d.kl_divergence(d.Poisson(wick.tensor(1.0)), d.Uniform(0.0, 1.0))

    def test_a_divergence_of_ones_own(self):
        class Mine(wick.distributions.Normal):
            pass

        @wick.distributions.register_kl(Mine, wick.distributions.Normal)
        def mine(p, q):
            return wick.tensor(42.0)
        normal = wick.distributions.Normal(0.0, 1.0)
        self.assertEqual(wick.distributions.kl_divergence(Mine(0.0, 1.0), normal), 42)
        self.assertEqual(wick.distributions.kl_divergence(normal, Mine(0.0, 1.0)), 0)

    def test_gradients_of_samples_of_gammas(self):
        """The probability of what is drawn does not change as the concentration does."""
        def moved(cdf, concentration, sample, gradient, h):
            return (cdf(concentration + h, sample + h * gradient) -
                    cdf(concentration - h, sample - h * gradient)) / (2 * h)
        a = wick.tensor([0.01, 0.3, 1.0, 7.0, 90.0, 499.0, 501.0, 3000.0], dtype=wick.float64).expand(50, 8)
        a = a.clone().requires_grad_()
        wick.manual_seed(3)
        sample = wick.distributions.Gamma(a, wick.ones_like(a)).rsample()
        sample.sum().backward()
        drift = moved(wick.special.gammainc, a.detach(), sample.detach(), a.grad, a.detach() * 1e-5)
        self.assertLess(float((drift * a.detach()).abs().max()), 2e-6)

    def test_gradients_of_samples_of_betas(self):
        """Of Beta(1, b) and Beta(a, 1), whose distribution functions are powers."""
        a = wick.tensor([0.05, 0.3, 1.0, 7.0, 900.0], dtype=wick.float64).expand(50, 5).clone().requires_grad_()
        one = wick.ones_like(a)
        wick.manual_seed(3)
        x = wick.distributions.Beta(a, one).rsample()  # F = x ** a
        x.sum().backward()
        expected = -(wick.xlogy(x, x) / a).detach()
        self.assertLess(float((a.grad - expected).abs().max()), 1e-9)
        a.grad = None
        x = wick.distributions.Beta(one, a).rsample()  # F = 1 - (1 - x) ** a
        x.sum().backward()
        rest = 1 - x.detach()
        expected = (wick.xlogy(rest, rest) / a).detach()
        self.assertLess(float((a.grad - expected).abs().max()), 1e-9)

    def test_caches_give_back_the_very_value(self):
        transform = wick.distributions.TanhTransform(cache_size=1)
        x = wick.tensor([20.0])
        self.assertIs(transform.inv(transform(x)), x)
        self.assertTrue(wick.isinf(wick.distributions.TanhTransform().inv(transform(x))).all())

    def test_numbers_of_a_gamma_are_inside(self):
        wick.manual_seed(1)
        gamma = wick.distributions.Gamma(wick.ones(2), wick.ones(2))
        self.assertGreater(gamma.cdf(gamma.sample()).min(), 0)

    def test_mixtures_of_batches(self):
        """The mean of a mixture for each element of a batch, where PyTorch 1.13 takes numbers of elements for
        dimensions."""
        d = wick.distributions
        mixture = d.MixtureSameFamily(d.Categorical(wick.tensor([[0.25, 0.75], [0.5, 0.5]])),
                                      d.Normal(wick.tensor([[0.0, 4.0], [1.0, 3.0]]), 1.0))
        self.assertEqual(mixture.mean.tolist(), [3.0, 2.0])
        self.assertEqual(mixture.variance.tolist(), [4.0, 2.0])


if __name__ == "__main__":
    unittest.main()
