"""wick for Python: TorchScript and tensors without torch, under torch's names.

A program written for ``torch`` runs after ``import wick as torch`` as far as wick's operators go. Functions and
methods are the rows of wick's registry, found when they are first used; ``help(wick.add)`` shows an operator's
schemas, shapes and errors.
"""
import builtins as _builtins
import sys as _sys

from . import _C
from ._C import (  # noqa: F401
    Generator, Size, Tensor, as_tensor, device, dtype, from_dlpack, get_default_dtype, get_num_threads,
    is_grad_enabled, is_inference_mode_enabled, layout, memory_format, set_default_dtype, set_num_threads,
    set_torch_version, tensor, torch_version,
)

__version__ = "1.13.1+wick" + _C.__version__  # what torch it is like, and its own

for _name, _value in list(vars(_C).items()):
    if isinstance(_value, (dtype, layout, memory_format)):
        globals()[_name] = _value
del _name, _value



def _internal(name):
    """Names of torch._C that need wick.jit, when they are first asked for."""
    if name.startswith("__"):
        raise AttributeError("module 'wick._C' has no attribute %r" % name)
    from .jit import _internals, _missing
    found = _internals.find(name)
    if found is None:
        why = _missing.why(name)
        raise AttributeError("module 'wick._C' has no attribute %r%s" % (name, ": " + why if why else ""))
    setattr(_C, name, found)
    return found


_C.__getattr__ = _internal

from . import _tensor  # noqa: E402,F401  (methods that Tensor has beside its operators)
from . import _override  # noqa: E402,F401
from ._functions import *  # noqa: E402,F401,F403
from . import autograd  # noqa: E402,F401
from .autograd import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402,F401
from .random import (  # noqa: E402,F401
    default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state,
)
from .serialization import load, save  # noqa: E402,F401
from ._tensor_str import set_printoptions  # noqa: E402,F401
from ._ops import ops  # noqa: E402,F401
from ._switches import *  # noqa: E402,F401,F403
from ._norm import norm  # noqa: E402,F401
from ._cells import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell  # noqa: E402,F401

# Modules that few programs need are imported when they are first named.
_LAZY_MODULES = frozenset((
    "__config__", "amp", "ao", "backends", "classes", "cpu", "cuda", "distributed", "distributions", "fft",
    "futures", "functional", "fx", "hub", "jit", "linalg", "multiprocessing", "nn", "onnx", "optim", "overrides",
    "profiler", "quantization", "runtime", "special", "storage", "testing", "utils", "version",
))
_LAZY_NAMES = dict.fromkeys((
    "autocast", "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "get_autocast_cpu_dtype", "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_enabled", "set_autocast_gpu_dtype",
), ".amp.autocast_mode")
_LAZY_NAMES.update(dict.fromkeys((
    "per_channel_affine", "per_channel_affine_float_qparams", "per_channel_symmetric", "per_tensor_affine",
    "per_tensor_symmetric", "qscheme",
), "._qscheme"))
_LAZY_NAMES.update(dict.fromkeys((
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor",
    "IntTensor", "LongTensor", "ShortTensor", "set_default_tensor_type",
), "._tensor_types"))
_LAZY_NAMES.update(dict.fromkeys((
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage", "ComplexFloatStorage",
    "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage", "LongStorage", "ShortStorage", "Storage",
    "TypedStorage", "UntypedStorage",
), ".storage"))
_LAZY_NAMES.update(dict.fromkeys((
    "has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps", "has_openmp", "has_spectral",
    "is_vulkan_available",
), "._has"))
_LAZY_NAMES.update(dict.fromkeys((
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled",
), ".autograd.anomaly"))
_LAZY_NAMES.update(dict.fromkeys(("fork", "wait"), ".jit"))
_LAZY_NAMES.update(dict.fromkeys((  # that torch takes from torch._C
    "AliasDb", "AnyType", "Argument", "Block", "BoolType", "BufferDict", "ClassType", "CompilationUnit",
    "ComplexType", "DeviceObjType", "DictType", "DisableTorchFunction", "EnumType", "ExecutionPlan", "FloatType",
    "FunctionSchema", "Future", "FutureType", "Graph", "GraphExecutorState", "InferredType", "IntType",
    "JITException", "ListType", "ModuleDict", "Node", "NoneType", "NumberType", "OptionalType", "ParameterDict",
    "PyObjectType", "RRefType", "ScriptDict", "ScriptFunction", "ScriptList", "ScriptMethod", "ScriptModule",
    "StreamObjType", "StringType", "SymIntType", "TensorType", "TracingState", "TupleType", "Type", "UnionType",
    "Use", "Value", "import_ir_module", "import_ir_module_from_buffer", "parse_ir", "parse_schema",
    "parse_type_comment", "unify_type_list",
), "._C"))


def __getattr__(name):
    """Operators of the registry and submodules, kept once they were asked for."""
    if name in _LAZY_MODULES:
        import importlib
        try:
            found = importlib.import_module("." + name, __name__)
        except ModuleNotFoundError as error:
            if error.name != __name__ + "." + name:
                raise
            raise _no_such_name(name) from None
    elif name in _LAZY_NAMES:
        import importlib
        found = getattr(importlib.import_module(_LAZY_NAMES[name], __name__), name)
    elif name.startswith("__"):
        raise AttributeError("module 'wick' has no attribute %r" % name)
    else:
        try:
            found = _C.operator("aten::" + name)
        except AttributeError:
            raise _no_such_name(name) from None
        if not found.is_callable:
            raise _no_such_name(name)
    setattr(_sys.modules[__name__], name, found)
    return found


def _no_such_name(name):
    from ._absent import message
    return AttributeError(message(name, __dir__()))


def __dir__():
    names = _builtins.set(globals()) | _LAZY_MODULES | _builtins.set(_LAZY_NAMES)
    names.update(name[6:] for name in _C.operator_names() if name.startswith("aten::"))
    return _builtins.sorted(names)  # some operators have names of Python's functions
