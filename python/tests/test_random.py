"""Generators: seeds and states, which are torch's to the byte."""
import hashlib
import unittest

import wick

try:
    import torch
except ImportError:
    torch = None

# torch 1.13's state after this, and what it draws then
SEED, STATE = 7, "a7a3915afaeef4f7eff4a82493c4ef80c0e71620a284fb4221f6185d30192c86"
NORMAL, UNIFORM = -1.770080792451142, [0.21203255653381348, 0.5484556555747986]


def draw(library):
    library.manual_seed(SEED)
    library.rand(700)
    library.randn(1, dtype=library.float64)  # keeps a second number for later


class States(unittest.TestCase):
    def check_next(self, library=wick):
        self.assertEqual(library.randn(1, dtype=library.float64).item(), NORMAL)
        self.assertEqual(library.rand(2).tolist(), UNIFORM)

    def test_bytes_are_torch_s(self):
        draw(wick)
        state = wick.get_rng_state()
        self.assertEqual((state.dtype, state.shape), (wick.uint8, (5056,)))
        self.assertEqual(hashlib.sha256(bytes(memoryview(state))).hexdigest(), STATE)
        self.check_next()
        wick.manual_seed(0)
        wick.set_rng_state(state)
        self.assertEqual(wick.initial_seed(), SEED)
        self.check_next()

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_both_ways(self):
        draw(torch)
        wick.set_rng_state(wick.from_dlpack(torch.get_rng_state()))
        self.check_next()
        draw(wick)
        torch.set_rng_state(torch.from_dlpack(wick.get_rng_state()))
        self.check_next(torch)

    def test_states_of_generators(self):
        one, other = wick.Generator().manual_seed(3), wick.Generator()
        wick.rand(5, generator=one)
        self.assertIs(other.set_state(one.get_state()), other)
        self.assertEqual(wick.randperm(9, generator=one).tolist(), wick.randperm(9, generator=other).tolist())
        self.assertEqual(other.initial_seed(), 3)
        self.assertNotEqual(one.seed(), 3)
        self.assertNotEqual(one.get_state().tolist(), other.get_state().tolist())

    def test_what_is_no_state(self):
        whole = wick.get_rng_state()
        for bad, error, text in (
                (wick.zeros(5056, dtype=wick.uint8), RuntimeError, "Invalid mt19937 state"),
                (whole[:100], RuntimeError, "Expected either a CPUGeneratorImplStateLegacy of size 5048 or a "
                                            "CPUGeneratorImplState of size 5056 but found .* 100"),
                (whole.float(), TypeError, "RNG state must be a torch.ByteTensor"),
                ([1, 2], TypeError, "expected a torch.ByteTensor, but got list")):
            with self.assertRaisesRegex(error, text):
                wick.set_rng_state(bad)
        self.assertEqual(wick.get_rng_state().tolist(), whole.tolist())
        wick.set_rng_state(whole[:5048])  # an older layout

    def test_seeds(self):
        wick.manual_seed(-3)
        self.assertEqual(wick.initial_seed(), 2 ** 64 - 3)
        wick.manual_seed(2 ** 64 - 1)
        self.assertEqual(wick.initial_seed(), 2 ** 64 - 1)
        for seed in (2 ** 64, -2 ** 63 - 1):
            with self.assertRaisesRegex(RuntimeError, "Overflow when unpacking long"):
                wick.manual_seed(seed)
        self.assertEqual(wick.seed(), wick.initial_seed())

    def test_fork(self):
        draw(wick)
        with wick.random.fork_rng():
            wick.manual_seed(1)
            wick.rand(3)
        self.check_next()
        wick.manual_seed(2)
        with wick.random.fork_rng(enabled=False):
            draw(wick)
        self.check_next()


if __name__ == "__main__":
    unittest.main()
