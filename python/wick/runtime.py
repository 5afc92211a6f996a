"""How calls run: limits of time, steps and memory, cancelling, profiles, executors, what is kept for later calls.

    with wick.runtime.limits(deadline=0.5, steps=10**6, bytes=2**30):
        y = module(x)                                   # TimeoutError, RuntimeError

    profile = wick.runtime.Profile()
    with wick.runtime.limits(profile=profile):
        module(x)
    print(profile.text("table"))
"""

from . import _C
from ._C import Cancel, Cancelled, Profile, explain, stats, trim  # noqa: F401


class limits:
    """A context in which this thread's calls of programs and operators are bound.

    deadline: seconds that each call may take; steps: loop iterations and calls; bytes: that it may hold at once;
    threads: that work within it; deterministic: the same bits on every call; executor: "simple", "specializing",
    "profiling"; backend: "none", "tile", "native"; cancel: a Cancel that ends it from another thread (Cancelled is
    raised; Ctrl-C fires it too); profile: a Profile that records it. What is left out is as in the context around
    this one.
    """

    _names = ("deadline", "steps", "bytes", "threads", "deterministic", "executor", "backend", "cancel", "profile")

    def __init__(self, **bounds):
        for name in bounds:
            if name not in self._names:
                raise TypeError("limits() got an unexpected keyword argument '%s'" % name)
        self._bounds = {name: value for name, value in bounds.items() if value is not None}
        self._limits = self._before = None

    def __enter__(self):
        outer = _of_thread.bounds
        self._outer = outer
        bounds = {**(outer or {}), **self._bounds}
        if bounds != (self._made_of if self._limits is not None else None):
            self._limits, self._made_of = _made(bounds), bounds
        _of_thread.bounds = bounds
        self._before = _C.set_limits(self._limits)
        return self

    def __exit__(self, *error):
        _of_thread.bounds = self._outer
        _C.set_limits(self._before)
        return False


def _made(bounds):
    bounds = dict(bounds)
    deadline = bounds.pop("deadline", None)
    if deadline is not None:
        if not deadline > 0:
            raise ValueError("deadline: %r is not above 0" % (deadline,))
        bounds["deadline_ns"] = max(1, int(deadline * 1e9))
    for name in ("steps", "bytes", "threads"):
        if name in bounds and not 0 < bounds[name] < 1 << (32 if name == "threads" else 64):
            raise ValueError("%s: %r is not above 0" % (name, bounds[name]))
    return _C.Limits(**bounds)


def _thread_state():
    import threading

    class State(threading.local):
        bounds = None
    return State()


_of_thread = _thread_state()


def memory(module=None):
    """Bytes that are kept for programs, or what a compiled module's weights and plans take, by kind."""
    return _C.memory() if module is None else module._script_handle.memory()


def prepare(module, *args, **kwargs):
    """Makes ready what calls with such arguments will want: code, plans, packed weights, memory."""
    handle = getattr(module, "_script_handle", None)
    if handle is not None:
        return handle.prepare("forward", *args, **kwargs)
    return module.program.prepare(module.name, *args, **kwargs)


def set_executor(name, synchronous=False, profiled_runs=0, bailout_depth=0, max_plans=0):
    """How programs are made to run from now on: "simple" (as written), "specializing" (a plan for each kind of
    arguments) or "profiling" (a plan that assumes what `profiled_runs` calls showed). `synchronous`: plans are made
    by the call that wants them, and kept whatever they gain. 0 is the default."""
    _C.set_executor(name, synchronous, profiled_runs, bailout_depth, max_plans)


def executor():
    """The name of the executor in use."""
    return _C.executor_in_use()


def set_backend(name, device="cpu"):
    """What runs groups of pointwise operators on a kind of device: "none" (one by one), "tile",
    "native" (machine code, made beside the calls); None: the default."""
    _C.set_backend(device, name)


def wait_for_plans():
    """Returns when no plan is being made."""
    _C.wait_for_plans()
