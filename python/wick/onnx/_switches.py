"""What export() can be asked for, and whether one goes on."""
import contextlib
import enum
import threading

_thread = threading.local()


class TrainingMode(enum.Enum):
    """In which mode a module is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.Enum):
    """What becomes of operators: nodes of ONNX. The others are names that export() refuses."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


@contextlib.contextmanager
def exporting():
    """A context in which this thread exports."""
    before = is_in_onnx_export()
    _thread.exporting = True
    try:
        yield
    finally:
        _thread.exporting = before


def is_in_onnx_export():
    """Whether this thread exports."""
    return getattr(_thread, "exporting", False)
