"""Mixed precision of CUDA, which is not there: regions warn and change nothing, GradScaler scales by 1."""

import warnings

from .. import _C
from ..amp import autocast_mode as _mode
from ..amp.autocast_mode import custom_bwd, custom_fwd  # noqa: F401


class autocast(_mode.autocast):
    """As `wick.autocast("cuda", ...)`."""

    def __init__(self, enabled=True, dtype=_C.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler:
    """Keeps small gradients from vanishing on CUDA. Here it is off: `step` steps, the rest changes nothing."""

    def __init__(self, init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
        enabled=True):
        if enabled:
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
        self._enabled = False

    def is_enabled(self):
        """False."""
        return False

    def scale(self, outputs):
        """The outputs."""
        return outputs

    def unscale_(self, optimizer):
        """Nothing: nothing was scaled."""

    def step(self, optimizer, *args, **kwargs):
        """The optimizer's step."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Nothing."""

    def get_scale(self):
        """1."""
        return 1.0

    def state_dict(self):
        """Empty."""
        return {}

    def load_state_dict(self, state_dict):
        """Nothing."""
