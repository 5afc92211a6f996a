"""All rows, by the operators' names, as torch's modules symbolic_opset9 and so on have them."""
import types

from . import _rows
from . import (  # noqa: F401
    _symbolic_index, _symbolic_loss, _symbolic_math, _symbolic_nn, _symbolic_reduce, _symbolic_rnn, _symbolic_shape,
    _symbolic_vision,
)


class _Table(types.ModuleType):
    def __getattr__(self, name):
        found = _rows.ROWS.get("aten::" + name)
        if found is None:
            raise AttributeError("there is no operator %s that is exported" % name)
        return found

    def __dir__(self):
        return sorted(name[6:] for name in _rows.ROWS if name.startswith("aten::"))


TABLE = _Table("wick.onnx.symbolic_opset", __doc__)
