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


def agree(mine, its):
    """Texts are the same, numbers of tensors close; dtypes and sizes are the same."""
    if isinstance(its, list) and len(its) == 3 and isinstance(its[0], str):
        return isinstance(mine, list) and mine[:2] == its[:2] and len(mine[2]) == len(its[2]) and all(
            x == y or math.isclose(number(x), number(y), rel_tol=1e-4, abs_tol=1e-5)
            for x, y in zip(mine[2], its[2]))
    if isinstance(its, list):
        return len(mine) == len(its) and all(agree(x, y) for x, y in zip(mine, its))
    return mine == its


class Distributions(unittest.TestCase):
    def compare(self, name, mine, its):
        if "this build has no " in json.dumps(mine):  # LAPACK
            self.skipTest("linear algebra is not built in")
        self.assertTrue(agree(mine, its), "{}: {} instead of {}".format(name, mine, its))

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
        with self.assertRaisesRegex(NotImplementedError, "p type Poisson and q type Normal"):
            d.kl_divergence(d.Poisson(wick.tensor(1.0)), d.Normal(0.0, 1.0))

    def test_a_divergence_of_ones_own(self):
        class Mine(wick.distributions.Normal):
            pass

        @wick.distributions.register_kl(Mine, wick.distributions.Normal)
        def mine(p, q):
            return wick.tensor(42.0)
        normal = wick.distributions.Normal(0.0, 1.0)
        self.assertEqual(wick.distributions.kl_divergence(Mine(0.0, 1.0), normal), 42)
        self.assertEqual(wick.distributions.kl_divergence(normal, Mine(0.0, 1.0)), 0)

    def test_no_gradients_through_samples_of_gammas(self):
        gamma = wick.distributions.Gamma(wick.ones(2), wick.ones(2))
        self.assertFalse(gamma.has_rsample)
        with self.assertRaises(NotImplementedError):
            gamma.rsample()
        wick.manual_seed(1)
        self.assertGreater(gamma.cdf(gamma.sample()).min(), 0)


if __name__ == "__main__":
    unittest.main()
