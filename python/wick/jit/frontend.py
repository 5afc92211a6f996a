"""The errors of reading Python's source, under torch's names."""

from ._frontend import FrontendError


class NotSupportedError(FrontendError):
    """What programs can't have."""


class UnsupportedNodeError(NotSupportedError):
    """A statement or expression that programs can't have."""
