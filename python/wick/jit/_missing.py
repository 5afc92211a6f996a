"""Names of torch._C that wick has not, and why: what an AttributeError says of them."""

_REASONS = (
    (("_jit_pass_onnx", "_jit_onnx", "_jit_pass_fixup_onnx", "_jit_pass_prepare_division_for_onnx", "_jit_is_onnx",
      "_jit_set_onnx", "_check_onnx_proto", "_onnx"), "onnx.export writes ONNX from wick's own graphs"),
    (("_jit_pass_vulkan",), "wick has no Vulkan"), (("_jit_pass_metal",), "wick has no Metal"),
    (("_jit_pass_convert_frozen_ops_to_mkldnn",), "wick has no MKL-DNN"),
    (("_jit_pass_insert_prepacked_ops", "_jit_pass_fold_prepacking_ops", "_jit_pass_fuse_clamp_w_prepacked",
      "_jit_pass_optimize_for_mobile", "_jit_pass_transform_conv1d_to_conv2d"),
     "wick has no XNNPACK, which they prepare for; utils.mobile_optimizer freezes"),
    (("_jit_pass_insert_observer", "_jit_pass_insert_quant", "_jit_pass_quant_final",
      "_jit_pass_insert_prepack_unpack", "_jit_pass_fold_convbn", "_jit_pass_dedup_module_uses",
      "_jit_pass_swap_functional_linear",
      "_jit_pass_replicate_dequantize", "_jit_pass_dbr_quant", "_jit_pass_fuse_quantized_add_relu",
      "_jit_pass_pattern_based_rewrite", "_jit_pass_custom_pattern_based_rewrite", "_quantize_ondevice"),
     "modules are quantized in Python (quantization.prepare, convert, quantize_dynamic), not in graphs"),
    (("_jit_nvfuser", "_jit_set_nvfuser"), "wick has no NVFuser"),
    (("_jit_pass_create_functional_graphs", "_jit_pass_inline_functional_graphs"),
     "remove_mutation makes writes functional where that is sound"),
    (("_jit_pass_replace_old_ops_with_upgraders", "_dump_upgraders_map", "_get_upgrader", "_generate_upgraders_graph",
      "_test_only_", "_get_operator_version_map", "_UpgraderEntry", "_UpgraderRange", "_calculate_package_version",
      "_get_version_calculator_flag"), "operators of older archives are upgraded where those are read"),
    (("_jit_shape_compute_graph_for_node", "_jit_register_shape_compute_graph_for_node",
      "_jit_pass_propagate_shapes_on_graph_and_build_compute", "_ShapeComputeGraphMapping"),
     "shapes follow from running operators without data, not from graphs that compute them"),
    (("_jit_to_backend",), "devices and back ends are libraries (docs/extending.md)"),
    (("_jit_to_static_module", "StaticModule", "_fuse_to_static_module"), "there is no static runtime"),
    (("_te", "_jit_fuser_get_fused_kernel_code", "_jit_debug_fuser"), "wick's fuser is its own"),
    (("_load_for_lite", "LiteScriptModule", "_backport_for_mobile", "_get_mobile", "_get_model_", "_export_op",
      "_save_parameters", "_nn_module_to_mobile"), "files for the lite interpreter are read by jit.load"),
    (("_jit_tree_views", "_jit_script_compile", "_jit_script_class_compile", "_jit_script_interface_compile"),
     "programs are compiled from their source text (jit.script, jit.CompilationUnit), not from trees"),
    (("_jit_trace_graph", "_jit_trace_module"), "jit.trace and jit.trace_module record what runs"),
    (("_jit_get_logging_option", "_jit_set_logging_option", "_jit_set_logging_stream"),
     "the optimizer's log goes to stderr, of the files that PYTORCH_JIT_LOG_LEVEL names when the process starts "
     "(docs/debugging.md)"),
    (("_jit_get_custom_class_schemas",), "classes of libraries are asked for by name (classes), and not listed"),
    (("_jit_decay_packed_param_input_types",), "weights that quantized layers packed stay objects in graphs"),
    (("_jit_object_is_non_holding",), "constants of graphs don't keep compilation units alive"),
    (("_jit_debug_module_iterators",), "it shows how torch's own compiler iterates over modules"),
    (("_jit_init",), "wick.jit is ready once it is imported"),
    (("_jit_run_cpp_tests",), "wick's own tests in C are programs of their own"),
    (("_lazy", "_functorch", "_vmapmode"), "there is no lazy tensor and no functorch"),
    (("_dispatch", "DispatchKey", "_len_torch_dispatch", "_pop_torch_dispatch", "_push_on_torch_dispatch"),
     "wick has no dispatch keys"),
    (("_Cuda", "_CUDA", "_cuda", "_activate_cuda_trace"), "wick has no CUDA streams"),
)


def why(name):
    """The reason for which there is no such name; None: none is known."""
    return next((reason for begins, reason in _REASONS if name.startswith(begins)), None)
