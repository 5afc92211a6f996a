"""What is said of a name that wick has not: that torch has it, or which name was meant."""
import difflib

# public names of PyTorch 1.13 and 2.x
_OF_TORCH = frozenset("""
    attr batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
    batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats ccol_indices_copy col_indices_copy
    compile compiled_with_cxx11_abi cpp crow_indices_copy cudnn_affine_grid_generator cudnn_batch_norm
    cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose
    cudnn_grid_sampler dsmm eig export fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation
    fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
    fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix from_file func get_device_module hsmm hspmm
    indices_copy init_num_threads library lobpcg lstsq lu masked matrix_rank merge_type_from_type_comment
    miopen_batch_norm miopen_convolution miopen_convolution_add_relu miopen_convolution_relu
    miopen_convolution_transpose miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d
    mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mps mtia native_norm nested package
    pca_lowrank quantized_gru_cell quantized_lstm_cell quantized_rnn_relu_cell quantized_rnn_tanh_cell quasirandom
    read_vitals resize_as_sparse_ return_types row_indices_copy saddmm set_default_device set_vital smm solve sparse
    sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor spmm sspaddmm svd_lowrank values_copy
    view_as_complex_copy view_as_real_copy vitals_enabled vmap xpu AggregationType ArgumentSpec BenchmarkConfig
    BenchmarkExecutionStats CallStack Capsule Code CompleteArgumentSpec ConcreteModuleType ConcreteModuleTypeBuilder
    DeepCopyMemoTable DeserializationStorageContext DispatchKey DispatchKeySet ErrorReport ExcludeDispatchKeyGuard
    FatalError FileCheck Gradient IODescriptor InterfaceType LiteScriptModule LockingLogger MobileOptimizerType
    NoopLogger OperatorInfo PyTorchFileReader PyTorchFileWriter ScriptClass ScriptClassFunction ScriptDictIterator
    ScriptDictKeyIterator ScriptListIterator ScriptModuleSerializer ScriptObject ScriptObjectProperty
    SerializationStorageContext StaticModule Stream SymFloatNode SymIntNode Tag ThroughputBenchmark
""".split())


def message(name, names):
    """The text of the error for ``name``, where there are ``names``."""
    text = "module 'wick' has no attribute {!r}".format(name)
    if name in _OF_TORCH:
        return text + ": torch has it, wick has not; see docs/python.md"
    near = difflib.get_close_matches(name, names, 1, 0.8)
    return text + ". Did you mean {!r}?".format(near[0]) if near else text
