"""Special functions: ``special.erf`` is the operator ``aten::special_erf``."""
from ._namespace import lazily

__getattr__, __dir__ = lazily(__name__, "special")
