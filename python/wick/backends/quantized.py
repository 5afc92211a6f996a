"""``engine``: whose arithmetic quantized linear layers, convolutions and additions follow."""
import sys
import types

from wick import _C


class _Quantized(types.ModuleType):
    supported_engines = ["qnnpack", "none", "onednn", "x86", "fbgemm"]

    @property
    def engine(self):
        """'qnnpack' or 'onednn'; 'fbgemm' and 'x86' mean the latter, whose arithmetic theirs is."""
        return _C._quantized_engine()

    @engine.setter
    def engine(self, name):
        if name not in self.supported_engines or name == "none":
            raise RuntimeError("quantized engine {} is not supported".format(name))
        _C._set_quantized_engine(name)


sys.modules[__name__].__class__ = _Quantized
