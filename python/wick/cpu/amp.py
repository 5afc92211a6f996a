"""autocast with the processor as its device."""

from ..amp import autocast_mode as _mode


class autocast(_mode.autocast):
    """As `wick.autocast("cpu", ...)`."""

    def __init__(self, enabled=True, dtype=_mode._REDUCED_DTYPES[0], cache_enabled=True):
        super().__init__("cpu", dtype, enabled, cache_enabled)
