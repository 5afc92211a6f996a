"""Where the time goes: `profile` records the operators that run while it is on, and the regions that are named."""

import functools
import json
import time

from .. import _C

_recording = []  # the profiles that are on, the innermost last


class record_function:
    """A region with a name: `with record_function("loss"):`, or over a function. Programs know it as well."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        self._start = time.monotonic()
        return self

    def __exit__(self, *error):
        for profile in _recording:
            profile._add_region(self.name, self._start, time.monotonic())

    def __call__(self, function):
        @functools.wraps(function)
        def within(*args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)
        return within


class FunctionEventAvg:
    """What ran of one operator or region: times in microseconds."""

    def __init__(self, key, count, total, self_total, input_shapes=()):
        self.key, self.count, self.input_shapes = key, count, input_shapes
        self.cpu_time_total, self.self_cpu_time_total = total, self_total

    @property
    def cpu_time(self):
        """Of one run."""
        return self.cpu_time_total / max(self.count, 1)

    def __repr__(self):
        return "<FunctionEventAvg key=%s self_cpu_time=%.3fus cpu_time=%.3fus>" % (
            self.key, self.self_cpu_time_total, self.cpu_time_total)


class EventList(list):
    """Events or averages, which print as a table."""

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, header=None, top_level_events_only=False):
        """A text with a line each."""
        rows = sorted(self, key=lambda e: -getattr(e, sort_by)) if sort_by else list(self)
        total = sum(event.self_cpu_time_total for event in self) or 1.0
        width = max([len(event.key) for event in rows] + [4])
        lines = ["%-*s  %12s  %12s  %12s  %12s  %8s" % (width, "Name", "Self CPU %", "Self CPU", "CPU total",
                                                        "CPU time avg", "# Calls")]
        for event in rows[:row_limit] if row_limit > 0 else rows:
            lines.append("%-*s  %11.2f%%  %12s  %12s  %12s  %8d" % (
                width, event.key, 100 * event.self_cpu_time_total / total, _shown(event.self_cpu_time_total),
                _shown(event.cpu_time_total), _shown(event.cpu_time), event.count))
        rule = "-" * len(lines[0])
        lines = ([header] if header else []) + [rule, lines[0], rule] + lines[1:] + [rule]
        return "\n".join(lines + ["Self CPU time total: " + _shown(total), ""])

    def total_average(self):
        """All of them as one."""
        return FunctionEventAvg("Total", sum(e.count for e in self), sum(e.self_cpu_time_total for e in self),
                                sum(e.self_cpu_time_total for e in self))

    def __str__(self):
        return self.table()


def _shown(microseconds):
    for limit, unit, scale in ((1e3, "us", 1.0), (1e6, "ms", 1e-3)):
        if microseconds < limit:
            return "%.3f%s" % (microseconds * scale, unit)
    return "%.3fs" % (microseconds * 1e-6)


class profile:
    """A context that records what this thread runs: `with profile() as p: ...; print(p.key_averages().table())`."""

    def __init__(self, enabled=True, *, use_cuda=False, record_shapes=False, with_flops=False, profile_memory=False,
                 with_stack=False, with_modules=False, use_kineto=False, use_cpu=True):
        self.enabled, self._shapes = enabled, record_shapes
        self._profile, self._regions = None, []

    def __enter__(self):
        if self.enabled:
            self._profile = _C.Profile()
            self._start = time.monotonic()
            self._before = _C._record_into(self._profile)
            _recording.append(self)
        return self

    def __exit__(self, *error):
        if self.enabled:
            _C._record_into(self._before)
            _recording.remove(self)
        return False

    def _add_region(self, name, start, end):
        self._regions.append((name, start, end))

    def _check(self):
        if self._profile is None:
            raise RuntimeError("Profiler didn't finish running")

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """An EventList with an entry for each operator (with `group_by_input_shape` and its inputs) and region."""
        self._check()
        found = {}
        for row in json.loads(self._profile.text("json"))["rows"]:
            shapes = row["inputs"] if group_by_input_shape else ""
            _, count, total = found.get((row["op"], shapes), (None, 0, 0.0))
            found[row["op"], shapes] = (shapes, count + row["count"], total + row["ms"] * 1e3)
        for name, begin, end in self._profile.calls:
            _, count, total = found.get((name, ""), (None, 0, 0.0))
            found[name, ""] = ("", count + 1, total + (end - begin) * 1e-3)
        events = [FunctionEventAvg(name, count, total, total, shapes)
                  for (name, shapes), (_, count, total) in found.items()]
        regions = {}
        for name, start, end in self._regions:
            count, total = regions.get(name, (0, 0.0))
            regions[name] = (count + 1, total + (end - start) * 1e6)
        events += [FunctionEventAvg(name, count, total, 0.0) for name, (count, total) in regions.items()]
        return EventList(events)

    @property
    def function_events(self):
        """As key_averages, by inputs."""
        return self.key_averages(True)

    @property
    def self_cpu_time_total(self):
        """Microseconds of all operators together."""
        return self.total_average().self_cpu_time_total

    def total_average(self):
        """All as one."""
        return self.key_averages().total_average()

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, header=None, top_level_events_only=False):
        """As a text."""
        return self.key_averages().table(sort_by, row_limit, max_src_column_width, header)

    def export_chrome_trace(self, path):
        """Writes each run, for chrome://tracing."""
        self._check()
        trace = json.loads(self._profile.text("trace"))
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        calls = [(name, begin * 1e-9, end * 1e-9, "cpu_op") for name, begin, end in self._profile.calls]
        for name, start, end, kind in calls + [region + ("user_annotation",) for region in self._regions]:
            events.append({"name": name, "ph": "X", "cat": kind, "pid": 0, "tid": 0,
                           "ts": (start - self._start) * 1e6, "dur": (end - start) * 1e6})
        with open(path, "w") as file:
            json.dump(events, file)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes folded stacks, for flame graphs."""
        self._check()
        with open(path, "w") as file:
            file.write(self._profile.text("folded"))

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self._profile is None else self.table()

    __repr__ = __str__


class emit_nvtx:
    """Marks for NVIDIA's tools: there is no such device, so nothing."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False
