"""Saving, loading and freezing."""

import io
import os

from .. import _C
from . import _recursive
from ._module import ScriptModule, wrap_module


def save(m, f, _extra_files=None):
    """Saves a compiled function or module."""
    m.save(f, _extra_files)


def load(f, map_location=None, _extra_files=None, *, allow_ops=None, mapped=False, max_bytes=0, deadline=None,
         max_steps=0, share_weights=False, torch_version=None):
    """A module of an archive, of a path or of a file that is open for bytes. `map_location`: what takes the place of
    devices that are not here. Of `_extra_files` the values are replaced by what the archive has.

    allow_ops: names of the operators that its program may use; mapped: tensors stay in the file; max_bytes, deadline
    (seconds), max_steps: what reading and compiling may take; share_weights: with equal tensors of other modules;
    torch_version: "1.13" or "2", whose operators the program means; None: as the file says."""
    return wrap_module(load_handle(
        f, map_location, _extra_files, mapped, None if allow_ops is None else "\n".join(allow_ops), max_bytes,
        0 if deadline is None else max(1, int(deadline * 1e9)), max_steps, share_weights, torch_version))


def load_handle(f, map_location=None, extra_files=None, *limits):
    """The module of an archive, of a path, of bytes or of a file that is open for them."""
    if isinstance(f, bytes):
        f = io.BytesIO(f)
    data = f.read() if hasattr(f, "read") else os.fspath(f)
    if isinstance(data, str) and not os.path.exists(data):
        raise ValueError("The provided filename %s does not exist" % data)
    devices = "*=%s" % (map_location,) if map_location is not None else None
    handle = _C.load_program(data, devices, *limits)
    for name in extra_files or ():
        content = handle.extra_file(name)
        if content is not None:
            extra_files[name] = content
    return handle


def export_opnames(m):
    """The names of the operators that a compiled module's methods call, sorted."""
    return sorted({name for name, _, _ in m._script_handle.operators()})


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """A copy of a compiled module with its attributes as constants; the module must be in evaluation mode."""
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace "
                           "to script your 'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on "
                           "your module before freezing.")
    return wrap_module(mod._script_handle.freeze(list(preserved_attrs or ()), not optimize_numerics), True)


def optimize_for_inference(mod, other_methods=None):
    """A frozen module; plans of calls fold and fuse what can be."""
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("optimize_for_inference expects a ScriptModule as input. Please use wick.jit.script or "
                           "wick.jit.trace to script your 'nn.Module'.")
    return freeze(mod.eval(), other_methods) if mod.__dict__.get("_kind") is not None or mod.training else mod


def run_frozen_optimizations(mod, optimize_numerics=True, preserved_methods=None):
    """Nothing to do: plans of a frozen module are optimized when it is called."""


def from_torch(module):
    """A torch.nn.Module compiled by wick; torch must be installed. Tensors are shared where they are on the CPU."""
    if not hasattr(module, "_parameters"):
        raise TypeError("from_torch expects a torch.nn.Module, not %s" % type(module).__name__)
    return _recursive.create(module)
