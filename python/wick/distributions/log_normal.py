"""LogNormal."""
from .transformed_distribution import LogNormal  # noqa: F401
