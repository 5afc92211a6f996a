"""Worker processes of a DataLoader: each loads whole batches, and the parent gives them out in order."""
import collections
import itertools
import multiprocessing
import multiprocessing.connection
import pickle
import queue
import random
import signal
import sys
import threading
import time
import traceback

import wick
from wick.utils.data import graph_settings
from wick.utils.data.datapipes._base import IterDataPipe
from wick.utils.data.dataset import IterableDataset

WorkerInfo = collections.namedtuple('WorkerInfo', 'id num_workers seed dataset')

_info = None


def get_worker_info():
    """In a worker process: its ``id``, ``num_workers``, ``seed`` and ``dataset``; None elsewhere."""
    return _info


def fetcher(dataset, batched, collate, batch_size, drop_last):
    """The function that makes a batch of what a sampler gives; over a stream it takes None, and ends with
    StopIteration."""
    if isinstance(dataset, IterableDataset):
        samples = iter(dataset)

        def fetch(_):
            if not batched:
                return collate(next(samples))
            batch = list(itertools.islice(samples, batch_size))
            if not batch or (drop_last and len(batch) < batch_size):
                raise StopIteration
            return collate(batch)
        return fetch
    if batched:
        return lambda indices: collate([dataset[index] for index in indices])
    return lambda index: collate(dataset[index])


# ---- in the worker ----

class _Failure:
    """An exception of a worker, as text beside its class."""

    def __init__(self, error, where):
        self.kind, self.where = type(error), where
        self.text = ''.join(traceback.format_exception(type(error), error, error.__traceback__))

    def reraise(self):
        text = 'Caught {} {}.\nOriginal {}'.format(self.kind.__name__, self.where, self.text)
        if self.kind is KeyError:
            raise _KeyErrorText(text)
        try:
            error = self.kind(text)
        except Exception:
            error = RuntimeError(text)
        raise error


class _KeyErrorText(KeyError):
    """KeyError shows its argument as a literal; here it is a report of several lines."""

    def __str__(self):
        return self.args[0]


class _End:
    """A worker's part of a stream is over."""


_RESTART = 'restart'


def _read_tasks(connection, tasks):
    """What the parent sends, as fast as it sends: it never waits for a worker that waits for it."""
    try:
        while True:
            tasks.put(connection.recv())
    except (EOFError, OSError):
        tasks.put(None)


def _packed(number, value, where):
    try:
        return multiprocessing.reduction.ForkingPickler.dumps((number, value))
    except Exception as error:
        return multiprocessing.reduction.ForkingPickler.dumps((number, _Failure(error, where)))


def run_worker(worker, settings, incoming, outgoing, inherited):
    """A worker's life: ``settings`` are (dataset, batched, collate, batch_size, drop_last, init_fn, seed, count)."""
    global _info
    for connection in inherited:
        connection.close()
    dataset, batched, collate, batch_size, drop_last, init, seed, count = settings
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to answer
    wick.set_num_threads(1)
    seed += worker
    random.seed(seed)
    wick.manual_seed(seed)
    if 'numpy' in sys.modules:
        sys.modules['numpy'].random.seed(seed % 2 ** 32)
    if isinstance(dataset, IterDataPipe):
        graph_settings.apply_sharding(dataset, count, worker)
    _info = WorkerInfo(worker, count, seed, dataset)
    where = 'in DataLoader worker process {}'.format(worker)
    tasks, broken, fetch = queue.Queue(), None, None
    threading.Thread(target=_read_tasks, args=(incoming, tasks), daemon=True).start()
    try:
        if init is not None:
            init(worker)
    except Exception as error:
        broken = _Failure(error, where)
    while True:
        task = tasks.get()
        if task is None:
            return
        if task is _RESTART or task == _RESTART:
            fetch = None
            continue
        number, what = task
        try:
            if broken:
                value = broken
            else:
                fetch = fetch or fetcher(dataset, batched, collate, batch_size, drop_last)
                value = fetch(what)
        except StopIteration as error:
            value = _End() if isinstance(dataset, IterableDataset) else _Failure(error, where)
        except Exception as error:
            value = _Failure(error, where)
        try:
            outgoing.send_bytes(_packed(number, value, where))
        except (BrokenPipeError, OSError):
            return


# ---- in the parent ----

class Workers:
    """The processes of a loader, and what was asked of them."""

    def __init__(self, loader, seed):
        context = loader.multiprocessing_context
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self.timeout, self.ahead = loader.timeout, loader.prefetch_factor
        self.processes, self.tasks, self.results = [], [], []
        settings = (loader.dataset, loader._batched, loader.collate_fn, loader.batch_size, loader.drop_last,
                    loader.worker_init_fn, seed, loader.num_workers)
        try:
            for worker in range(loader.num_workers):
                theirs, ours = context.Pipe(duplex=False)
                mine, other = context.Pipe(duplex=False)
                # a forked child has the parent's ends as well: they are to close with the parent
                inherited = [ours, mine, *self.tasks, *self.results] if context.get_start_method() == 'fork' else []
                process = context.Process(target=run_worker, args=(worker, settings, theirs, other, inherited),
                                          daemon=True)
                process.start()
                theirs.close()
                other.close()
                self.processes.append(process)
                self.tasks.append(ours)
                self.results.append(mine)
        except BaseException:
            self.close()
            raise

    def batches(self, tasks):
        """The batches of tasks, in their order."""
        tasks = enumerate(tasks)
        ready, asked, ended = {}, collections.deque(), set()
        turn = itertools.cycle(range(len(self.processes)))

        def ask():
            """Gives the next task to the next worker whose stream goes on."""
            if len(ended) == len(self.processes):
                return False
            number, what = next(tasks, (None, None))
            if number is None:
                return False
            worker = next(each for each in turn if each not in ended)
            self.tasks[worker].send((number, what))
            asked.append((number, worker))
            return True

        for connection in self.tasks:
            connection.send(_RESTART)
        for _ in range(self.ahead * len(self.processes)):
            if not ask():
                break
        while asked:
            number, worker = asked[0]
            while number not in ready:
                ready.update(self._receive())
            asked.popleft()
            value = ready.pop(number)
            if isinstance(value, _End):
                ended.add(worker)
                ask()
                continue
            ask()
            if isinstance(value, _Failure):
                value.reraise()
            yield value

    def _receive(self):
        """What has come, by number; waits until something has."""
        deadline = time.monotonic() + self.timeout if self.timeout else None
        sentinels = [process.sentinel for process in self.processes]
        while True:
            left = None if deadline is None else max(0, deadline - time.monotonic())
            there = multiprocessing.connection.wait(self.results + sentinels, left)
            if not there:
                raise RuntimeError('DataLoader timed out after {} seconds'.format(self.timeout))
            came = []
            for connection in there:
                if connection not in sentinels:
                    try:
                        came.append(pickle.loads(connection.recv_bytes()))
                    except EOFError:
                        pass
            if came:
                return came
            gone = [process.pid for process in self.processes if not process.is_alive()]
            if gone:
                raise RuntimeError('DataLoader worker (pid(s) {}) exited unexpectedly'
                                   .format(', '.join(map(str, gone))))

    def close(self):
        """Ends the processes."""
        for connection in self.tasks + self.results:
            connection.close()
        for process in self.processes:
            process.join(0.5)
            if process.is_alive():
                process.terminate()
                process.join()
        self.processes, self.tasks, self.results = [], [], []
