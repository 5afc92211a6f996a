"""Export of modules and functions to models of ONNX: docs/onnx.md."""
from ._export import (  # noqa: F401
    export, export_to_pretty_string, register_custom_op_symbolic, select_model_mode_for_export,
    unregister_custom_op_symbolic,
)
from ._switches import OperatorExportTypes, TrainingMode, is_in_onnx_export  # noqa: F401
from . import _control, _containers, _symbolic, errors, operators, symbolic_helper  # noqa: F401
from .errors import CheckerError  # noqa: F401

producer_name = "wick"


def __getattr__(name):
    """symbolic_opset9 ... 17: the functions that export operators, by the operators' names."""
    if name.startswith("symbolic_opset") and name[14:].isdigit() and 9 <= int(name[14:]) <= 17:
        return _symbolic.TABLE
    raise AttributeError("module 'wick.onnx' has no attribute %r" % name)
