"""What programs have become, for people who look: plans, traces as graphs, profiles by line."""

import contextlib

from .. import _C
from . import _graph


# ---- plans ----

class ExecutorState:
    """What a function's executor has made, as torch's get_debug_state gives it."""

    def __init__(self, function):
        _C.wait_for_plans()
        self.graph = function.graph
        plan = function.plan_graph()
        self.fallback = ExecutionPlan(function.inlined_graph)
        self.execution_plans = {} if plan is None else {"newest": ExecutionPlan(plan)}


class ExecutionPlan:
    """A graph that calls run in."""

    def __init__(self, graph):
        self.graph = graph


def last_executed_optimized_graph():
    """The graph that the call of a program that Python made last ran in."""
    last = _C.last_called()
    if last is None:
        raise RuntimeError("no program was called, or it is gone")
    from ._script import ScriptFunction
    if not isinstance(last, ScriptFunction):
        last = ScriptFunction(last, "forward")
    return last.last_graph()


# ---- traces ----

def _get_trace_graph(f, args=(), kwargs=None, strict=True, _force_outplace=False, return_inputs=False,
                     _return_inputs_states=False):
    """The graph of what f does with such arguments, its result, and with return_inputs the arguments."""
    from . import _trace
    if kwargs:
        raise NotImplementedError("_get_trace_graph: arguments by name")
    args = args if isinstance(args, tuple) else (args,)
    results = []

    def traced(*values):
        results.append(f(*values))
        return results[-1]
    if hasattr(f, "_parameters"):
        graph, out = _module_graph(f, args, strict, _force_outplace)
    else:
        made = _trace.trace(traced, args, check_trace=False, strict=strict, _force_outplace=_force_outplace)
        graph, out = made.graph.copy(), results[0]
    return (graph, out, args) if return_inputs else (graph, out)


def _module_graph(module, args, strict, force_outplace):
    from . import _trace
    results = []
    hook = module.register_forward_hook(lambda module, given, result: results.append(result))
    try:
        made = _trace.trace(module, args, check_trace=False, strict=strict, _force_outplace=force_outplace)
    finally:
        hook.remove()
    graph, _ = made._script_handle.lower("forward")
    return graph, results[0]


@contextlib.contextmanager
def _hide_source_ranges():
    before = _graph.Graph.global_print_source_ranges()
    _graph.Graph.set_global_print_source_ranges(False)
    try:
        yield
    finally:
        _graph.Graph.set_global_print_source_ranges(before)


# ---- time by line ----

class _ScriptProfile:
    """How long the lines of programs took that ran between enable() and disable()."""

    def __init__(self):
        self._profile = self._limits = None

    def enable(self):
        """Records from now on."""
        from .. import runtime
        if self._limits is not None:
            return
        if self._profile is None:
            self._profile = runtime.Profile()
        self._limits = runtime.limits(profile=self._profile)
        self._limits.__enter__()

    def disable(self):
        """Records no more."""
        if self._limits is not None:
            self._limits.__exit__()
            self._limits = None

    def _lines(self):
        import json
        if self._profile is None:
            return {}
        sums = {}
        for row in json.loads(self._profile.text("json"))["rows"]:
            file, line, _ = (row["places"].split(" < ")[0].rsplit(":", 2) + ["", ""])[:3]
            known = sums.setdefault((file, int(line or 0)), [0, 0.0])
            known[0] += row["count"]
            known[1] += row["ms"] * 1e3
        return sums

    def dump_string(self):
        """A table: the source of every file that ran, with how often and how long each line did."""
        import linecache
        rows = []
        sums = self._lines()
        for file in sorted({file for file, _ in sums}):
            lines = sorted(line for name, line in sums if name == file)
            rows.append("%6s %10s %12s  %s" % ("Line", "Hits", "Time (us)", file or "<string>"))
            for line in range(lines[0], lines[-1] + 1):
                count, time = sums.get((file, line), ("", ""))
                rows.append("%6d %10s %12s  %s" % (line, count, "%.1f" % time if time != "" else "",
                                                  linecache.getline(file, line).rstrip()))
        return "\n".join(rows) + "\n"

    def dump(self):
        """Prints the table."""
        print(self.dump_string())


NAMES = {"_last_executed_optimized_graph": last_executed_optimized_graph, "GraphExecutorState": ExecutorState,
         "ExecutionPlan": ExecutionPlan}
