"""torch.profiler's names over `autograd.profiler`: a profile that may record some of many steps."""

import enum
import os
import socket
import time

from ..autograd import profiler as _base
from ..autograd.profiler import record_function  # noqa: F401


class ProfilerActivity(enum.Enum):
    """What is recorded; there is the processor."""

    CPU = 0
    CUDA = 2


class ProfilerAction(enum.Enum):
    """What a schedule says of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    """Those that can be recorded."""
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    """Which steps are recorded: after `skip_first`, cycles of `wait`, `warmup` and `active` steps."""
    def action(step):
        assert step >= 0
        step -= skip_first
        cycle = wait + warmup + active
        if step < 0 or repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE
    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """An `on_trace_ready` that writes a trace into the folder."""
    def write(profile):
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or "%s_%d" % (socket.gethostname(), os.getpid())
        profile.export_chrome_trace(os.path.join(dir_name, "%s.%d.pt.trace.json" % (name, time.time_ns())))
    return write


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """A context: all of it is recorded, or the steps that `schedule` says, with `step()` after each."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
                 profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
                 experimental_config=None, use_cuda=None):
        self._schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self._on_trace_ready, self._shapes = on_trace_ready, record_shapes
        self.step_num, self.profiler = 0, None
        self._is_on = False

    def start(self):
        """As entering the context."""
        self._follow(self._schedule(self.step_num))

    def stop(self):
        """As leaving it."""
        if self._is_on:
            self._end()

    def step(self):
        """The next step begins."""
        if self._is_on and self._schedule(self.step_num) == ProfilerAction.RECORD_AND_SAVE:
            self._end()
        self.step_num += 1
        self._follow(self._schedule(self.step_num))

    def _follow(self, action):
        if action in _RECORDING and not self._is_on:
            self.profiler = _base.profile(record_shapes=self._shapes)
            self.profiler.__enter__()
            self._is_on = True
        elif action not in _RECORDING and self._is_on:
            self._end()

    def _end(self):
        self.profiler.__exit__(None, None, None)
        self._is_on = False
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()
        return False

    def _recorded(self):
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before it is asked")
        return self.profiler

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """See `autograd.profiler.profile`."""
        return self._recorded().key_averages(group_by_input_shape, group_by_stack_n)

    def events(self):
        """What ran, by inputs."""
        return self._recorded().function_events

    def export_chrome_trace(self, path):
        """Writes each run, for chrome://tracing."""
        self._recorded().export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes folded stacks."""
        self._recorded().export_stacks(path, metric)

    def add_metadata(self, key, value):
        """Nothing: traces have no such entries."""
