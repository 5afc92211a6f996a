"""torch.jit._state: whether functions are compiled at all."""

import os


class EnabledProxy:
    """Whether script compiles; PYTORCH_JIT=0 in the environment: it gives back what it is given."""

    def __init__(self):
        self.enabled = os.environ.get("PYTORCH_JIT", "1").lower() not in ("0", "false", "no", "off")

    def __bool__(self):
        return self.enabled


_enabled = EnabledProxy()


def disable():
    """From now on script gives back what it is given."""
    _enabled.enabled = False


def enable():
    """From now on script compiles."""
    _enabled.enabled = True
