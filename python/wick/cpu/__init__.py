"""What torch.cpu has: autocast of the processor."""

from . import amp  # noqa: F401
