"""Errors of the export to ONNX."""


class OnnxExporterError(RuntimeError):
    """A program that can't be exported."""


class OnnxExporterWarning(UserWarning):
    """A warning of the export."""


class UnsupportedOperatorError(OnnxExporterError):
    """Operators that have no counterpart in ONNX, all that the program has, each with its place in the source."""

    def __init__(self, places, version):
        self.operators = sorted(places)
        names = "".join("\n  %s%s" % (name, " at " + places[name] if places[name] else "") for name in self.operators)
        super().__init__("ONNX export of %d operator%s to opset %d is not supported:%s\n"
                         "register_custom_op_symbolic() says how an operator is exported; see docs/onnx.md" % (
                             len(places), "" if len(places) == 1 else "s", version, names))


class SymbolicValueError(OnnxExporterError):
    """What is known of a value does not suffice for exporting what is done with it."""

    def __init__(self, message, value=None):
        super().__init__(message)
        self.value = value


class CheckerError(OnnxExporterError):
    """A model that is not valid."""
