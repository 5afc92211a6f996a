"""DataLoader with worker processes: the same batches in the same order, however they are started."""
import os
import signal
import unittest

import wick
from wick.utils import data


class Squares(data.Dataset):
    def __init__(self, count=23):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return wick.tensor(float(index ** 2)), index


class Fails(Squares):
    def __getitem__(self, index):
        if index == 5:
            raise {}["missing"] if self.count == 7 else ValueError("sample 5 is bad")
        return index


class Dies(Squares):
    def __getitem__(self, index):
        if index == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return index


class Sleeps(Squares):
    def __getitem__(self, index):
        import time
        time.sleep(60)


class Unpicklable(Squares):
    def __getitem__(self, index):
        return lambda: index


class Stream(data.IterableDataset):
    """Each worker has its part of 0, 1, ... 10."""

    def __iter__(self):
        info = data.get_worker_info()
        return iter(range(info.id, 11, info.num_workers) if info else range(11))


class Tells(Squares):
    def __getitem__(self, index):
        info = data.get_worker_info()
        return (info.id, info.num_workers, info.seed - info.id, wick.initial_seed() - info.id, len(info.dataset),
                wick.get_num_threads(), self.noted)


def note(worker):
    data.get_worker_info().dataset.noted = 100 + worker


def refuse(worker):
    raise OSError("no worker %d" % worker)


def keep(batch):
    return batch


class Workers(unittest.TestCase):
    def batches(self, dataset, **more):
        wick.manual_seed(4)
        return [[part.tolist() if isinstance(part, wick.Tensor) else part for part in batch]
                if isinstance(batch, (list, tuple)) else batch.tolist()
                for batch in data.DataLoader(dataset, **more)]

    def test_order_is_that_of_one_process(self):
        for more in ({"batch_size": 4}, {"batch_size": 4, "drop_last": True, "shuffle": True}, {"batch_size": None},
                     {"batch_size": 5, "prefetch_factor": 1}):
            alone = {key: value for key, value in more.items() if key != "prefetch_factor"}
            self.assertEqual(self.batches(Squares(), num_workers=3, **more), self.batches(Squares(), **alone))

    def test_spawned(self):
        self.assertEqual(self.batches(Squares(), batch_size=4, num_workers=2, multiprocessing_context="spawn"),
                         self.batches(Squares(), batch_size=4))

    def test_streams(self):
        self.assertEqual(self.batches(Stream(), batch_size=2, num_workers=2),
                         [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]])
        self.assertEqual(self.batches(Stream(), batch_size=2, num_workers=2, drop_last=True),
                         [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10]])

    def test_what_workers_know(self):
        loader = data.DataLoader(Tells(6), 3, num_workers=2, worker_init_fn=note, collate_fn=keep)
        seen = [sample for batch in loader for sample in batch]
        self.assertEqual([(sample[0], sample[1], *sample[4:]) for sample in seen],
                         [(0, 2, 6, 1, 100)] * 3 + [(1, 2, 6, 1, 101)] * 3)
        self.assertEqual(len({sample[2] for sample in seen} | {sample[3] for sample in seen}), 1)
        self.assertIsNone(data.get_worker_info())

    def test_errors_are_raised_here(self):
        loader = data.DataLoader(Fails(), 2, num_workers=2)
        batches = iter(loader)
        self.assertEqual([next(batches).tolist() for _ in range(2)], [[0, 1], [2, 3]])
        with self.assertRaisesRegex(ValueError, r"(?s)Caught ValueError in DataLoader worker process \d\.\nOriginal "
                                                r"Traceback.*sample 5 is bad"):
            next(batches)
        with self.assertRaisesRegex(KeyError, "(?s)Original Traceback.*missing"):
            list(data.DataLoader(Fails(7), 2, num_workers=1))
        with self.assertRaisesRegex(OSError, "no worker 0"):
            list(data.DataLoader(Squares(), num_workers=1, worker_init_fn=refuse))
        with self.assertRaisesRegex(Exception, "(?s)in DataLoader worker process 0.*[Pp]ickle"):
            list(data.DataLoader(Unpicklable(), num_workers=1, collate_fn=keep))

    def test_a_worker_that_dies(self):
        with self.assertRaisesRegex(RuntimeError, r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"):
            list(data.DataLoader(Dies(), 2, num_workers=2))

    def test_timeout(self):
        with self.assertRaisesRegex(RuntimeError, "timed out after 0.2 seconds"):
            list(data.DataLoader(Sleeps(), 2, num_workers=1, timeout=0.2))

    def test_workers_that_live_on(self):
        loader = data.DataLoader(Squares(4), 2, num_workers=2, persistent_workers=True,
                                 collate_fn=lambda batch: os.getpid())
        first = list(loader)
        self.assertEqual((len(set(first)), list(loader)), (2, first))
        next(iter(loader))  # left before its end: new ones are made
        self.assertEqual(len(set(loader)), 2)
        streams = data.DataLoader(Stream(), 6, num_workers=2, persistent_workers=True)
        self.assertEqual([len(list(streams)) for _ in range(2)], [2, 2])

    def test_what_goes_together(self):
        for more, text in (({"num_workers": -1}, "non-negative"), ({"persistent_workers": True}, "num_workers > 0"),
                           ({"prefetch_factor": 3}, "multiprocessing"),
                           ({"prefetch_factor": 0, "num_workers": 1}, "should be positive"),
                           ({"multiprocessing_context": "fork"}, "multi-process")):
            with self.assertRaisesRegex(ValueError, text):
                data.DataLoader(Squares(), **more)


if __name__ == "__main__":
    unittest.main()
