"""torch's switches of executors and fusers. Each is obeyed, or refused with what wick has not."""

from .. import _C


class _Switches:
    """What was set, as torch's getters give it."""

    profiling_executor = profiling_mode = optimize = True
    profiled_runs, bailout_depth = 1, 20
    strategy = [("STATIC", 2), ("DYNAMIC", 10)]
    fuse_on_cpu = texpr = True
    fuse_on_gpu = False
    synchronous = small_derivatives = False


_set = _Switches()


def _apply_executor():
    if not _set.profiling_executor:
        name = "specializing"
    else:
        name = "profiling" if _set.profiling_mode else "simple"
    changed = {} if _set.profiled_runs == 1 else {"profiled_runs": _set.profiled_runs}
    if _set.bailout_depth != 20:
        changed["bailout_depth"] = _set.bailout_depth
    if _set.small_derivatives:
        changed["small_derivatives"] = True
    _C.set_executor(name, _set.synchronous, **changed)


def _apply_fuser():
    _C.set_backend("cpu", None if _set.fuse_on_cpu and _set.texpr else "none")


def _switch(name, value, apply):
    before = getattr(_set, name)
    setattr(_set, name, value)
    try:
        apply()
    except Exception:
        setattr(_set, name, before)
        raise
    return before


def set_profiling_executor(enabled):
    """Whether programs run in the profiling executor; else in the specializing one. How it was."""
    return _switch("profiling_executor", bool(enabled), _apply_executor)


def set_profiling_mode(enabled):
    """Whether the profiling executor watches calls; else programs run as written. How it was."""
    return _switch("profiling_mode", bool(enabled), _apply_executor)


def get_num_profiled_runs():
    """How many calls are watched before a plan is made."""
    return _set.profiled_runs


def set_num_profiled_runs(count):
    """How many calls are watched before a plan is made. How many it were."""
    if not 0 < count < 1 << 32:
        raise ValueError("%r profiled runs" % (count,))
    return _switch("profiled_runs", count, _apply_executor)


def set_bailout_depth(depth):
    """How often calls are watched again after assumptions failed. How often it was."""
    if not 0 < depth < 1 << 32:
        raise ValueError("a bailout depth of %r" % (depth,))
    return _switch("bailout_depth", depth, _apply_executor)


def set_autodiff_subgraph_inlining(enabled):
    """False: parts of a single node, too, have backward graphs of their own in plans."""
    _switch("small_derivatives", not enabled, _apply_executor)


def set_fusion_strategy(strategy):
    """How often a function is specialized anew: pairs of "STATIC" or "DYNAMIC" and a number. wick's plans assume
    ranks and dtypes, not sizes, so that both are the same to it: the numbers' sum is the depth. What it was."""
    strategy = [(kind, count) for kind, count in strategy]
    for kind, count in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise RuntimeError("FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: %s" % kind)
        if not isinstance(count, int) or count < 0:
            raise TypeError("set_fusion_strategy: %r is no number" % (count,))
    set_bailout_depth(max(1, sum(count for _, count in strategy)))
    before, _set.strategy = _set.strategy, strategy
    return before


def get_optimize(new=None):
    """Whether plans are optimized; with an argument sets it, too."""
    before = _set.optimize
    if new is not None:
        set_optimize(new)
    return before


def set_optimize(enabled):
    """Whether plans are optimized."""
    _C.set_optimize(bool(enabled))
    _set.optimize = bool(enabled)


class optimized_execution:
    """A context in which plans are optimized, or are not."""

    def __init__(self, should_optimize):
        self.should_optimize = should_optimize

    def __enter__(self):
        self._before = get_optimize(self.should_optimize)
        return self

    def __exit__(self, *error):
        set_optimize(self._before)
        return False


# ---- fusers ----

def can_fuse_on_cpu():
    """Whether groups of operators run as one on the processor."""
    return _set.fuse_on_cpu


def can_fuse_on_gpu():
    """Whether they do on other devices."""
    return _set.fuse_on_gpu


def override_can_fuse_on_cpu(enabled):
    """Whether groups of operators run as one on the processor."""
    _switch("fuse_on_cpu", bool(enabled), _apply_fuser)


def override_can_fuse_on_gpu(enabled):
    """Whether they do on devices of the kind cuda."""
    _C.set_backend("cuda", None if enabled else "none")
    _set.fuse_on_gpu = bool(enabled)


def set_texpr_fuser_enabled(enabled):
    """Whether groups of operators run as one."""
    _switch("texpr", bool(enabled), _apply_fuser)


def texpr_fuser_enabled():
    """Whether groups of operators run as one."""
    return _set.texpr


def _refuse(what):
    def refuse(enabled):
        """Refused when it is to be switched on."""
        if enabled:
            raise RuntimeError("wick has no %s" % what)
        return False
    return refuse


set_nvfuser_enabled = _refuse("NVFuser")
set_llga_enabled = enable_onednn_fusion = _refuse("fuser of oneDNN Graph")


def onednn_fusion_enabled():
    """False: there is no such fuser."""
    return False


class fuser:
    """A context with one of torch's fusers: "fuser0" and "fuser1" are wick's own; "fuser2" (NVFuser) and "fuser3"
    (oneDNN Graph) are refused; "none": operators run one by one."""

    _known = {"none": False, "fuser0": True, "fuser1": True, "fuser2": "NVFuser (fuser2)",
              "fuser3": "fuser of oneDNN Graph (fuser3)"}

    def __init__(self, name):
        known = self._known.get(name)
        if known is None:
            raise Exception("unrecognized fuser option (name: %s)" % name)
        if isinstance(known, str):
            raise RuntimeError("wick has no %s" % known)
        self._on = known

    def __enter__(self):
        self._before = _set.fuse_on_cpu, _set.texpr, _set.profiling_executor, _set.profiling_mode
        override_can_fuse_on_cpu(self._on)
        set_texpr_fuser_enabled(self._on)
        if self._on and not (_set.profiling_executor and _set.profiling_mode):
            set_profiling_executor(True)
            set_profiling_mode(True)
        return self

    def __exit__(self, *error):
        cpu, texpr, executor, mode = self._before
        override_can_fuse_on_cpu(cpu)
        set_texpr_fuser_enabled(texpr)
        if (executor, mode) != (_set.profiling_executor, _set.profiling_mode):
            set_profiling_executor(executor)
            set_profiling_mode(mode)
        return False


class strict_fusion:
    """In programs: once the program has its plan, calls raise where an operator within was not fused, by name."""

    def __init__(self):
        import warnings
        warnings.warn("Only works in script mode")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


NAMES = {
    "_debug_set_autodiff_subgraph_inlining": set_autodiff_subgraph_inlining,
    "_jit_set_profiling_executor": set_profiling_executor, "_jit_set_profiling_mode": set_profiling_mode,
    "_jit_set_num_profiled_runs": set_num_profiled_runs, "_jit_get_num_profiled_runs": get_num_profiled_runs,
    "_jit_set_bailout_depth": set_bailout_depth, "_jit_set_fusion_strategy": set_fusion_strategy,
    "_get_graph_executor_optimize": get_optimize, "_set_graph_executor_optimize": set_optimize,
    "_jit_can_fuse_on_cpu": can_fuse_on_cpu, "_jit_can_fuse_on_gpu": can_fuse_on_gpu,
    "_jit_can_fuse_on_cpu_legacy": can_fuse_on_cpu, "_jit_override_can_fuse_on_cpu": override_can_fuse_on_cpu,
    "_jit_override_can_fuse_on_cpu_legacy": override_can_fuse_on_cpu,
    "_jit_override_can_fuse_on_gpu": override_can_fuse_on_gpu,
    "_jit_set_texpr_fuser_enabled": set_texpr_fuser_enabled, "_jit_texpr_fuser_enabled": texpr_fuser_enabled,
    "_jit_set_nvfuser_enabled": set_nvfuser_enabled, "_jit_nvfuser_enabled": onednn_fusion_enabled,
    "_jit_nvfuser_can_be_enabled": onednn_fusion_enabled, "_jit_set_llga_enabled": set_llga_enabled,
    "_jit_llga_enabled": onednn_fusion_enabled}
