"""Classes that libraries bring, from Python: made, called, in programs, copied, pickled and saved."""
import copy
import io
import os
import pickle
import unittest

import wick

LIBRARY = os.path.join(os.path.dirname(wick.__file__), "..", "..", "libraries", "torchtext.so")


def first(vocab: wick.classes.torchtext.Vocab, token: str):
    return vocab[token], len(vocab)


def made(token: str):
    vocab = wick.classes.torchtext.Vocab(["x", "y"], None)
    return vocab[token]


class Holding(wick.nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.vocab = vocab

    def forward(self, token: str):
        return self.vocab[token]


@unittest.skipUnless(os.path.exists(LIBRARY), "this build has no library torchtext")
class Vocab(unittest.TestCase):
    def setUp(self):
        wick.classes.load_library(LIBRARY)
        self.vocab = wick.classes.torchtext.Vocab(["a", "b", "c"], None)

    def test_methods(self):
        self.assertEqual(self.vocab.lookup_token(1), "b")
        self.assertEqual(self.vocab.lookup_indices(["c", "a"]), [2, 0])
        self.assertIn("torchtext.Vocab", repr(self.vocab))

    def test_in_programs(self):
        self.assertEqual(wick.jit.script(first)(self.vocab, "c"), (2, 3))
        self.assertEqual(wick.jit.script(made)("y"), 1)
        module = wick.jit.script(Holding(self.vocab))
        self.assertEqual(module("b"), 1)
        data = io.BytesIO()
        wick.jit.save(module, data)
        data.seek(0)
        self.assertEqual(wick.jit.load(data)("c"), 2)

    def test_copies(self):
        self.assertEqual(pickle.loads(pickle.dumps(self.vocab)).lookup_token(2), "c")
        self.assertEqual(copy.deepcopy(self.vocab).lookup_token(0), "a")

    def test_errors(self):
        with self.assertRaisesRegex(RuntimeError, "torchtext.Nothing can't be made"):
            wick.classes.torchtext.Nothing()
        with self.assertRaisesRegex(RuntimeError, "nothing"):
            self.vocab.nothing()
        with self.assertRaises(OSError):
            wick.classes.load_library("/nowhere/nothing.so")


if __name__ == "__main__":
    unittest.main()
