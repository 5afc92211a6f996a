/* Rows of functions of one tensor: elementary functions, rounding, signs and parts. */
#include "call/pointwise.h"
#include "call/row_dtypes.h"
#include "call/row_extras.h"
#include "compute/activation.h"
#include "tensor/layout.h"

#define POINTWISE (OP_INPLACE | OP_OUT | OP_ALIASING_OK)

static Status shape_angle(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise_float(call, specs));
  if (dtype_is_complex(specs->dtype)) specs->dtype = dtype_to_real(specs->dtype);
  return OK;
}

static Status shape_abs(Call *call, TensorSpec *specs) {
  if (call->op->variant == VARIANT_INPLACE && dtype_is_complex((DType)call_tensor(call, 0)->dtype))
    return status_new(ERROR_RUNTIME, "In-place abs is not supported for complex tensors.");
  return shape_pointwise_real(call, specs);
}

static Status shape_neg(Call *call, TensorSpec *specs) {
  if (call_tensor(call, 0)->dtype == DTYPE_BOOL)
    return status_new(ERROR_RUNTIME,
                      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
                      "mask, use the `~` or `logical_not()` operator instead.");
  return shape_pointwise(call, specs);
}

static Status shape_sum_of_terms(Call *call, TensorSpec *specs) { /* row-major, as sums are */
  if (call_tensor(call, 0)->dtype == DTYPE_BOOL)
    return status_new(ERROR_RUNTIME, "The input tensor may not be a boolean tensor.");
  if (call_int(call, 1) < 1) return status_new(ERROR_RUNTIME, "p has to be greater than or equal to 1");
  TRY(shape_pointwise_float(call, specs));
  specs->has_strides = false;
  return OK;
}

static Status shape_angle_unit(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise_float(call, specs));
  if (dtype_is_complex(specs->dtype))
    return status_new(ERROR_RUNTIME, "%s is not supported for complex tensors.",
                      str_starts_with(call->op->name, "aten::deg") ? "deg2rad" : "rad2deg");
  layout_preserve(call_tensor(call, 0), specs);
  return OK;
}

/* Where PyTorch's refusal of complex numbers names the function rather than its loop. */
static Status shape_step(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  Str name = row_dtypes_name(call->op->row);
  if (dtype_is_complex(specs->dtype) && !str_starts_with(name, "round"))
    return status_new(ERROR_RUNTIME, "%.*s is not supported for complex inputs", (int)strcspn(name.data, "_"),
                      name.data);
  return OK;
}

static Status shape_polygamma(Call *call, TensorSpec *specs) {
  if (call_int(call, 0) < 0) return status_new(ERROR_RUNTIME, "polygamma(n, x) does not support negative n.");
  return shape_pointwise_float(call, specs);
}

static Status shape_sign(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  if (dtype_is_complex(specs->dtype))
    return status_new(ERROR_RUNTIME, "Unlike NumPy, torch.sign doesn't allow complex input. Use torch.sgn instead.");
  return OK;
}

/* A power of the number 2, which makes int64 of bool. */
static Status shape_square(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  if (specs->dtype == DTYPE_BOOL) specs->dtype = DTYPE_INT64;
  return OK;
}

static Status shape_frexp(Call *call, TensorSpec *specs) {
  TRY(shape_pointwise(call, specs));
  if (!dtype_is_floating(specs->dtype))
    return status_new(ERROR_RUNTIME, "torch.frexp() only supports floating-point dtypes");
  specs[1] = specs[0];
  specs[1].dtype = DTYPE_INT32;
  return OK;
}

/* Integral inputs give float32. */
#define FLOAT(name, formula, ...)                                                                        \
  {                                                                                                      \
    .schema = "aten::" name "(Tensor self) -> Tensor", .lower = formula, .shape = shape_pointwise_float, \
    .flags = POINTWISE, .grad = "self: " __VA_ARGS__                                                     \
  }
#define ANGLE(name, formula, gradient)                                                              \
  {                                                                                                 \
    .schema = "aten::" name "(Tensor self) -> Tensor", .lower = formula, .shape = shape_angle_unit, \
    .grad = "self: " gradient, .flags = POINTWISE                                                   \
  }
#define SAME(name, formula, gradient) \
  { .schema = "aten::" name "(Tensor self) -> Tensor", .lower = formula, .grad = "self: " gradient, .flags = POINTWISE }
#define STEP(name, formula)                                                                   \
  {                                                                                           \
    .schema = "aten::" name "(Tensor self) -> Tensor", .lower = formula, .shape = shape_step, \
    .dtypes = name "_vml_cpu: integral floating", .grad = "self: torch.zeros_like(grad)",     \
    .flags = POINTWISE | OP_ACCEPT_UNSIGNED                                                   \
  }

static const OpRow rows[] = {
    FLOAT("exp", "exp(self)", "grad * torch.conj(result)", .cast = CAST_FULL),
    FLOAT("exp2", "exp2(self)", "grad * torch.conj(result) * 0.69314718055994531",
          .dtypes = "exp2: bool integral floating complex"),
    FLOAT("expm1", "expm1(self)", "grad * (torch.conj(result) + 1)", .cast = CAST_FULL),
    FLOAT("log", "log(self)", "grad / torch.conj(self)", .cast = CAST_FULL),
    FLOAT("log1p", "log1p(self)", "grad / torch.conj(self + 1)", .cast = CAST_FULL),
    FLOAT("log2", "log2(self)", "grad / (torch.conj(self) * 0.69314718055994531)", .cast = CAST_FULL),
    FLOAT("log10", "log10(self)", "grad / (torch.conj(self) * 2.30258509299404568)", .cast = CAST_FULL),
    FLOAT("sqrt", "sqrt(self)", "grad / (2 * torch.conj(result))"),
    FLOAT("rsqrt", "rsqrt(self)", "-0.5 * grad * torch.conj(result * result * result)", .cast = CAST_FULL),
    FLOAT("reciprocal", "reciprocal(self)", "-grad * torch.conj(result * result)", .cast = CAST_FULL),
    FLOAT("sin", "sin(self)", "grad * torch.conj(torch.cos(self))"),
    FLOAT("cos", "cos(self)", "-grad * torch.conj(torch.sin(self))"),
    FLOAT("tan", "tan(self)", "grad * torch.conj(1 + result * result)", .cast = CAST_FULL),
    FLOAT("asin", "asin(self)", "grad * torch.conj(torch.rsqrt(1 - self * self))", .cast = CAST_FULL),
    FLOAT("acos", "acos(self)", "-grad * torch.conj(torch.rsqrt(1 - self * self))", .cast = CAST_FULL),
    FLOAT("atan", "atan(self)", "grad / torch.conj(self * self + 1)"),
    FLOAT("sinh", "sinh(self)", "grad * torch.conj(torch.cosh(self))", .cast = CAST_FULL),
    FLOAT("cosh", "cosh(self)", "grad * torch.conj(torch.sinh(self))", .cast = CAST_FULL),
    FLOAT("tanh", "tanh(self)", "torch.tanh_backward(grad, result)"),
    FLOAT("asinh", "asinh(self)", "grad * torch.conj(torch.rsqrt(self * self + 1))"),
    FLOAT("acosh", "acosh(self)", "grad * torch.conj(torch.rsqrt(self * self - 1))"),
    FLOAT("atanh", "atanh(self)", "grad / torch.conj(1 - self * self)"),
    FLOAT("sigmoid", "sigmoid(self)", "torch.sigmoid_backward(grad, result)",
          .extras = &(const RowExtras){.activation = ACTIVATION_SIGMOID}),
    FLOAT("erf", "erf(self)", "1.12837916709551257 * torch.exp(-self * self) * grad",
          .dtypes = "erf_vml_cpu: bool integral floating"),
    FLOAT("erfc", "erfc(self)", "-1.12837916709551257 * torch.exp(-self * self) * grad",
          .dtypes = "erfc_vml_cpu: bool integral floating"),
    FLOAT("erfinv", "erfinv(self)", "0.88622692545275801 * torch.exp(result * result) * grad",
          .dtypes = "erfinv_vml_cpu: bool integral floating", .cast = CAST_FULL),
    FLOAT("lgamma", "lgamma(self)", "grad * torch.digamma(self)", .dtypes = "lgamma_vml_cpu: bool integral floating"),
    FLOAT("digamma", "digamma(self)", "grad * torch.polygamma(1, self)", .dtypes = "digamma: bool integral floating"),
    FLOAT("i0", "i0(self)", "grad * torch.special_i1(self)", .dtypes = "i0_vml_cpu: bool integral floating"),
    FLOAT("sinc", "1 if self == 0 else sin(pi * self) / (pi * self)",
          "grad * torch.conj((torch.cos(self * 3.14159265358979324) - result) / self).masked_fill(self == 0, 0)"),
    ANGLE("deg2rad", "self * 0.017453292519943295", "grad * 0.017453292519943295"),
    ANGLE("rad2deg", "self * 57.29577951308232", "grad * 57.29577951308232"),
    {.schema = "aten::square(Tensor self) -> Tensor",
     .lower = "self ** 2",
     .shape = shape_square,
     .grad = "self: grad * torch.conj(2 * self)",
     .flags = POINTWISE},
    {.schema = "aten::neg(Tensor self) -> Tensor",
     .lower = "-self",
     .shape = shape_neg,
     .grad = "self: -grad",
     .flags = POINTWISE},
    {.schema = "aten::abs(Tensor self) -> Tensor",
     .lower = "abs(self)",
     .dtypes = "abs_cpu: integral floating complex",
     .shape = shape_abs,
     .grad = "self: grad * torch.sgn(self)",
     .flags = OP_ACCEPT_FLOAT8 | POINTWISE},
    {.schema = "aten::angle(Tensor self) -> Tensor",
     .lower = "angle(self)",
     .shape = shape_angle,
     .grad = "self: (torch.complex(torch.zeros_like(grad), grad) * self / (self.abs() * self.abs())).masked_fill(self "
             "== 0, 0) if self.is_complex() else torch.zeros_like(self)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::sign(Tensor self) -> Tensor",
     .lower = "sign(self)",
     .shape = shape_sign,
     .grad = "self: torch.zeros_like(grad)",
     .flags = POINTWISE},
    SAME("sgn", "sign(self)",
         "((grad - torch.real(grad * torch.conj(result)) * result) / self.abs()).masked_fill(self == 0, 0) if "
         "self.is_complex() else torch.zeros_like(grad)"),
    SAME("conj_physical", "conj(self)", "torch.conj(grad)"),
    {.schema = "aten::_conj_physical(Tensor self) -> Tensor",
     .lower = "conj(self)",
     .grad = "self: torch.conj(grad)",
     .flags = OP_OUT | OP_ALIASING_OK},
    STEP("floor", "floor(self)"),
    STEP("ceil", "ceil(self)"),
    STEP("round", "round(self)"),
    STEP("trunc", "trunc(self)"),
    {.schema = "aten::round.decimals(Tensor self, *, int decimals) -> Tensor",
     .dtypes = "round_cpu: floating",
     .lower = "p = pow(10, abs(decimals)); round(self) if decimals == 0 or integral else round(self * p) / p if "
              "decimals >= 0 else round(self / p) * p",
     .grad = "self: torch.zeros_like(grad)",
     .flags = POINTWISE},
    {.schema = "aten::frac(Tensor self) -> Tensor",
     .dtypes = "frac_cpu: floating",
     .lower = "self - trunc(self)",
     .grad = "self: grad",
     .flags = POINTWISE},
    {.schema = "aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
     .out = "Tensor_out: mantissa exponent",
     .lower = "frexp_mantissa(self), frexp_exponent(self)",
     .shape = shape_frexp,
     .grad = "self: grads[0] / torch.pow(2.0, results[1])"},
    {.schema = "aten::logit(Tensor self, float? eps=None) -> Tensor",
     .dtypes = "logit_cpu: bool integral floating",
     .lower = "x = self if eps is None else min(max(self, eps), 1 - eps); log(x / (1 - x))",
     .shape = shape_pointwise_float,
     .grad = "self: torch.logit_backward(grad, self, eps)",
     .flags = POINTWISE},
    {.schema = "aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
     .out = "grad_input: grad_input",
     .lower = "d = grad_output / (self * (1 - self)); (nan if self < 0 or self > 1 else d) if eps is None else 0 if "
              "self < eps or self > 1 - eps else d",
     .grad = "grad_output: torch.logit_backward(grad, self, eps); self: grad * torch.logit_backward(grad_output, self, "
             "eps) * (2 * self - 1) / (self * (1 - self))",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::polygamma(int n, Tensor self) -> Tensor",
     .dtypes = "polygamma: bool integral floating",
     .lower = "digamma(self) if n == 0 else (polygamma(n, self) if self >= 0.5 else (pi / sin(pi * self)) ** 2 - "
              "polygamma(n, 1 - self)) if n == 1 "
              "else polygamma(n, self)",
     .shape = shape_polygamma,
     .promote = "",
     .grad = "self: grad * torch.polygamma(n + 1, self)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::mvlgamma(Tensor self, int p) -> Tensor",
     .lower = "mvlgamma(self, p)",
     .shape = shape_sum_of_terms,
     .grad = "self: grad * torch.digamma(self.unsqueeze(-1) + torch.arange(0.5 - p / 2.0, 0.25, 0.5, "
             "dtype=self.dtype)).sum(-1)",
     .flags = POINTWISE},
    {.schema = "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
     .dtypes = "nan_to_num: bool integral floating",
     .lower = "self if integral else (0 if nan is None else nan) if isnan(self) else (largest if posinf is None else "
              "posinf) if self == inf "
              "else (-largest if neginf is None else neginf) if self == -inf else self",
     .shape = shape_pointwise_kept,
     .grad = "self: grad * torch.isfinite(self)",
     .flags = POINTWISE}};

OP_TABLE(op_table_pointwise_unary, rows);
