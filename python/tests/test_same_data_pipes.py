"""Data pipes: streams and sequences made of one another, alone and in a DataLoader."""
import os
import pickle
import tempfile
import unittest
import warnings

from beside import torch

import importlib

data = importlib.import_module(torch.__name__ + ".utils.data")
pipes = importlib.import_module(torch.__name__ + ".utils.data.datapipes")
I, M = pipes.iter, pipes.map


def even(x):
    return x % 2 == 0


def twice(x):
    return 2 * x


def third(x):
    return x % 3


class Streams(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.ten = I.IterableWrapper(range(10))

    def test_samples(self):
        self.assertEqual(list(self.ten.map(twice)), list(range(0, 20, 2)))
        self.assertEqual(list(self.ten.filter(even)), [0, 2, 4, 6, 8])
        self.assertEqual(list(self.ten.map(twice).filter(even).map(str))[:2], ["0", "2"])
        self.assertEqual(len(self.ten.map(twice)), 10)
        with self.assertRaises(TypeError):
            len(self.ten.filter(even))
        with self.assertRaises(ValueError):
            list(self.ten.filter(twice))

    def test_columns(self):
        pairs = I.IterableWrapper([(1, 2, 3), (4, 5, 6)])
        self.assertEqual(list(pairs.map(twice, input_col=1)), [(1, 4, 3), (4, 10, 6)])
        self.assertEqual(list(pairs.map(twice, input_col=1, output_col=-1)), [(1, 2, 3, 4), (4, 5, 6, 10)])
        self.assertEqual(list(pairs.map(twice, input_col=2, output_col=0)), [(6, 2, 3), (12, 5, 6)])
        self.assertEqual(list(pairs.map(lambda a, b: a + b, input_col=[0, 2])), [(4, 2), (10, 5)])
        named = I.IterableWrapper([{"a": 1}]).map(twice, input_col="a", output_col="b")
        self.assertEqual(list(named), [{"a": 1, "b": 2}])
        with self.assertRaises(ValueError):
            pairs.map(twice, output_col=1)

    def test_batches(self):
        batches = self.ten.batch(4)
        self.assertEqual([list(batch) for batch in batches], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        self.assertEqual((len(batches), len(self.ten.batch(4, drop_last=True))), (3, 2))
        self.assertEqual(type(next(iter(batches))).__name__, "DataChunk")
        self.assertEqual(list(self.ten.batch(2).batch(2).unbatch(2)), list(range(10)))
        self.assertEqual(list(self.ten.batch(3).batch(2).unbatch(-1)), list(range(10)))
        self.assertEqual([batch.tolist() for batch in self.ten.batch(5).collate()],
                         [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]])
        with self.assertRaises(IndexError):
            list(self.ten.unbatch())

    def test_groups(self):
        groups = [list(group) for group in self.ten.groupby(third)]
        self.assertEqual(groups, [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]])
        groups = [list(group) for group in self.ten.groupby(third, group_size=2, buffer_size=5)]
        self.assertEqual(groups, [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]])

    def test_combined(self):
        other = I.IterableWrapper("abc")
        self.assertEqual(list(self.ten.concat(other))[-3:], ["a", "b", "c"])
        self.assertEqual(list(self.ten.zip(other)), [(0, "a"), (1, "b"), (2, "c")])
        self.assertEqual(list(self.ten.mux(other)), [0, "a", 1, "b", 2, "c"])
        self.assertEqual([len(self.ten.concat(other)), len(self.ten.zip(other)), len(self.ten.mux(other))],
                         [13, 3, 6])

    def test_forked(self):
        first, second = self.ten.fork(2)
        self.assertEqual(list(first), list(range(10)))
        self.assertEqual(list(second), list(range(10)))
        self.assertEqual(list(zip(first, second))[-1], (9, 9))
        a, b, c = self.ten.demux(3, third)
        self.assertEqual((list(a), list(b), list(c)), ([0, 3, 6, 9], [1, 4, 7], [2, 5, 8]))
        first, second = self.ten.fork(2, buffer_size=3)
        with self.assertRaises(BufferError):
            list(first)
        with self.assertRaises(ValueError):
            self.ten.fork(0)
        with self.assertRaises(ValueError):
            list(self.ten.demux(2, third)[0])

    def test_one_iterator_at_a_time(self):
        pipe = self.ten.map(twice)
        first = iter(pipe)
        self.assertEqual(next(first), 0)
        second = iter(pipe)
        self.assertEqual(next(second), 0)
        with self.assertRaisesRegex(RuntimeError, "This iterator has been invalidated"):
            next(first)

    def test_shuffled(self):
        torch.manual_seed(3)
        first = list(self.ten.shuffle())
        self.assertEqual(sorted(first), list(range(10)))
        torch.manual_seed(3)
        self.assertEqual(list(self.ten.shuffle()), first)
        self.assertEqual(list(self.ten.shuffle().set_shuffle(False)), list(range(10)))
        self.assertEqual(list(self.ten.shuffle(buffer_size=4).set_seed(5)), SHUFFLED)
        self.assertEqual(list(M.SequenceWrapper(range(6)).shuffle().set_seed(5)), SHUFFLED_MAP)

    def test_sharded(self):
        pipe = self.ten.sharding_filter()
        pipe.apply_sharding(3, 1)
        self.assertEqual((list(pipe), len(pipe)), ([1, 4, 7], 3))
        settings = importlib.import_module(torch.__name__ + ".utils.data.graph_settings")
        whole = self.ten.sharding_filter().map(twice)
        settings.apply_sharding(whole, 2, 1)
        self.assertEqual(list(whole), [2, 6, 10, 14, 18])

    def test_own(self):
        @data.functional_datapipe("plus_%s" % torch.__name__)
        class Plus(data.IterDataPipe):
            def __init__(self, source, number):
                self.source, self.number = source, number

            def __iter__(self):
                for x in self.source:
                    yield x + self.number
        self.assertEqual(list(getattr(self.ten, "plus_%s" % torch.__name__)(3))[:2], [3, 4])
        self.assertTrue(repr(Plus(self.ten, 1)).endswith("Plus"))
        with self.assertRaises(AttributeError):
            self.ten.nothing
        with self.assertRaisesRegex(Exception, "already taken"):
            data.functional_datapipe("map")(Plus)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.txt", "b.txt", "c.bin"):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(name * 2)
            paths = I.FileLister(folder, "*.txt")
            self.assertEqual(sorted(os.path.basename(path) for path in paths), ["a.txt", "b.txt"])
            read = {os.path.basename(name): text for name, text in I.FileOpener(paths).read_from_stream()}
            self.assertEqual(read, {"a.txt": "a.txta.txt", "b.txt": "b.txtb.txt"})
            pieces = [piece for _, piece in I.FileOpener(paths, mode="b").read_from_stream(4)]
            self.assertEqual(b"".join(pieces[:3]).__len__(), 10)

    def test_pickled(self):
        pipe = pickle.loads(pickle.dumps(self.ten.map(twice).batch(4)))
        self.assertEqual([list(batch) for batch in pipe][0], [0, 2, 4, 6])


class Sequences(unittest.TestCase):
    def test_by_index(self):
        five = M.SequenceWrapper(range(5))
        self.assertEqual([five.map(twice)[i] for i in range(5)], [0, 2, 4, 6, 8])
        self.assertEqual(five.concat(five)[7], 2)
        self.assertEqual((five.zip(five)[3], len(five.zip(five))), ((3, 3), 5))
        self.assertEqual((list(five.batch(2)[2]), len(five.batch(2))), ([4], 3))
        self.assertEqual(M.SequenceWrapper({"a": 1})["a"], 1)
        with self.assertRaises(IndexError):
            five.concat(five)[10]


class Loaded(unittest.TestCase):
    def test_in_this_process(self):
        pipe = I.IterableWrapper(range(10)).map(twice)
        self.assertEqual([batch.tolist() for batch in data.DataLoader(pipe, batch_size=4)],
                         [[0, 2, 4, 6], [8, 10, 12, 14], [16, 18]])
        shuffled = [x for batch in data.DataLoader(pipe, batch_size=4, shuffle=True) for x in batch.tolist()]
        self.assertEqual(sorted(shuffled), list(range(0, 20, 2)))
        fixed = data.DataLoader(pipe.shuffle(), batch_size=None, shuffle=False)
        self.assertEqual([int(x) for x in fixed], list(range(0, 20, 2)))

    def test_order_follows_the_seed(self):
        torch.manual_seed(11)
        found = [int(x) for x in data.DataLoader(I.IterableWrapper(range(8)).shuffle(), batch_size=None)]
        self.assertEqual(found, LOADED)

    def test_in_workers(self):
        pipe = I.IterableWrapper(range(10)).shuffle().sharding_filter()
        loader = data.DataLoader(pipe, batch_size=2, num_workers=2)
        self.assertEqual(sorted(x for batch in loader for x in batch.tolist()), list(range(10)))

    def test_sequences(self):
        pipe = M.SequenceWrapper(list(range(6))).map(twice)
        self.assertEqual([batch.tolist() for batch in data.DataLoader(pipe, batch_size=3)], [[0, 2, 4], [6, 8, 10]])


SHUFFLED = [2, 4, 0, 3, 1, 6, 8, 9, 7, 5]
SHUFFLED_MAP = [1, 0, 3, 5, 2, 4]
LOADED = [0, 2, 1, 3, 5, 7, 4, 6]

if __name__ == "__main__":
    unittest.main()
