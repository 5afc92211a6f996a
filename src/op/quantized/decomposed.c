/* Rows of quantized_decomposed: how exported programs quantize, with plain tensors of integers in place of quantized
 * ones. Numbers are rounded to even; the limits are those of the argument, not of the dtype. */
#include "call/row.h"

#define DECOMPOSED(text, ...) \
  { .schema = "quantized_decomposed::" text, .flags = OP_NOT_DIFFERENTIABLE, .body = __VA_ARGS__ }
#define LIMITS "int quant_min, int quant_max, ScalarType dtype"
#define FLOAT_DTYPE ", *, ScalarType? out_dtype=None"

#define ONE_NUMBER                                                                                                 \
  "if zero_point.numel() != 1 or scale.numel() != 1:\n"                                                            \
  "    raise AssertionError('Expecting scale and zero_point tensors to be one element, but received : {} and {}'." \
  "format(scale.numel(), zero_point.numel()))\n"

static const OpRow rows[] = {
    DECOMPOSED("quantize_per_tensor(Tensor input, float scale, int zero_point, " LIMITS ") -> Tensor",
               "x = decomposed_input(input)\n"
               "check_decomposed_range(quant_min, quant_max, dtype)\n"
               "return torch.clamp(torch.round(x * (1.0 / scale)) + zero_point, quant_min, quant_max).to(dtype)"),
    DECOMPOSED("quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " LIMITS ") -> Tensor",
               ONE_NUMBER
               "return torch.ops.quantized_decomposed.quantize_per_tensor(input, float(scale), int(zero_point), "
               "quant_min, quant_max, dtype)"),
    DECOMPOSED("quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor "
               "quant_max, ScalarType dtype) -> Tensor",
               ONE_NUMBER
               "return torch.ops.quantized_decomposed.quantize_per_tensor(input, float(scale), int(zero_point), "
               "int(quant_min), int(quant_max), dtype)"),
    DECOMPOSED("dequantize_per_tensor(Tensor input, float scale, int zero_point, " LIMITS FLOAT_DTYPE ") -> Tensor",
               "check_decomposed_dtype(input, dtype)\n"
               "wanted = torch.float32 if out_dtype is None else out_dtype\n"
               "return (input.to(wanted) - zero_point) * scale"),
    DECOMPOSED(
        "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " LIMITS FLOAT_DTYPE ") -> Tensor",
        ONE_NUMBER "return torch.ops.quantized_decomposed.dequantize_per_tensor(input, float(scale), int(zero_point), "
                   "quant_min, quant_max, dtype, out_dtype=out_dtype)"),
    DECOMPOSED("dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor "
               "quant_max, ScalarType dtype" FLOAT_DTYPE ") -> Tensor",
               ONE_NUMBER
               "return torch.ops.quantized_decomposed.dequantize_per_tensor(input, float(scale), int(zero_point), "
               "int(quant_min), int(quant_max), dtype, out_dtype=out_dtype)"),
    DECOMPOSED("quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, " LIMITS ") -> Tensor",
               "x = decomposed_input(input)\n"
               "s, z = along_axis(scales, x, axis), along_axis(zero_points, x, axis)\n"
               "check_decomposed_range(quant_min, quant_max, dtype)\n"
               "return torch.clamp(torch.round(x * (1.0 / s)) + z, quant_min, quant_max).to(dtype)"),
    DECOMPOSED("dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, " LIMITS FLOAT_DTYPE
               ") -> Tensor",
               "check_decomposed_dtype(input, dtype)\n"
               "check_decomposed_range(quant_min, quant_max, dtype)\n"
               "wanted = torch.float32 if out_dtype is None else out_dtype\n"
               "s = along_axis(scales, input, axis)\n"
               "if zero_points is None:\n"
               "    return (input * s).to(wanted)\n"
               "return ((input - along_axis(zero_points, input, axis)) * s).to(wanted)"),
    DECOMPOSED("choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> "
               "(Tensor, Tensor)",
               "return decomposed_parameters(input, quant_min, quant_max, eps, dtype, False)"),
    DECOMPOSED("choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType "
               "dtype) -> (Tensor, Tensor)",
               "return decomposed_parameters(input, quant_min, quant_max, eps, dtype, True)"),
    DECOMPOSED("choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
               "if dtype != torch.int8:\n"
               "    raise RuntimeError('unsupported dtype in choose_qparams_per_token')\n"
               "most = torch.amax(torch.abs(input), [-1], True)\n"
               "if most.dtype == torch.float16:\n"
               "    most = most.to(torch.float32)\n"
               "scales = most.clamp(min=1e-5).div(127)\n"
               "return scales, torch.zeros_like(scales)"),
    DECOMPOSED("choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
               "return decomposed_token_parameters(input)"),
    DECOMPOSED("_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
               "return decomposed_token_parameters(input)"),
    DECOMPOSED("quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, " LIMITS ") -> Tensor",
               "check_decomposed_range(quant_min, quant_max, dtype)\n"
               "check_tokens(input, scales, zero_points)\n"
               "return (input * (1.0 / scales)).add(zero_points).round().clamp(quant_min, quant_max).to(dtype)"),
    DECOMPOSED("dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, " LIMITS
               ", ScalarType output_dtype) -> Tensor",
               "return ((input - zero_points) * scales).to(output_dtype)"),
    DECOMPOSED("quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, " LIMITS
               ", int group_size) -> Tensor",
               "x = in_groups(input, scales, group_size)\n"
               "if bool(torch.isnan(x).any()):\n"
               "    raise AssertionError('to_quant must not contain NaNs')\n"
               "y = (x * (1.0 / scales.reshape(-1, 1))).add(zero_points.reshape(-1, 1)).round()\n"
               "return y.clamp(quant_min, quant_max).to(dtype).reshape(input.size())"),
    DECOMPOSED("dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, " LIMITS
               ", int group_size, ScalarType output_dtype) -> Tensor",
               "x = in_groups(input, scales, group_size)\n"
               "if zero_points is None:\n"
               "    return (x * scales.reshape(-1, 1)).reshape(input.size()).to(output_dtype)\n"
               "y = (x - zero_points.reshape(-1, 1)) * scales.reshape(-1, 1)\n"
               "return y.reshape(input.size()).to(output_dtype)"),
    {.schema =
         "quantized_decomposed::fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
         "int quant_min, int quant_max) -> Tensor",
     .body = "return torch.fake_quantize_per_channel_affine(input, scales.to(torch.float32), "
             "zero_points.to(torch.int32), axis, quant_min, quant_max)"},
    DECOMPOSED("convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor",
               "return input.to(dtype, copy=True)"),
};
OP_TABLE(op_table_quantized_decomposed, rows);
