"""Programs that are called in a region of autocast: each with a region of its own around it."""

from .. import _C
from ..jit import _program, _schema
from ..jit._script import ScriptFunction
from . import autocast_mode as _mode


def call(method, args, kwargs):
    """What the method gives in a region."""
    made = method.__dict__.setdefault("_in_autocast", {})
    key = (len(args), tuple(kwargs), _mode._State.cpu_dtype)
    if key not in made:
        made[key] = _within(method, *key)
    before = _C._set_autocast(False)
    try:
        return made[key](*args, **kwargs)
    finally:
        _C._set_autocast(before)


def _within(method, count, names, dtype):
    schema = _schema.parse(str(method.schema))
    parameters = schema.parameters[schema.names[:1] == ["self"]:]
    taken = parameters[:count] + [(name, kind) for name, kind in parameters[count:] if name in names]
    if len(taken) != count + len(names):
        return method  # it is refused
    builder = _program.Builder()
    builder.things["called_in_region"] = method
    text = "def within(%s):\n    with torch.autocast('cpu', dtype=%s):\n        return called_in_region(%s)\n" % (
        ", ".join("%s: %s" % each for each in taken), dtype, ", ".join("%s=%s" % (name, name) for name, _ in taken))
    return ScriptFunction(_C.compile_text(text, "<autocast>", builder.resolve, None), "within")
