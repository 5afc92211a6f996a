"""What layers ask of the compiler, without the weight of wick.jit."""


def is_scripting():
    """True in compiled code, where a condition on it compiles only the side that is taken; False here."""
    return False


def unused(fn):
    """A function or method that is not compiled: compiled code that comes to it raises."""
    fn._torchscript_modifier = 'unused'
    return fn
