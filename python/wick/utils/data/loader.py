"""DataLoader: batches of samples, loaded in the process that asks for them, or by worker processes."""
import itertools

import wick
from wick.utils.data import graph_settings
from wick.utils.data._utils.collate import default_collate, default_convert
from wick.utils.data.datapipes._base import IterDataPipe
from wick.utils.data.dataset import IterableDataset, _Subscripted
from wick.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from wick.utils.data.worker import Workers, fetcher


class DataLoader(_Subscripted):
    """Batches of a data set.

    Args:
        dataset: a Dataset (by index) or an IterableDataset.
        batch_size: samples in a batch; None gives single samples.
        shuffle: whether the order is new, random, each time; or ``sampler``, or ``batch_sampler``, gives the order.
        collate_fn: makes a batch of a list of samples.
        drop_last: whether a last batch that is not full is left out.
        generator: draws the order.
        num_workers: processes that load batches ahead, ``prefetch_factor`` each; 0 loads in this process.
        multiprocessing_context: how they are started: a name ("fork", "spawn") or a context of multiprocessing.
        worker_init_fn: called in each with its number, after its seeds were set.
        persistent_workers: whether they live on after an epoch.
        timeout: seconds to wait for a batch of theirs; 0 waits for ever.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=2, persistent_workers=False,
                 pin_memory_device=''):
        if num_workers < 0:
            raise ValueError('num_workers option should be non-negative; use num_workers=0 to disable '
                             'multiprocessing.')
        if timeout < 0:
            raise ValueError('timeout option should be non-negative')
        if num_workers == 0 and prefetch_factor != 2:
            raise ValueError('prefetch_factor option could only be specified in multiprocessing.'
                             'let num_workers > 0 to enable multiprocessing.')
        if prefetch_factor <= 0:
            raise ValueError('prefetch_factor option should be positive')
        if persistent_workers and num_workers == 0:
            raise ValueError('persistent_workers option needs num_workers > 0')
        if multiprocessing_context is not None and num_workers == 0:
            raise ValueError('multiprocessing_context can only be used with multi-process loading (num_workers > 0), '
                             'but got num_workers={}'.format(num_workers))
        streamed = isinstance(dataset, IterableDataset)
        if isinstance(dataset, IterDataPipe):
            dataset = graph_settings.apply_shuffle_settings(dataset, shuffle=shuffle)
        elif streamed:
            if shuffle:
                raise ValueError('DataLoader with IterableDataset: expected unspecified shuffle option, but got '
                                 'shuffle={}'.format(shuffle))
            if sampler is not None or batch_sampler is not None:
                raise ValueError('DataLoader with IterableDataset: expected unspecified {} option'.format(
                    'sampler' if sampler is not None else 'batch_sampler'))
        if sampler is not None and shuffle:
            raise ValueError('sampler option is mutually exclusive with shuffle')
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError('batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and '
                                 'drop_last')
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError('batch_size=None option disables auto-batching and is mutually exclusive with drop_last')
        if sampler is None and not streamed:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None and not streamed:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self._workers = None  # of an epoch before, when they persist
        self._batched = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn if collate_fn is not None else default_collate if self._batched else \
            default_convert

    def __iter__(self):
        if isinstance(self.dataset, IterDataPipe):  # one order for all workers
            order = wick.empty((), dtype=wick.int64).random_(generator=self.generator).item()
            graph_settings.apply_random_seed(self.dataset, wick.Generator().manual_seed(order))
        # an epoch draws a number, as torch's does: the workers' seed
        seed = wick.empty((), dtype=wick.int64).random_(generator=self.generator).item()
        if isinstance(self.dataset, IterableDataset):
            tasks = itertools.repeat(None)
        else:
            tasks = iter(self.batch_sampler if self._batched else self.sampler)
        return self._from_workers(tasks, seed) if self.num_workers else self._from_here(tasks)

    def _from_here(self, tasks):
        fetch = fetcher(self.dataset, self._batched, self.collate_fn, self.batch_size, self.drop_last)
        for task in tasks:
            try:
                batch = fetch(task)
            except StopIteration:
                if isinstance(self.dataset, IterableDataset):
                    return
                raise
            yield batch

    def _from_workers(self, tasks, seed):
        workers, self._workers = self._workers or Workers(self, seed), None
        is_whole = False
        try:
            yield from workers.batches(tasks)
            is_whole = True
        finally:
            if is_whole and self.persistent_workers:  # else batches that nobody takes may be on their way
                self._workers = workers
            else:
                workers.close()

    def __len__(self):
        if isinstance(self.dataset, IterableDataset):
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.batch_sampler) if self._batched else len(self.sampler)
