"""autocast: operators that gain by it compute in bfloat16, those that would lose in float32."""

from .autocast_mode import autocast, custom_bwd, custom_fwd  # noqa: F401
