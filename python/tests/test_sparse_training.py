"""Embeddings with sparse gradients and the optimizers that take them, against PyTorch 1.13's numbers.

With the argument --record and PyTorch installed this file prints the numbers anew."""
import sys
import unittest

RECORD = "--record" in sys.argv
if RECORD:
    import torch as wick
else:
    import wick
nn, optim = wick.nn, wick.optim

# The sum of a row's weights after three steps.
ROWS = {
    "SparseAdam": [4.2, 8.121576, 13.5, 18, 21.6, 26.10034],
    "Adagrad": [4.2, 8.312527, 13.5, 18, 21.81466, 26.31742],
    "SGD": [4.41, 8.210232, 13.5, 18, 22.41, 25.41218],
}


def trained(make):
    net = nn.Embedding(6, 3, padding_idx=2, sparse=True)
    with wick.no_grad():
        net.weight.copy_(wick.arange(1.0, 19.0).reshape(6, 3) / 2 + 0.5)
    optimizer = make(net.parameters())
    for i in range(3):
        optimizer.zero_grad()
        loss = (net(wick.tensor([[1, 2], [i, 5]])) ** 2).sum() + net(wick.tensor([4, 1])).sum()
        loss.backward()
        assert net.weight.grad.is_sparse
        optimizer.step()
    return net


MAKERS = {"SparseAdam": lambda params: optim.SparseAdam(params, lr=0.1),
          "Adagrad": lambda params: optim.Adagrad(params, lr=0.1), "SGD": lambda params: optim.SGD(params, lr=0.01)}


class Sparse(unittest.TestCase):
    def test_steps(self):
        for name, make in MAKERS.items():
            with self.subTest(name):
                rows = trained(make).weight.sum(1).tolist()
                for row, expected in zip(rows, ROWS[name]):
                    self.assertAlmostEqual(row, expected, 4)

    def test_gradients(self):
        """A row for each index, but those of the padding; added up when they meet."""
        weight = wick.ones(4, 2, requires_grad=True)
        look = wick.nn.functional.embedding
        look(wick.tensor([3, 0, 3]), weight, padding_idx=0, sparse=True).sum().backward()
        self.assertEqual(weight.grad.shape, (4, 2))
        self.assertEqual(weight.grad._indices().tolist(), [[3, 3]])
        self.assertEqual(weight.grad.to_dense().tolist(), [[0, 0], [0, 0], [0, 0], [2, 2]])
        look(wick.tensor([1]), weight, sparse=True).sum().backward()
        self.assertEqual(weight.grad.to_dense().sum(1).tolist(), [0, 2, 0, 4])
        look(wick.tensor([1]), weight).sum().backward()  # a dense one beside it
        self.assertFalse(weight.grad.is_sparse)
        self.assertEqual(weight.grad.sum(1).tolist(), [0, 4, 0, 4])
        with self.assertRaisesRegex(RuntimeError, "scale_grad_by_freq not supported with sparse"):
            look(wick.tensor([1]), weight, sparse=True, scale_grad_by_freq=True).sum().backward()
        self.assertFalse(look(wick.tensor([1]), weight.detach(), sparse=True).requires_grad)

    def test_errors(self):
        weight = wick.ones(2, 2, requires_grad=True)
        with self.assertRaisesRegex(ValueError, r"Sparse params at indices \[0\]"):
            optim.SparseAdam([wick.eye(2).to_sparse()])
        with self.assertRaisesRegex(ValueError, r"Sparse params at indices \[\[0, 1\]\]"):
            optim.SparseAdam([{"params": [weight, wick.eye(2).to_sparse()]}])
        for bad in ({"lr": 0.0}, {"eps": 0.0}, {"betas": (1.0, 0.9)}):
            with self.assertRaisesRegex(ValueError, "Invalid"):
                optim.SparseAdam([weight], **bad)
        weight.grad = wick.ones(2, 2)
        with self.assertRaisesRegex(RuntimeError, "SparseAdam does not support dense gradients"):
            optim.SparseAdam([weight]).step()
        weight.grad = wick.eye(2).to_sparse()
        with self.assertRaisesRegex(RuntimeError, "not compatible with sparse gradients"):
            optim.Adagrad([weight], weight_decay=0.1).step()
        with self.assertRaisesRegex(RuntimeError, "consider SparseAdam"):
            optim.Adam([weight]).step()


if __name__ == "__main__":
    if RECORD:
        for name, make in MAKERS.items():
            print("    %r: %r," % (name, trained(make).weight.sum(1).tolist()))
    else:
        unittest.main()
