"""Regions in which operators that Python calls get their tensors in another dtype, as PyTorch 1.13 on a processor.

While a thread is in such a region the extension hands every call of an operator to `call_cast`. What programs compute
they cast themselves, where their text says so.
"""

import functools
import warnings

from .. import _C

# Computed in the region's dtype.
_REDUCED = frozenset("""
    addbmm addmm baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc convolution einsum linear matmul mm tensordot
    _convolution linalg_multi_dot __matmul__
""".split())
# Computed in float32, whatever reduced dtype comes.
_FULL = frozenset("""
    adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits cdist
    cholesky cholesky_inverse cholesky_solve conv_transpose1d conv_transpose2d conv_transpose3d
    cosine_embedding_loss cross_entropy_loss ctc_loss fractional_max_pool2d fractional_max_pool3d geqrf grid_sampler
    grid_sampler_2d grid_sampler_3d hinge_embedding_loss huber_loss inverse istft kl_div l1_loss lu_solve
    margin_ranking_loss matrix_rank max_pool3d max_pool3d_with_indices max_unpool2d max_unpool3d mse_loss
    multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward
    nanquantile nll_loss nll_loss2d nll_loss_nd
    orgqr ormqr pinverse poisson_nll_loss polar prod qr quantile reflection_pad1d reflection_pad2d reflection_pad3d
    replication_pad1d replication_pad2d replication_pad3d smooth_l1_loss soft_margin_loss stft svd symeig trace
    triangular_solve triplet_margin_loss view_as_complex
""".split())
_FULL_FAMILIES = ("fft_", "linalg_")
_NOT_FULL = frozenset(("linalg_norm", "linalg_vector_norm", "linalg_matmul", "linalg_cross"))
# Computed in the widest dtype that comes.
_WIDEST = frozenset(("cat", "concat", "index_copy", "stack"))
_REDUCED_DTYPES = (_C.bfloat16, _C.float16)
_FLOAT = _C.float32


class _State:
    """Of a thread's regions; the extension keeps what is asked at each call."""

    cpu_dtype = _REDUCED_DTYPES[0]
    gpu_dtype = _REDUCED_DTYPES[1]
    cuda = False
    uses_cache = True
    nesting = 0


def _cast(value, dtype, from_dtypes):
    if isinstance(value, _C.Tensor):
        return value.to(dtype) if value.dtype in from_dtypes else value
    if type(value) in (list, tuple):
        return type(value)(_cast(item, dtype, from_dtypes) for item in value)
    return value


def _tensors(values):
    for value in values:
        if isinstance(value, _C.Tensor):
            yield value
        elif type(value) in (list, tuple):
            yield from _tensors(value)


def _wanted(name, args, kwargs):
    """(dtype, those that become it), or None where nothing is cast."""
    if name in _REDUCED:
        return _State.cpu_dtype, (_FLOAT,) + _REDUCED_DTYPES
    if name in _FULL or name.startswith(_FULL_FAMILIES) and name not in _NOT_FULL:
        return _FLOAT, _REDUCED_DTYPES
    if name in _WIDEST:
        given = {tensor.dtype for tensor in _tensors(list(args) + list(kwargs.values()))}
        return (_FLOAT, _REDUCED_DTYPES) if _FLOAT in given else None
    return None


def call_cast(operator, args, kwargs):
    """A call of an operator in a region."""
    wanted = _wanted(operator.__name__, args, kwargs)
    before = _C._set_autocast(False)  # casting calls operators, too
    try:
        if wanted is not None and kwargs.get("out") is None:
            args = tuple(_cast(value, *wanted) for value in args)
            kwargs = {name: _cast(value, *wanted) for name, value in kwargs.items()}
        return operator(*args, **kwargs)
    finally:
        _C._set_autocast(before)


_C._set_autocast_call(call_cast)


def _check_cpu_dtype(dtype):
    if dtype != _REDUCED_DTYPES[0]:
        raise RuntimeError("Currently, AutocastCPU only support Bfloat16 as the autocast_cpu_dtype")


class autocast:
    """A context, or decorator: `with autocast("cpu", dtype=bfloat16)`. Without CUDA "cuda" changes nothing."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if device_type not in ("cpu", "cuda", "xpu"):
            raise RuntimeError("User specified autocast device_type must be 'cuda' or 'cpu'")
        self.device = device_type
        self.fast_dtype = dtype or (_State.cpu_dtype if device_type == "cpu" else _State.gpu_dtype)
        if device_type == "cpu" and self.fast_dtype != _REDUCED_DTYPES[0]:
            warnings.warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast "
                          "only supports dtype of torch.bfloat16 currently.")
            enabled = False
        elif device_type != "cpu" and enabled:
            warnings.warn("User provided device_type of '%s', but CUDA is not available. Disabling" % device_type)
            enabled = False
        self._enabled = enabled
        self._cache_enabled = _State.uses_cache if cache_enabled is None else cache_enabled

    def __enter__(self):
        if self.device == "cpu":
            _check_cpu_dtype(self.fast_dtype)
        self._before = _C._set_autocast(self._enabled) if self.device == "cpu" else None
        self._dtype_before, _State.cpu_dtype = _State.cpu_dtype, (
            self.fast_dtype if self.device == "cpu" and self._enabled else _State.cpu_dtype)
        return self

    def __exit__(self, *error):
        _State.cpu_dtype = self._dtype_before
        if self._before is not None:
            _C._set_autocast(self._before)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def within(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return within


def custom_fwd(fwd=None, *, cast_inputs=None):
    """Of an autograd.Function's forward: outside of CUDA it stays as it is."""
    return fwd if fwd is not None else lambda function: function


def custom_bwd(bwd):
    """The same of backward."""
    return bwd


# ---- what torch has of the switch itself ----

def is_autocast_enabled():
    """Whether a region of CUDA is on."""
    return _State.cuda


def set_autocast_enabled(enabled):
    """What `is_autocast_enabled` says; there is no CUDA that would follow."""
    _State.cuda = bool(enabled)


def is_autocast_cpu_enabled():
    """Whether a region of the processor is on in this thread."""
    return _C._autocast_is_on()


def set_autocast_cpu_enabled(enabled):
    """Switches it in this thread."""
    _C._set_autocast(bool(enabled))


def get_autocast_cpu_dtype():
    """The dtype that regions of the processor compute in."""
    return _State.cpu_dtype


def set_autocast_cpu_dtype(dtype):
    """Says which; bfloat16 is what a processor takes."""
    _check_cpu_dtype(dtype)
    _State.cpu_dtype = dtype


def get_autocast_gpu_dtype():
    """The dtype that regions of CUDA would compute in."""
    return _State.gpu_dtype


def set_autocast_gpu_dtype(dtype):
    """Says which."""
    _State.gpu_dtype = dtype


def is_autocast_cache_enabled():
    """Whether casts of weights may be kept; here each call casts."""
    return _State.uses_cache


def set_autocast_cache_enabled(enabled):
    """What `is_autocast_cache_enabled` says."""
    _State.uses_cache = bool(enabled)


def clear_autocast_cache():
    """Nothing: no casts are kept."""


def autocast_increment_nesting():
    """How many contexts the thread is in, this one counted; torch drops kept casts where there is none left."""
    _State.nesting += 1
    return _State.nesting


def autocast_decrement_nesting():
    """How many are left."""
    _State.nesting -= 1
    return _State.nesting
