"""Switches of torch's fusers that say how those generate code, of shapes and of the tracer's warnings.

One that permits what wick does anyway, or asks for what it never needs, is kept for its getter; either value is met.
Others are obeyed, or refused where they ask for something that wick has not."""


class _Switch:
    """A value with a getter and a setter that gives the value before, or None where torch's gives none."""

    def __init__(self, value, gives_before=True, only=None):
        self.value, self.gives_before, self.only = value, gives_before, only

    def get(self):
        """What was set."""
        return self.value

    def set(self, value):
        """Sets it; what it was."""
        if self.only is not None and value not in self.only[0]:
            raise RuntimeError("wick has no %s" % self.only[1])
        before, self.value = self.value, type(self.value)(value)
        return before if self.gives_before else None


def _not(what):
    return (False,), what


# Met by either value: groups may hold sums and serve all shapes; they never need LLVM, nor what runs where it is
# missing; groups of few nodes run as written; shapes are propagated alike under test.
_reductions, _dynamic_shapes = _Switch(False), _Switch(False, False)
_fallback, _test_shapes, _inlining = _Switch(False), _Switch(False), _Switch(True, False)
_llvm = _Switch(True, False)
_block_code = _Switch(False, only=_not("block code of NNC"))
_levels, _block_size, _block_count = (_Switch(-1, only=((-1,), "CUDA code of NNC")) for _ in range(3))
_horizontal, _single_node = (_Switch(False, only=_not("NVFuser")) for _ in range(2))
_autocast = _Switch(True, only=((True,), "programs without autocast: it is off where no context switches it on"))
_cat = _Switch(True, False, ((True,), "conditions in the loops of cat: what is joined is copied part by part"))
_conditionals = _Switch(False, False, _not("conditions in its loops' code that could be hoisted (opt_conditionals)"))
_tracer_warns = _Switch(True, False)


def tracer_warns():
    """Whether a trace that begins now warns of what it can't follow (`_jit_set_tracer_state_warn`)."""
    return _tracer_warns.get()


def llvm_enabled():
    """False: what wick's fuser generates is its own machine code."""
    return False


NAMES = {
    "_debug_get_fusion_group_inlining": _inlining.get, "_debug_set_fusion_group_inlining": _inlining.set,
    "_jit_cat_wo_conditionals": _cat.set, "_jit_opt_conditionals": _conditionals.set, "_llvm_enabled": llvm_enabled,
    "_jit_get_te_cuda_pointwise_block_count": _block_count.get,
    "_jit_get_te_cuda_pointwise_block_size": _block_size.get,
    "_jit_get_te_cuda_pointwise_loop_levels": _levels.get, "_jit_get_te_generate_block_code": _block_code.get,
    "_jit_get_te_must_use_llvm_cpu": _llvm.get, "_jit_nvfuser_horizontal_mode": _horizontal.get,
    "_jit_get_tracer_state_warn": tracer_warns, "_jit_set_tracer_state_warn": _tracer_warns.set,
    "_jit_nvfuser_single_node_mode": _single_node.get, "_jit_set_autocast_mode": _autocast.set,
    "_jit_set_nvfuser_horizontal_mode": _horizontal.set, "_jit_set_nvfuser_single_node_mode": _single_node.set,
    "_jit_set_symbolic_shapes_test_mode": _test_shapes.set,
    "_jit_set_te_cuda_pointwise_block_count": _block_count.set,
    "_jit_set_te_cuda_pointwise_block_size": _block_size.set,
    "_jit_set_te_cuda_pointwise_loop_levels": _levels.set, "_jit_set_te_generate_block_code": _block_code.set,
    "_jit_set_te_must_use_llvm_cpu": _llvm.set, "_jit_set_texpr_dynamic_shape_enabled": _dynamic_shapes.set,
    "_jit_set_texpr_reductions_enabled": _reductions.set,
    "_jit_symbolic_shapes_test_mode_enabled": _test_shapes.get,
    "_jit_texpr_dynamic_shape_enabled": _dynamic_shapes.get, "_jit_texpr_fallback_allowed": _fallback.get,
    "_jit_texpr_reductions_enabled": _reductions.get, "_jit_texpr_set_fallback_allowed": _fallback.set,
}
