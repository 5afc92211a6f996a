"""Python's multiprocessing under torch's name. Tensors go to other processes as copies: none is shared."""
import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F401,F403

__all__ = _multiprocessing.__all__ + ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy",
                                      "spawn"]


def get_all_sharing_strategies():
    """{'pickle'}: what torch's 'file_descriptor' and 'file_system' would share is copied."""
    return {"pickle"}


def get_sharing_strategy():
    """'pickle'"""
    return "pickle"


def set_sharing_strategy(new_strategy):
    """Takes the names that torch has, and shares nothing with any."""
    if new_strategy not in ("pickle", "file_descriptor", "file_system"):
        raise AssertionError(new_strategy)


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs ``fn(i, *args)`` in ``nprocs`` processes and waits for them; RuntimeError names the one that failed.

    ``join=False``: the list of processes, which the caller joins.
    """
    context = _multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i,) + tuple(args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    for i, process in enumerate(processes):
        if process.exitcode:
            raise RuntimeError("process {} terminated with exit code {}".format(i, process.exitcode))
    return None
