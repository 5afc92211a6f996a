/* Rows of arithmetic on two operands and of what combines three. */
#include "call/row_extras.h"

#define POINTWISE (OP_INPLACE | OP_OUT | OP_ALIASING_OK)

static bool is_bool_argument(const Call *call, uint32_t i) {
  IValue value = call_value(call, i);
  return value.tag == TAG_BOOL ||
         (value.tag == TAG_TENSOR && tensor_is_defined(value.tensor) && value.tensor->dtype == DTYPE_BOOL);
}

/* alpha, argument 2, may not be wider than the result. */
static Status check_alpha(const Call *call, DType result) {
  uint32_t tag = call_value(call, 2).tag;
  if (tag == TAG_BOOL && result != DTYPE_BOOL)
    return status_new(ERROR_RUNTIME, "Boolean alpha only supported for Boolean results.");
  if (tag == TAG_FLOAT && !dtype_is_floating(result) && !dtype_is_complex(result))
    return status_new(ERROR_RUNTIME, "For integral input tensors, argument alpha must not be a floating point number.");
  if (tag == TAG_COMPLEX && !dtype_is_complex(result))
    return status_new(ERROR_RUNTIME, "For non-complex input tensors, argument alpha must not be a complex number.");
  return OK;
}

static Status shape_add(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  return check_alpha(call, specs->dtype);
}

static Status shape_sub(Call *call, TensorSpec *specs) {
  bool left = is_bool_argument(call, 0), right = is_bool_argument(call, 1);
  if (left && right)
    return status_new(ERROR_RUNTIME,
                      "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                      "`logical_xor()` operator instead.");
  if (left || right)
    return status_new(ERROR_RUNTIME,
                      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert "
                      "a mask, use the `~` or `logical_not()` operator instead.");
  return shape_add(call, specs);
}

static Status shape_div_mode(Call *call, TensorSpec *specs) {
  if (call_is_none(call, 2)) return shape_pointwise_float(call, specs);
  Str mode = call_str(call, 2);
  if (!str_is(mode, "trunc") && !str_is(mode, "floor"))
    return status_new(ERROR_RUNTIME,
                      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" STR_FMT "'",
                      STR_ARG(mode));
  return shape_pointwise(call, specs);
}

static Status shape_pow(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  IValue exponent = call_value(call, 1);
  if (dtype_is_integral(specs->dtype) && exponent.tag == TAG_INT && exponent.i < 0)
    return status_new(ERROR_RUNTIME, "Integers to negative integer powers are not allowed.");
  return OK;
}

static Status shape_float_power(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  specs->dtype = dtype_is_complex(specs->dtype) ? DTYPE_COMPLEX128 : DTYPE_FLOAT64;
  return OK;
}

/* Two integers are not divided, whatever self is. */
static Status shape_addcdiv(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  DType above = (DType)call_tensor(call, 1)->dtype, below = (DType)call_tensor(call, 2)->dtype;
  if ((dtype_is_integral(above) || above == DTYPE_BOOL) && (dtype_is_integral(below) || below == DTYPE_BOOL))
    return status_new(ERROR_RUNTIME,
                      "Integer division with addcdiv is no longer supported, and in a future release addcdiv will "
                      "perform a true division of tensor1 and tensor2.");
  return OK;
}

static Status shape_lerp(Call *call, TensorSpec *specs) {
  if (call_tensor(call, 0)->dtype != call_tensor(call, 1)->dtype)
    return status_new(ERROR_RUNTIME, "expected dtype %s for `end` but got dtype %s",
                      dtype_scalar_name((DType)call_tensor(call, 0)->dtype),
                      dtype_scalar_name((DType)call_tensor(call, 1)->dtype));
  return shape_pointwise(call, specs);
}

static Status shape_heaviside(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype, values = (DType)call_tensor(call, 1)->dtype;
  if (dtype_is_complex(self) || dtype_is_complex(values))
    return status_new(ERROR_RUNTIME, "heaviside is not yet implemented for complex tensors.");
  if (self != values)
    return status_new(ERROR_RUNTIME, "heaviside is not yet implemented for tensors with different dtypes.");
  return shape_pointwise(call, specs);
}

#define ADD "self + other if alpha == 1 else self + alpha * other"
#define SUB "self - other if alpha == 1 else self - alpha * other"
#define RSUB "other - self if alpha == 1 else other - alpha * self"
#define ADD_RELU "max(self + alpha * other, 0)"
#define DIV_MODE \
  "truncdiv(self, other) if rounding_mode == 'trunc' else self // other if rounding_mode == 'floor' else self / other"
#define POW                                                                                                    \
  "self ** 2 if exponent == 2 else sqrt(self) if exponent == 0.5 and not integral else self * self * self if " \
  "exponent == 3 "                                                                                             \
  "else reciprocal(self) if exponent == -1 and not integral else pow(self, exponent)"
#define FLOAT_POWER "pow(self, exponent) if complex else pow(float64(self), float64(exponent))"
#define POW_GRAD_SCALAR \
  "self: torch.zeros_like(self) if exponent == 0 else grad * (self.pow(exponent - 1) * exponent).conj()"
#define POW_GRAD_SELF                                                                        \
  "self: torch.where(exponent == 0, torch.zeros([], dtype=grad.dtype, device=grad.device), " \
  "grad * (self.pow(exponent - 1) * exponent).conj())"
#define POW_GRAD_EXPONENT(base, log)                                                                                \
  "exponent: torch.where(torch.logical_and(" base                                                                   \
  " == 0, torch.real(exponent) >= 0), torch.zeros([], dtype=grad.dtype, device=grad.device), grad * (result * " log \
  ").conj())"

/* A schema whose second operand is a tensor or a number, with the gradients of each. Float8 is not mixed with
 * numbers. */
#define BINARY(name, more, cast_, formula, shape_function, grad_self, grad_other, grad_beside_number, ...)             \
  {.schema = "aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor",                                             \
   .lower = formula,                                                                                                   \
   .shape = shape_function,                                                                                            \
   .grad = "self: " grad_self "; other: " grad_other,                                                                  \
   .flags = POINTWISE | (more),                                                                                        \
   .cast = cast_,                                                                                                      \
   __VA_ARGS__},                                                                                                       \
  {                                                                                                                    \
    .schema = "aten::" name ".Scalar(Tensor self, Scalar other) -> Tensor", .lower = formula, .shape = shape_function, \
    .grad = "self: " grad_beside_number, .flags = POINTWISE | ((more) & ~OP_ACCEPT_FLOAT8), .cast = cast_              \
  }

static Status shape_power_of_number(Call *call, TensorSpec *specs) { /* row-major, unlike other powers */
  TRY(shape_pointwise(call, specs));
  specs->has_strides = false;
  return OK;
}

static const OpRow rows[] = {
    {.schema = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     .cast = CAST_WIDEST,
     .out = "out",
     .lower = ADD,
     .shape = shape_add,
     .grad = "self: grad; other: grad if alpha == 1 else grad * alpha",
     .flags = POINTWISE},
    {.schema = "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     .cast = CAST_WIDEST,
     .lower = ADD,
     .shape = shape_add,
     .grad = "self: grad",
     .flags = POINTWISE},
    {.schema = "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     .cast = CAST_WIDEST,
     .out = "out",
     .lower = SUB,
     .shape = shape_sub,
     .grad = "self: grad; other: -grad if alpha == 1 else -grad * alpha",
     .flags = POINTWISE},
    {.schema = "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     .cast = CAST_WIDEST,
     .lower = SUB,
     .shape = shape_sub,
     .grad = "self: grad",
     .flags = POINTWISE},
    {.schema = "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     .lower = RSUB,
     .shape = shape_sub,
     .grad = "self: -grad if alpha == 1 else -grad * alpha; other: grad",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     .lower = RSUB,
     .shape = shape_sub,
     .grad = "self: -grad if alpha == 1 else -grad * alpha",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     .out = "out",
     .lower = ADD_RELU,
     .shape = shape_add,
     .flags = POINTWISE},
    {.schema = "aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     .lower = ADD_RELU,
     .shape = shape_add,
     .flags = POINTWISE},
    BINARY("mul", OP_ACCEPT_LIMITED, CAST_WIDEST, "self * other", NULL, "grad * torch.conj(other)",
           "grad * torch.conj(self)", "torch.conj(torch.conj(grad) * other)", .out = "out"),
    BINARY("div", 0, CAST_WIDEST, "self / other", shape_pointwise_float, "grad / torch.conj(other)",
           "-grad * torch.conj(result / other)", "torch.conj(torch.conj(grad) / other)", .out = "out", .since = 4,
           .extras = &(const RowExtras){.upgrader = "0_3"}),
    {.schema = "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
     .cast = CAST_WIDEST,
     .out = "out_mode",
     .lower = DIV_MODE,
     .shape = shape_div_mode,
     .grad = "self: grad / torch.conj(other) if rounding_mode is None else torch.zeros_like(grad); "
             "other: -grad * torch.conj(result / other) if rounding_mode is None else torch.zeros_like(grad)",
     .flags = POINTWISE},
    {.schema = "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
     .cast = CAST_WIDEST,
     .lower = DIV_MODE,
     .shape = shape_div_mode,
     .grad = "self: grad / other if rounding_mode is None else torch.zeros_like(grad)",
     .flags = POINTWISE},
    {.schema = "aten::floor_divide(Tensor self, Tensor other) -> Tensor",
     .inplace = "Tensor",
     .lower = "self // other",
     .flags = POINTWISE | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
     .lower = "self // other",
     .flags = POINTWISE | OP_NOT_DIFFERENTIABLE},
    BINARY("remainder", 0, CAST_NONE, "self % other", NULL, "grad",
           "-grad * torch.div(self, other, rounding_mode='floor')", "grad"),
    {.schema = "aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
     .dtypes = "remainder_cpu: integral floating",
     .lower = "self % other",
     .grad = "other: -grad * torch.floor(self / other)",
     .flags = OP_OUT | OP_ALIASING_OK},
    BINARY("fmod", 0, CAST_NONE, "fmod(self, other)", NULL, "grad",
           "-grad * torch.div(self, other, rounding_mode='trunc')", "grad"),
    {.schema = "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
     .cast = CAST_FULL,
     .inplace = "Scalar",
     .lower = POW,
     .shape = shape_pow,
     .promote = "exponent",
     .grad = POW_GRAD_SCALAR,
     .flags = POINTWISE},
    {.schema = "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
     .dtypes = "pow: integral floating complex",
     .cast = CAST_FULL,
     .inplace = "Tensor",
     .lower = "pow(self, exponent)",
     .grad = POW_GRAD_SELF "; " POW_GRAD_EXPONENT("self", "self.log()"),
     .flags = POINTWISE},
    {.schema = "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
     .cast = CAST_FULL,
     .lower = "pow(self, exponent)",
     .shape = shape_power_of_number,
     .grad = "exponent: grad * (result * torch.log(torch.tensor(self))).conj()",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
     .inplace = "Tensor",
     .lower = FLOAT_POWER,
     .shape = shape_float_power,
     .grad = POW_GRAD_SELF "; " POW_GRAD_EXPONENT("self", "self.log()"),
     .flags = POINTWISE},
    {.schema = "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
     .inplace = "Scalar",
     .lower = FLOAT_POWER,
     .shape = shape_float_power,
     .promote = "exponent",
     .grad = POW_GRAD_SCALAR,
     .flags = POINTWISE},
    {.schema = "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
     .lower = FLOAT_POWER,
     .shape = shape_float_power,
     .grad = "exponent: grad * (result * torch.log(torch.tensor(self))).conj()",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     .dtypes = "addcmul_cpu_out: integral floating complex",
     .cast = CAST_WIDEST,
     .lower = "self + value * tensor1 * tensor2",
     .grad = "self: grad; tensor1: grad * torch.conj(tensor2 * value); tensor2: grad * torch.conj(tensor1 * value)",
     .flags = POINTWISE},
    {.schema = "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     .cast = CAST_WIDEST,
     .lower = "self + value * (tensor1 / tensor2)",
     .shape = shape_addcdiv,
     .grad = "self: grad; tensor1: grad * torch.conj(tensor2.reciprocal() * value); tensor2: -grad * "
             "torch.conj(tensor1 * value / "
             "(tensor2 * tensor2))",
     .flags = POINTWISE},
    {.schema = "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
     .dtypes = "lerp_kernel_scalar: floating complex",
     .shape = shape_lerp,
     .lower = "self + weight * (end - self) if abs(weight) < 0.5 else end - (end - self) * (1 - weight)",
     .grad = "self: grad * (1 - weight); end: grad * weight",
     .flags = POINTWISE},
    {.schema = "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
     .dtypes = "lerp_kernel_tensor: floating complex",
     .shape = shape_lerp,
     .lower = "self + weight * (end - self) if abs(weight) < 0.5 else end - (end - self) * (1 - weight)",
     .grad =
         "self: grad * torch.conj(1 - weight); end: grad * torch.conj(weight); weight: grad * torch.conj(end - self)",
     .flags = POINTWISE},
    {.schema = "aten::atan2(Tensor self, Tensor other) -> Tensor",
     .dtypes = "atan2_cpu: bool integral floating",
     .cast = CAST_WIDEST,
     .lower = "atan2(self, other)",
     .shape = shape_pointwise_float,
     .grad = "self: grad * other / (self * self + other * other); other: -grad * self / (self * self + other * other)",
     .flags = POINTWISE},
    {.schema = "aten::hypot(Tensor self, Tensor other) -> Tensor",
     .dtypes = "hypot_cpu: floating",
     .lower = "hypot(self, other)",
     .grad = "self: grad * (self / result); other: grad * (other / result)",
     .flags = POINTWISE},
    BINARY("copysign", 0, CAST_NONE, "copysign(self, other)", shape_pointwise_float,
           "grad * (result / self).masked_fill(self == 0, 0)", "torch.zeros_like(other)",
           "grad * (result / self).masked_fill(self == 0, 0)", .out = "out"),
    {.schema = "aten::nextafter(Tensor self, Tensor other) -> Tensor",
     .dtypes = "nextafter_cpu: floating",
     .lower = "nextafter(self, other)",
     .flags = POINTWISE | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::nextafter(Tensor self, Tensor other) -> Tensor",
     .torch = 2, /* its gradient passes to self */
     .dtypes = "nextafter_cpu: floating",
     .lower = "nextafter(self, other)",
     .grad = "self: grad.masked_fill(self == other, 0); other: torch.zeros_like(grad)",
     .flags = POINTWISE},
    {.schema = "aten::heaviside(Tensor self, Tensor values) -> Tensor",
     .lower = "values if self == 0 else 1 if self > 0 else 0",
     .shape = shape_heaviside,
     .flags = POINTWISE | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
     .inplace = "",
     .out = "out",
     .lower = "self * pow(2, other)",
     .shape = shape_pointwise_float,
     .grad = "self: grad * torch.pow(2.0, other); other: grad * result * 0.69314718055994531",
     .flags = POINTWISE},
    {.schema = "aten::gcd(Tensor self, Tensor other) -> Tensor",
     .dtypes = "gcd_cpu: integral",
     .lower = "gcd(self, other)",
     .flags = POINTWISE | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::lcm(Tensor self, Tensor other) -> Tensor",
     .dtypes = "lcm_cpu: integral",
     .lower = "lcm(self, other)",
     .flags = POINTWISE | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::logaddexp(Tensor self, Tensor other) -> Tensor",
     .dtypes = "logaddexp_cpu: floating",
     .lower =
         "m = max(self, other); self if self == other and abs(self) == inf else m + log1p(exp(-abs(self - other)))",
     .grad = "self: grad / (1 + torch.exp(other - self)); other: grad / (1 + torch.exp(self - other))",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::logaddexp(Tensor self, Tensor other) -> Tensor",
     .torch = 2, /* takes complex numbers, by their real parts */
     .dtypes = "logaddexp_cpu: floating complex",
     .lower =
         "h = self if real(self) > real(other) else other; l = other if real(self) > real(other) else self; "
         "h + log1p(exp(l - h)) if complex else self if self == other and abs(self) == inf else max(self, other) + "
         "log1p(exp(-abs(self - other)))",
     .grad = "self: grad / (1 + torch.exp(other - self)).conj(); other: grad / (1 + torch.exp(self - other)).conj()",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::logaddexp2(Tensor self, Tensor other) -> Tensor",
     .dtypes = "logaddexp2_cpu: floating",
     .lower =
         "m = max(self, other); self if self == other and abs(self) == inf else m + log2(1 + exp2(-abs(self - other)))",
     .grad = "self: grad / (1 + torch.pow(2.0, other - self)); other: grad / (1 + torch.pow(2.0, self - other))",
     .flags = OP_OUT | OP_ALIASING_OK}};

OP_TABLE(op_table_pointwise_arithmetic, rows);
