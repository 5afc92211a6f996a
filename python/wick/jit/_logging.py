"""torch.jit._logging: counters by name, to which programs of Python add."""

import time

SUM, AVG = "SUM", "AVG"


class AggregationType:
    """How the numbers of a counter become one."""

    SUM, AVG = SUM, AVG


class LockingLogger:
    """Counters that any thread may add to."""

    def __init__(self):
        import threading
        self._lock, self._counts, self._ways = threading.Lock(), {}, {}

    def add_stat_value(self, name, value):
        """Adds a number to a counter."""
        with self._lock:
            known = self._counts.setdefault(name, [0, 0])
            known[0] += value
            known[1] += 1

    def set_aggregation_type(self, name, way):
        """Whether a counter gives the sum of its numbers or their mean."""
        if way not in (SUM, AVG):
            raise ValueError("%r is no way to aggregate" % (way,))
        self._ways[name] = way

    def get_counter_val(self, name):
        """What a counter has come to."""
        total, count = self._counts.get(name, (0, 0))
        return int(total / count) if count and self._ways.get(name) == AVG else total


class NoopLogger:
    """Counts nothing."""

    def add_stat_value(self, name, value):
        """Nothing."""

    def set_aggregation_type(self, name, way):
        """Nothing."""

    def get_counter_val(self, name):
        """0"""
        return 0


_logger = NoopLogger()


def set_logger(logger):
    """Where numbers go from now on; where they went."""
    global _logger
    before, _logger = _logger, logger
    return before


def add_stat_value(name, value):
    """Adds a number to a counter of the logger."""
    _logger.add_stat_value(name, value)


def time_point():
    """Now, in nanoseconds."""
    return time.perf_counter_ns()
