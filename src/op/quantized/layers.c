/* Layers on quantized tensors that PyTorch computes in numbers and quantizes again: TorchScript over the operators on
 * numbers. */
#include "call/row.h"

#define PARAMETERS "float output_scale, int output_zero_point"
#define REQUANTIZED(numbers, like) \
  "return torch.quantize_per_tensor(" numbers ", output_scale, output_zero_point, " like ".dtype)"
#define BATCH_NORM(name)                                                                                               \
  {                                                                                                                    \
    .schema =                                                                                                          \
        "quantized::" name "(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, " PARAMETERS \
        ") -> Tensor",                                                                                                 \
    .body = "return torch.quantized_batch_norm(qx, weight, bias, mean, var, eps, output_scale, output_zero_point)"     \
  }
#define BATCH_NORM_RELU(name)                                                                           \
  {                                                                                                     \
    .schema = "quantized::" name                                                                        \
              "_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float "          \
              "eps, " PARAMETERS ") -> Tensor",                                                         \
    .body =                                                                                             \
        "return torch.relu(torch.quantized_batch_norm(qx, weight, bias, mean, var, eps, output_scale, " \
        "output_zero_point))"                                                                           \
  }
/* Without a scale and zero point the first tensor's are taken. */
#define CAT(name, result)                                                                           \
  {                                                                                                 \
    .schema = "quantized::" name "(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor", \
    .body =                                                                                         \
        "out = torch.cat([torch.dequantize(t) for t in qx], dim)\n"                                 \
        "s = qx[0].q_scale() if scale is None else scale\n"                                         \
        "z = qx[0].q_zero_point() if zero_point is None else zero_point\n"                          \
        "return torch.quantize_per_tensor(" result ", s, z, qx[0].dtype)"                           \
  }
#define CAT_OUT(name, result)                                                                                   \
  {                                                                                                             \
    .schema = "quantized::" name "_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)",                    \
    .body =                                                                                                     \
        "whole = torch.cat([torch.dequantize(t) for t in qx], dim)\n"                                           \
        "return out.copy_(torch.quantize_per_tensor(" result ", out.q_scale(), out.q_zero_point(), out.dtype))" \
  }

static const OpRow rows[] = {
    {.schema = "quantized::sigmoid(Tensor qx, " PARAMETERS ") -> Tensor",
     .body = REQUANTIZED("torch.sigmoid(torch.dequantize(qx))", "qx")},
    {.schema = "quantized::hardswish(Tensor input, " PARAMETERS ") -> Tensor",
     .body = REQUANTIZED("torch.hardswish(torch.dequantize(input))", "input")},
    {.schema =
         "quantized::elu(Tensor self, " PARAMETERS ", Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
     .body = REQUANTIZED("torch.elu(torch.dequantize(self), alpha, scale, input_scale)", "self")},
    {.schema = "quantized::celu(Tensor self, " PARAMETERS ", Scalar alpha=1) -> Tensor",
     .body =
         "if float(alpha) == 0:\n    raise RuntimeError('ZeroDivisionError: alpha cannot be 0 for CELU')\n" REQUANTIZED(
             "torch.elu(torch.dequantize(self), alpha, 1, 1.0 / float(alpha))", "self")},
    {.schema = "quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, " PARAMETERS ") -> Tensor",
     .body = REQUANTIZED("torch.leaky_relu(torch.dequantize(qx), negative_slope)", "qx")},
    {.schema = "quantized::prelu(Tensor qx, Tensor weight, " PARAMETERS ") -> Tensor",
     .body = REQUANTIZED("torch.prelu(torch.dequantize(qx), torch.dequantize(weight))", "qx")},
    {.schema = "quantized::softmax(Tensor qx, int dim, " PARAMETERS ") -> Tensor",
     .body = REQUANTIZED("torch.softmax(torch.dequantize(qx), dim)", "qx")},
    {.schema = "quantized::dropout(Tensor self, " PARAMETERS ", Scalar p=0.5, bool training=False) -> Tensor",
     .body = "return self"},
    {.schema = "quantized::threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy",
     .body = "return torch.quantize_per_tensor(torch.threshold(torch.dequantize(qx), threshold, value), qx.q_scale(), "
             "qx.q_zero_point(), qx.dtype)"},
    {.schema = "quantized::clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy",
     .body = "return torch.clamp(qx, min, max)"},
    {.schema = "quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float "
               "eps, " PARAMETERS ") -> Tensor",
     .body = REQUANTIZED("torch.layer_norm(torch.dequantize(input), normalized_shape, weight, bias, eps)", "input")},
    {.schema =
         "quantized::group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps, " PARAMETERS
         ") -> Tensor",
     .body = REQUANTIZED("torch.group_norm(torch.dequantize(input), num_groups, weight, bias, eps)", "input")},
    {.schema =
         "quantized::instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, " PARAMETERS ") -> Tensor",
     .body =
         REQUANTIZED("torch.instance_norm(torch.dequantize(input), None, None, None, None, True, 0.0, eps, False) if "
                     "weight is None and bias is None else torch.group_norm(torch.dequantize(input), input.size(1), "
                     "weight, bias, eps)",
                     "input")},
    {.schema = "quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     .body = "return torch.quantize_per_tensor(torch.matmul(torch.dequantize(qa), torch.dequantize(qb)), scale, "
             "zero_point, qa.dtype)"},
    {.schema = "quantized::max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool "
               "ceil_mode) -> Tensor",
     .body = "return torch.quantized_max_pool1d(qx, kernel_size, stride, padding, dilation, ceil_mode)"},
    {.schema = "quantized::max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool "
               "ceil_mode) -> Tensor",
     .body = "return torch.quantized_max_pool2d(qx, kernel_size, stride, padding, dilation, ceil_mode)"},
    BATCH_NORM("batch_norm"),
    BATCH_NORM("batch_norm1d"),
    BATCH_NORM("batch_norm2d"),
    BATCH_NORM("batch_norm3d"),
    BATCH_NORM_RELU("batch_norm"),
    BATCH_NORM_RELU("batch_norm1d"),
    BATCH_NORM_RELU("batch_norm2d"),
    BATCH_NORM_RELU("batch_norm3d"),
    CAT("cat", "out"),
    CAT("cat_relu", "torch.relu(out)"),
    CAT_OUT("cat", "whole"),
    CAT_OUT("cat_relu", "torch.relu(whole)"),
};
OP_TABLE(op_table_quantized_layers, rows);
