"""Calls of modules with other parameters and buffers than their own."""
import contextlib
import warnings

import wick

__all__ = ['functional_call']


def _held(module, path):
    """The module that holds what a path names, and its last name."""
    *outer, name = path.split('.')
    for part in outer:
        module = getattr(module, part)
    return module, name


def _replacing_class(cls, values, paths):
    """A class whose attributes in ``paths`` are read from and written to ``values``."""
    def read(self, name):
        return values[paths[name]] if name in paths else cls.__getattribute__(self, name)

    def write(self, name, value):
        if name in paths:
            values[paths[name]] = value
        else:
            cls.__setattr__(self, name, value)
    return type('StatelessReplacer' + cls.__name__, (cls,), {'__getattribute__': read, '__setattr__': write})


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers):
    """Within it the module and those that it holds have these tensors."""
    replaced, seen = {}, {}
    for path, tensor in parameters_and_buffers.items():
        holder, name = _held(module, path)
        replaced.setdefault(holder, {})[name] = path
        before = getattr(holder, name, None)
        if before is not None and seen.setdefault(id(before), tensor) is not tensor:
            warnings.warn('functional_call was passed multiple values for tied weights. This behavior is deprecated '
                          'and will be an error in future versions')
    classes = {holder: type(holder) for holder in replaced}
    try:
        for holder, paths in replaced.items():
            holder.__class__ = _replacing_class(classes[holder], parameters_and_buffers, paths)
        yield
    finally:
        for holder, cls in classes.items():
            object.__setattr__(holder, '__class__', cls)


def functional_call(module, parameters_and_buffers, args, kwargs=None):
    """What the module gives for ``args``, a tuple or a single argument, with the tensors that
    ``parameters_and_buffers`` has by their names in the place of its own.

    What the call writes to a buffer that is named there is put into the dict.
    """
    if wick.jit.is_tracing() or wick.jit.is_scripting() or isinstance(module, (
            wick.jit.RecursiveScriptModule, wick.jit.ScriptModule, wick.jit.ScriptFunction)):
        raise RuntimeError("The stateless API can't be used with Jitted modules")
    with _reparametrize_module(module, parameters_and_buffers):
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
