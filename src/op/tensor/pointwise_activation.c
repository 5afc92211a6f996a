/* Rows of activation functions and of their gradients. A conditional computes both sides: they are written so that the
 * side not taken does no harm. */
#include <math.h>

#include "call/pointwise.h"
#include "call/row_extras.h"
#include "compute/activation.h"

#define POINTWISE (OP_INPLACE | OP_OUT | OP_ALIASING_OK)

/* As sums of the rows' formulas: x * Phi(x) and its derivative. */
#define GELU                                                                                                       \
  "0.5 * self * (1 + tanh(0.7978845608028654 * (self + 0.044715 * self * self * self))) if approximate == 'tanh' " \
  "else gelu(self)"
#define GELU_BACKWARD                                                                                                  \
  "s = self * self; t = tanh(0.7978845608028654 * (self + 0.044715 * s * self)); "                                     \
  "grad_output * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * 0.7978845608028654 * (1 + 0.134145 * s)) if approximate " \
  "== 'tanh' "                                                                                                         \
  "else grad_output * (0.5 * (1 + erf(self * 0.7071067811865476)) + self * exp(-0.5 * s) * 0.3989422804014327)"
#define SELU_ALPHA "1.6732632423543772848"
#define SELU_SCALE "1.0507009873554804934"

static Status shape_log_sigmoid(Call *call, TensorSpec *specs) { /* row-major, unlike the others */
  TRY(shape_pointwise(call, specs));
  specs->has_strides = false;
  return OK;
}

static Status shape_relu(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  if (specs->dtype == DTYPE_BOOL) return status_new(ERROR_RUNTIME, "Boolean inputs not supported for %s", "relu");
  return OK;
}

/* A Scalar's value. */
static double call_number(const Call *call, uint32_t i) {
  return ivalue_to_double(call_scalar(call, i));
}

/* Of ints only what their limits fit. */
static Status shape_hardtanh(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise_kept(call, specs));
  if (specs->dtype == DTYPE_BOOL) return status_new(ERROR_RUNTIME, "Bool inputs not supported for hardtanh");
  if (specs->dtype == DTYPE_UINT8 && call->input_count == 3 && (call_number(call, 1) < 0 || call_number(call, 2) < 0))
    return status_new(ERROR_RUNTIME, "cannot do hardtanh on an unsigned type with negative limits");
  if (dtype_is_complex(specs->dtype)) return status_new(ERROR_RUNTIME, "clamp is not supported for complex types");
  return OK;
}

static Status shape_celu(Call *call, TensorSpec *specs) {
  if (call_number(call, 1) == 0) return status_new(ERROR_RUNTIME, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return shape_pointwise(call, specs);
}

static Status shape_gelu(Call *call, TensorSpec *specs) {
  Str approximate = call_str(call, 1);
  if (!str_is(approximate, "none") && !str_is(approximate, "tanh"))
    return status_new(ERROR_RUNTIME, "approximate argument must be either none or tanh.");
  return shape_pointwise(call, specs);
}

static Status shape_softshrink(Call *call, TensorSpec *specs) {
  double lambd = call_number(call, 1);
  if (!(lambd >= 0))
    return status_new(ERROR_RUNTIME, "lambda must be greater or equal to 0, but found to be %g.", lambd);
  return shape_pointwise(call, specs);
}

#define ACTIVATION(kind_)            \
  .extras = &(const RowExtras) {     \
    .activation = ACTIVATION_##kind_ \
  }
static const OpRow rows[] = {
    {.schema = "aten::relu(Tensor self) -> Tensor",
     .clamp = {0, INFINITY},
     .lower = "max(self, 0)",
     .shape = shape_relu,
     .grad = "self: torch.threshold_backward(grad, result, 0)",
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::relu6(Tensor self) -> Tensor",
     .clamp = {0, 6},
     .lower = "min(max(self, 0), 6)",
     .shape = shape_hardtanh,
     .grad = "self: torch.hardtanh_backward(grad, self, 0, 6)",
     .flags = OP_INPLACE | OP_ALIASING_OK},
    {.schema = "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
     .dtypes = "threshold_cpu: integral floating",
     .lower = "value if self <= threshold else self",
     .grad = "self: torch.threshold_backward(grad, self, threshold)",
     .flags = POINTWISE | OP_WRITES_EXPANDED},
    {.schema = "aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "0 if self <= threshold else grad_output",
     .grad = "grad_output: torch.threshold_backward(grad, self, threshold)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "grad_output * (1 - conj(output)) * conj(output)",
     .grad = "grad_output: grad * torch.conj(output * (1 - output)); output: grad * torch.conj(grad_output * (1 - 2 * "
             "output))",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "o = conj(output); grad_output * (1 - o * o)",
     .grad =
         "grad_output: grad * torch.conj(1 - output * output); output: grad * torch.conj(-2 * output * grad_output)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
     .since = 10,
     .dtypes = "GeluKernelImpl: floating",
     .cast = CAST_FULL,
     .lower = GELU,
     .shape = shape_gelu,
     .grad = "self: torch.gelu_backward(grad, self, approximate=approximate)",
     .flags = POINTWISE},
    {.schema = "aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
     .out = "grad_input: grad_input",
     .lower = GELU_BACKWARD,
     .grad = "grad_output: torch.gelu_backward(grad, self, approximate=approximate); self: "
             "gelu_second_order(grad * grad_output, self, approximate)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::silu(Tensor self) -> Tensor",
     ACTIVATION(SILU),
     .dtypes = "silu_cpu: floating complex",
     .lower = "self * sigmoid(self)",
     .grad = "self: torch.silu_backward(grad, self)",
     .flags = POINTWISE},
    {.schema = "aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "s = sigmoid(self); grad_output * s * (1 + self * (1 - s))",
     .grad = "grad_output: torch.silu_backward(grad, self); self: silu_second_order(grad * grad_output, self)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::mish(Tensor self) -> Tensor",
     .dtypes = "mish_cpu: floating",
     .lower = "self * tanh(log1p(exp(self)))",
     .grad = "self: torch.mish_backward(grad, self)",
     .flags = POINTWISE},
    {.schema = "aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor",
     .lower = "t = tanh(log1p(exp(self))); grad_output * (t + self * sigmoid(self) * (1 - t * t))",
     .grad = "grad_output: torch.mish_backward(grad, self); self: mish_second_order(grad * grad_output, self)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
     ACTIVATION(LIMITS),
     .lower = "min(max(self, min_val), max_val)",
     .shape = shape_hardtanh,
     .grad = "self: torch.hardtanh_backward(grad, self, min_val, max_val)",
     .flags = POINTWISE},
    {.schema = "aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "0 if self <= min_val or self >= max_val else grad_output",
     .grad = "grad_output: torch.hardtanh_backward(grad, self, min_val, max_val)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::hardsigmoid(Tensor self) -> Tensor",
     ACTIVATION(HARDSIGMOID),
     .dtypes = "hardsigmoid_cpu: floating",
     .lower = "min(max(self + 3, 0), 6) / 6",
     .grad = "self: torch.hardsigmoid_backward(grad, self)",
     .flags = POINTWISE},
    {.schema = "aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "grad_output / 6 if self > -3 and self < 3 else 0",
     .grad = "grad_output: torch.hardsigmoid_backward(grad, self)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::hardswish(Tensor self) -> Tensor",
     ACTIVATION(HARDSWISH),
     .dtypes = "hardswish_cpu: floating",
     .lower = "hardswish(self)",
     .grad = "self: torch.hardswish_backward(grad, self)",
     .flags = POINTWISE},
    {.schema = "aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
     .lower = "0 if self < -3 else grad_output if self >= 3 else grad_output * (self / 3 + 0.5)",
     .grad = "grad_output: torch.hardswish_backward(grad, self); self: grad * grad_output * "
             "torch.logical_and(self > -3, self < 3) / 3",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
     .dtypes = "leaky_relu_cpu: floating",
     .lower = "leaky_relu(self, negative_slope)",
     .grad = "self: torch.leaky_relu_backward(grad, self, negative_slope, False)",
     .flags = POINTWISE},
    {.schema = "aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) "
               "-> Tensor",
     .out = "grad_input: grad_input",
     .lower = "grad_output if self > 0 else grad_output * negative_slope",
     .grad = "grad_output: torch.leaky_relu_backward(grad, self, negative_slope, False)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
     .dtypes = "elu_cpu: floating",
     .lower = "positive = self if scale == 1 else self * scale; "
              "e = expm1(self) if input_scale == 1 else expm1(self * input_scale); "
              "positive if self > 0 else e if alpha == 1 and scale == 1 else e * (alpha * scale)",
     .grad = "self: torch.elu_backward(grad, alpha, scale, input_scale, False, self)",
     .flags = POINTWISE},
    {.schema = "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
               "Tensor self_or_result) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "x = self_or_result; grad_output * input_scale * (x + alpha * scale if is_result else alpha * scale * "
              "exp(x * input_scale)) if x <= 0 else grad_output * scale",
     .grad = "grad_output: torch.elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result); "
             "self_or_result: elu_second_order(grad * grad_output, float(alpha), float(scale), "
             "float(input_scale), is_result, self_or_result)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::celu(Tensor self, Scalar alpha=1.) -> Tensor",
     .dtypes = "elu_cpu: floating",
     .lower = "self if self > 0 else expm1(self) if alpha == 1 else expm1(self / alpha) * alpha",
     .shape = shape_celu,
     .grad = "self: torch.elu_backward(grad, alpha, 1, 1.0 / float(alpha), False, self)",
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::selu(Tensor self) -> Tensor",
     .dtypes = "elu_cpu: floating",
     .lower = "self * " SELU_SCALE " if self > 0 else expm1(self) * (" SELU_ALPHA " * " SELU_SCALE ")",
     .grad = "self: torch.elu_backward(grad, " SELU_ALPHA ", " SELU_SCALE ", 1, False, self)",
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
     .dtypes = "softplus_cpu: floating",
     .cast = CAST_FULL,
     .lower = "x = self if beta == 1 else self * beta; y = log1p(exp(x)); "
              "self if x > threshold else y if beta == 1 else y / beta",
     .grad = "self: torch.softplus_backward(grad, self, beta, threshold)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "grad_output if self * beta > threshold else grad_output * sigmoid(self * beta)",
     .grad = "grad_output: torch.softplus_backward(grad, self, beta, threshold); self: "
             "softplus_second_order(grad * grad_output, self, float(beta), float(threshold))",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
     .dtypes = "softshrink_cpu: floating",
     .shape = shape_softshrink,
     .lower = "self - lambd if self > lambd else self + lambd if self < -lambd else 0",
     .grad = "self: torch.softshrink_backward(grad, self, lambd)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "0 if self >= -lambd and self <= lambd else grad_output",
     .grad = "grad_output: torch.softshrink_backward(grad, self, lambd)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
     .dtypes = "hardshrink_cpu: floating",
     .lower = "0 if self >= -lambd and self <= lambd else self",
     .grad = "self: torch.hardshrink_backward(grad, self, lambd)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "0 if self >= -lambd and self <= lambd else grad_out",
     .grad = "grad_out: torch.hardshrink_backward(grad, self, lambd)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::log_sigmoid(Tensor self) -> Tensor",
     .dtypes = "log_sigmoid_cpu: floating",
     .lower = "min(self, 0) - log1p(exp(-abs(self)))",
     .shape = shape_log_sigmoid,
     .grad = "self: grad * torch.sigmoid(-self)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "grad_output * sigmoid(-self)",
     .grad = "grad_output: torch.log_sigmoid_backward(grad, self, buffer); self: silu_gate(grad * "
             "grad_output, self)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
     .lower = "grad_output * mask * scale",
     .grad = "grad_output: torch.native_dropout_backward(grad, mask, scale)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::glu(Tensor self, int dim=-1) -> Tensor",
     .dtypes = "glu_cpu: floating",
     .body = "if self.dim() == 0:\n"
             "    raise RuntimeError(\"glu does not support 0-dimensional tensors\")\n"
             "if self.size(dim) % 2 != 0:\n"
             "    raise RuntimeError(\"Halving dimension must be even, but dimension \" + str(dim) + \" is size \" + "
             "str(self.size(dim)))\n"
             "self = torch._gradient_in_format(self, 'contiguous')\n"
             "halves = self.chunk(2, dim)\n"
             "return halves[0] * torch.sigmoid(halves[1])\n"},
    {.schema = "aten::prelu(Tensor self, Tensor weight) -> Tensor",
     .dtypes = "prelu_cpu: floating",
     .cast = CAST_REDUCED,
     .body = "if weight.dim() > 1:\n"
             "    raise RuntimeError('prelu: Expected `weight` to be a scalar or 1D tensor, but got{} ndim = "
             "{}'.format(':' "
             "if is_torch2() else '', weight.dim()))\n"
             "if weight.numel() != 1:\n"
             "    channels = self.size(1) if self.dim() > 1 else 1\n"
             "    if self.dim() == 0:\n"
             "        raise RuntimeError(\"Not allow zero-dim input tensor.\")\n"
             "    if channels != weight.numel():\n"
             "        raise RuntimeError(\"Mismatch of parameter numbers and input channel size. Found parameter "
             "numbers = \" + str(weight.numel()) + \" and channel size = \" + str(channels) + \".\")\n"
             "    if self.dim() > 1:\n"
             "        weight = weight.reshape([1, -1] + [1] * (self.dim() - 2))\n"
             "else:\n"
             "    weight = weight.reshape([1] * self.dim())\n"
             "self = torch._gradient_in_format(torch._contiguous_as(self, self), 'suggested')\n"
             "return torch._contiguous_as(torch._prelu_kernel(self, weight), self)\n"},
    {.schema = "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
     .lower = "leaky_relu(self, weight)",
     .grad = "self: torch.where(self > 0, grad, grad * weight); weight: torch.where(self > 0, 0, grad * self)",
     .flags = OP_ALIASING_OK},
};

OP_TABLE(op_table_pointwise_activation, rows);
