"""optimize_for_mobile: a program with its weights as constants, for inference."""

import enum


class MobileOptimizerType(enum.Enum):
    """Steps that torch's can leave out; wick's plans make their like whenever a program runs."""

    CONV_BN_FUSION = 1
    INSERT_FOLD_PREPACK_OPS = 2
    REMOVE_DROPOUT = 3
    FUSE_ADD_RELU = 4
    HOIST_CONV_PACKED_PARAMS = 5


def optimize_for_mobile(script_module, optimization_blocklist=None, preserved_methods=None, backend="CPU"):
    """The module frozen, in evaluation mode, with the methods that are named besides forward."""
    from ..jit import ScriptModule, freeze
    if not isinstance(script_module, ScriptModule):
        raise TypeError("Got %s, but ScriptModule is expected." % type(script_module))
    if backend.lower() != "cpu":
        raise TypeError("Unknown backend, must be one of 'CPU'")
    names = [name if isinstance(name, str) else name.__name__ for name in preserved_methods or ()]
    for name in names:
        if not hasattr(script_module, name):
            raise AttributeError("One or more of the preserved methods is not there: %s" % name)
    return freeze(script_module.eval(), names)
