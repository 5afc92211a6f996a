"""What is said of a name that wick has not: that torch has it, or which name was meant."""
import difflib

# public names of PyTorch 1.13 and 2.x
_OF_TORCH = frozenset("""
    attr compile compiled_with_cxx11_abi eig export func functional get_device_module has_cuda has_cudnn has_lapack
    has_mkl has_mkldnn has_openmp hsmm hspmm is_anomaly_enabled library lobpcg lstsq lu masked matrix_rank mps mtia
    nested package parse_ir pca_lowrank quantized_gru_cell quantized_lstm_cell quasirandom return_types
    saddmm set_anomaly_enabled set_default_device smm solve sparse sparse_bsc_tensor sparse_bsr_tensor
    sparse_compressed_tensor spmm sspaddmm storage svd_lowrank vmap xpu BFloat16Storage BoolStorage ByteStorage
    CharStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage ShortStorage Storage Stream Tag
    TypedStorage UntypedStorage
""".split())


def message(name, names):
    """The text of the error for ``name``, where there are ``names``."""
    text = "module 'wick' has no attribute {!r}".format(name)
    if name in _OF_TORCH:
        return text + ": torch has it, wick has not; see docs/python.md"
    near = difflib.get_close_matches(name, names, 1, 0.8)
    return text + ". Did you mean {!r}?".format(near[0]) if near else text
