"""Anomaly detection of torch, which finds where a gradient fails. Here errors name the operator without it, and
gradients are not searched for NaN: switching it on warns, and is kept for ``is_anomaly_enabled``."""
import warnings

_is_on, _checks_nan = False, True


def is_anomaly_enabled():
    """What was set."""
    return _is_on


def is_anomaly_check_nan_enabled():
    """What was set of ``check_nan``."""
    return _checks_nan


def set_anomaly_enabled(enabled, check_nan=True):
    """Switches nothing; on, it warns."""
    global _is_on, _checks_nan
    if enabled:
        warnings.warn("wick does not search gradients for NaN: anomaly detection changes nothing")
    _is_on, _checks_nan = enabled, check_nan


class set_detect_anomaly:
    """``set_anomaly_enabled`` as a call or a context."""

    def __init__(self, mode, check_nan=True):
        self._before = _is_on, _checks_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *error):
        global _is_on, _checks_nan
        _is_on, _checks_nan = self._before
        return False


class detect_anomaly(set_detect_anomaly):
    """The same, on, as a context alone."""

    def __init__(self, check_nan=True):
        self._check_nan = check_nan

    def __enter__(self):
        super().__init__(True, self._check_nan)
