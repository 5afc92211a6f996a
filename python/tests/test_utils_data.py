"""utils.data: orders for a seed, batches, splits; and checkpoints."""
import unittest
from collections import namedtuple

import wick
from wick import nn
from wick.utils import checkpoint, data

Pair = namedtuple('Pair', 'a b')


class Loading(unittest.TestCase):
    def setUp(self):
        wick.manual_seed(5)
        self.rows = data.TensorDataset(wick.arange(20.0).reshape(10, 2), wick.arange(10))

    def order(self, **more):
        loader = data.DataLoader(self.rows, **more)
        batches = [labels.tolist() for _, labels in loader]
        self.assertEqual(len(loader), len(batches))
        return batches

    def test_batches(self):
        self.assertEqual(self.order(batch_size=4), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        self.assertEqual(self.order(batch_size=4, drop_last=True), [[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertEqual(self.order(batch_size=None), list(range(10)))
        sampler = data.BatchSampler(data.SequentialSampler(self.rows), 6, False)
        self.assertEqual([len(batch) for batch in self.order(batch_sampler=sampler)], [6, 4])
        values, labels = next(iter(data.DataLoader(self.rows, 3)))
        self.assertEqual(values.shape, (3, 2))
        self.assertEqual(values[:, 0].tolist(), [0, 2, 4])

    def test_shuffling_draws_torch_s_order(self):
        self.assertEqual(sum(self.order(batch_size=4, shuffle=True), []), SHUFFLED)
        again = self.order(batch_size=4, shuffle=True)
        self.assertEqual(sorted(sum(again, [])), list(range(10)))
        self.assertNotEqual(sum(again, []), SHUFFLED)

    def test_samplers(self):
        chosen = self.order(sampler=data.SubsetRandomSampler([1, 5, 7]))
        self.assertEqual(sorted(sum(chosen, [])), [1, 5, 7])
        weighted = self.order(sampler=data.WeightedRandomSampler([0.0] * 9 + [1.0], 5))
        self.assertEqual(weighted, [[9]] * 5)
        self.assertEqual(sum(map(len, self.order(sampler=data.RandomSampler(self.rows, True, 40), batch_size=7))), 40)

    def test_splits(self):
        first, second = data.random_split(self.rows, [3, 7])
        seen = [row[1].item() for part in (first, second) for row in part]
        self.assertEqual(sorted(seen), list(range(10)))
        self.assertEqual([len(part) for part in data.random_split(self.rows, [0.35, 0.65])], [4, 6])
        self.assertEqual(len(first + second), 10)
        self.assertEqual((first + second)[-1][1].item(), seen[-1])
        with self.assertRaisesRegex(ValueError, 'does not equal the length'):
            data.random_split(range(3), [1, 1])

    def test_collate(self):
        collate = data.default_collate
        self.assertEqual(collate([1, 2]).tolist(), [1, 2])
        self.assertEqual(collate([1.0, 2.0]).dtype, wick.float64)
        self.assertEqual(collate([(1, 'x'), (2, 'y')])[1], ('x', 'y'))
        self.assertEqual(collate([Pair(1, 2.0), Pair(3, 4.0)]).a.tolist(), [1, 3])
        self.assertEqual(collate([{'k': wick.ones(2)}, {'k': wick.ones(2)}])['k'].shape, (2, 2))
        with self.assertRaisesRegex(RuntimeError, 'equal size'):
            collate([[1], [1, 2]])

    def test_streams(self):
        class Stream(data.IterableDataset):
            def __iter__(self):
                return iter(range(7))

        self.assertEqual([batch.tolist() for batch in data.DataLoader(Stream(), 3)], [[0, 1, 2], [3, 4, 5], [6]])
        self.assertEqual(list(data.DataLoader(Stream() + Stream(), None)), [*range(7), *range(7)])
        with self.assertRaisesRegex(ValueError, 'shuffle'):
            data.DataLoader(Stream(), shuffle=True)


class Capsules(unittest.TestCase):
    def test_there_and_back(self):
        one = wick.arange(4.0)
        other = wick.utils.dlpack.from_dlpack(wick.utils.dlpack.to_dlpack(one))
        one[0] = 7
        self.assertEqual(other.tolist(), [7, 1, 2, 3])


class Checkpoints(unittest.TestCase):
    @unittest.skipUnless(hasattr(wick.autograd, 'Function'), 'needs autograd.Function')
    def test_gradients_are_the_same(self):
        wick.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2), nn.Tanh())
        x = wick.arange(6.0).reshape(2, 3) / 5
        grads = []
        for run in (net, lambda value: checkpoint.checkpoint(net, value, preserve_rng_state=False),
                    lambda value: checkpoint.checkpoint_sequential(net, 2, value, preserve_rng_state=False)):
            leaf = x.clone().requires_grad_(True)
            net.zero_grad(set_to_none=True)
            run(leaf).sum().backward()
            grads.append([leaf.grad] + [param.grad for param in net.parameters()])
        for other in grads[1:]:
            for one, two in zip(grads[0], other):
                self.assertTrue(wick.allclose(one, two))


# What PyTorch 1.13 gives for the first epoch after manual_seed(5).
SHUFFLED = [8, 3, 0, 5, 9, 1, 6, 2, 4, 7]

if __name__ == '__main__':
    unittest.main()
