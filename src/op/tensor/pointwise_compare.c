/* Rows of comparisons, logic, bits, choices between operands, and tests of one number. */
#include "call/options.h"
#include "call/row.h"

#define POINTWISE (OP_INPLACE | OP_OUT | OP_ALIASING_OK)
#define PREDICATE (OP_INPLACE | OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE)

static Status shape_clamp(Call *call, TensorSpec *specs) {
  if (call_is_none(call, 1) && call_is_none(call, 2))
    return status_new(ERROR_RUNTIME, "torch.clamp: At least one of 'min' or 'max' must not be None");
  TRY(shape_pointwise(call, specs));
  if (dtype_is_complex(specs->dtype)) return status_new(ERROR_RUNTIME, "clamp is not supported for complex types");
  /* With one bound it is maximum or minimum, which take bools; with numbers there are none. */
  bool both = call_value(call, 1).tag == TAG_TENSOR && call_value(call, 2).tag == TAG_TENSOR;
  if (both && specs->dtype == DTYPE_BOOL) return status_new(ERROR_RUNTIME, "\"clamp_cpu\" not implemented for 'Bool'");
  return OK;
}

static Status shape_where(Call *call, TensorSpec *specs) {
  DType condition = (DType)call_tensor(call, 0)->dtype;
  if (condition != DTYPE_BOOL && condition != DTYPE_UINT8)
    return status_new(ERROR_RUNTIME, "where expected condition to be a boolean tensor, but got a tensor with dtype %s",
                      dtype_scalar_name(condition));
  return shape_pointwise(call, specs);
}

/* The result keeps self's dtype and is row-major; broadcasting may widen it. */
static Status shape_masked_fill(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0), *mask = call_tensor(call, 1);
  if (mask->dtype == DTYPE_UINT8 && work_is_torch2(&call->exec->work))
    return status_new(ERROR_RUNTIME, "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char");
  if (mask->dtype != DTYPE_BOOL && mask->dtype != DTYPE_UINT8)
    return status_new(ERROR_RUNTIME, "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                      dtype_scalar_name((DType)mask->dtype));
  IValue value = call_value(call, 2);
  if (value.tag == TAG_TENSOR && value.tensor->ndim > 0)
    return status_new(ERROR_RUNTIME,
                      "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).",
                      value.tensor->ndim);
  bool complex_value =
      value.tag == TAG_COMPLEX || (value.tag == TAG_TENSOR && dtype_is_complex((DType)value.tensor->dtype));
  if (complex_value && !dtype_is_complex((DType)self->dtype))
    return status_new(ERROR_RUNTIME, "value cannot be converted to type %s without overflow",
                      dtype_scalar_name((DType)self->dtype));
  complex128 element;
  if (value.tag != TAG_TENSOR) TRY(scalar_to_element(value, (DType)self->dtype, &element));
  TRY(shape_pointwise(call, specs));
  specs->dtype = (DType)self->dtype;
  specs->has_strides = false;
  return OK;
}

static Status check_tolerance(const char *name, double tolerance) {
  if (tolerance >= 0) return OK;
  return status_new(ERROR_RUNTIME, "%s must be greater than or equal to zero, but got %g", name, tolerance);
}

static Status shape_isclose(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype, other = (DType)call_tensor(call, 1)->dtype;
  if (self != other)
    return status_new(ERROR_RUNTIME, "%s did not match %s", dtype_scalar_name(self), dtype_scalar_name(other));
  TRY(check_tolerance("rtol", call_double(call, 2)));
  TRY(check_tolerance("atol", call_double(call, 3)));
  return shape_pointwise_bool(call, specs);
}

/* Infinities have a sign only where numbers have an order. */
static Status shape_infinite(Call *call, TensorSpec *specs) {
  if (dtype_is_complex((DType)call_tensor(call, 0)->dtype)) {
    Str name = call->op->name;
    return status_new(ERROR_RUNTIME, "%.*s does not support complex inputs.", (int)(name.length - strlen("aten::")),
                      name.data + strlen("aten::"));
  }
  return shape_pointwise_bool(call, specs);
}

/* ops: the overloads that take tensors or numbers on the right */
#define COMPARISON_OF(name, formula, more, ...)                                               \
  {.schema = "aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor",                    \
   .lower = formula,                                                                          \
   .shape = shape_pointwise_bool,                                                             \
   .flags = PREDICATE | (more),                                                               \
   __VA_ARGS__},                                                                              \
  {                                                                                           \
    .schema = "aten::" name ".Scalar(Tensor self, Scalar other) -> Tensor", .lower = formula, \
    .shape = shape_pointwise_bool, .flags = PREDICATE | (more), __VA_ARGS__                   \
  }
#define COMPARISON(name, alias, formula, kinds, more)                \
  COMPARISON_OF(name, formula, more, .dtypes = name "_cpu: " kinds), \
      COMPARISON_OF(alias, formula, more, .same_as = "aten::" name, .dtypes = name "_cpu: " kinds)
#define LOGIC(name, formula)                                                                                          \
  {                                                                                                                   \
    .schema = "aten::" name "(Tensor self, Tensor other) -> Tensor", .lower = formula, .shape = shape_pointwise_bool, \
    .flags = PREDICATE                                                                                                \
  }
#define BITS_OF(name, right, type, formula, kinds, more)                                                            \
  {                                                                                                                 \
    .schema = "aten::" name "." right "(Tensor self, " type " other) -> Tensor", .lower = formula, .dtypes = kinds, \
    .flags = PREDICATE | (more)                                                                                     \
  }
#define BITS(name, method, formula)                                                                                 \
  BITS_OF("bitwise_" name, "Tensor", "Tensor", formula, "bitwise_" name "_cpu: bool integral", OP_ACCEPT_UNSIGNED), \
      BITS_OF("bitwise_" name, "Scalar", "Scalar", formula, "bitwise_" name "_cpu: bool integral",                  \
              OP_ACCEPT_UNSIGNED),                                                                                  \
      {.schema = "aten::bitwise_" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor",                       \
       .lower = formula,                                                                                            \
       .dtypes = "bitwise_" name "_cpu: bool integral",                                                             \
       .flags = OP_ACCEPT_UNSIGNED | OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE},                              \
      METHOD_OF(method, "Tensor", formula, "bitwise_" name "_cpu: bool integral", OP_ACCEPT_UNSIGNED),              \
      METHOD_OF(method, "Scalar", formula, "bitwise_" name "_cpu: bool integral", OP_ACCEPT_UNSIGNED)
#define SHIFT(name, method, formula)                                                            \
  BITS_OF("bitwise_" name, "Tensor", "Tensor", formula, method "_cpu: integral", 0),            \
      BITS_OF("bitwise_" name, "Tensor_Scalar", "Scalar", formula, method "_cpu: integral", 0), \
      {.schema = "aten::bitwise_" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor",   \
       .lower = formula,                                                                        \
       .dtypes = method "_cpu: integral",                                                       \
       .flags = OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE},                               \
      METHOD_OF(method, "Tensor", formula, method "_cpu: integral", 0),                         \
      METHOD_OF(method, "Scalar", formula, method "_cpu: integral", 0)
/* `__and__`, and `__iand__` that writes into self */
#define METHOD_OF(method, right, formula, kinds, more)                                                    \
  {                                                                                                       \
    .schema = "aten::__" method "__." right "(Tensor self, " right " other) -> Tensor", .lower = formula, \
    .dtypes = kinds, .flags = OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE | (more)                    \
  }
/* Of float8 only one kind has infinities. */
static Status shape_of_infinities(Call *call, TensorSpec *specs) {
  DType dtype = (DType)call_tensor(call, 0)->dtype;
  if (dtype_is_float8(dtype) && dtype != DTYPE_FLOAT8_E5M2) return call_unsupported_dtype(call, dtype);
  return shape_pointwise_bool(call, specs);
}
#define TEST(name, formula, more) TEST_OF(name, formula, more, shape_pointwise_bool)
#define TEST_OF(name, formula, more, shape_)                                              \
  {                                                                                       \
    .schema = "aten::" name "(Tensor self) -> Tensor", .lower = formula, .shape = shape_, \
    .flags = OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE | (more)                              \
  }

#define INFINITE(name, formula)                                                                   \
  {                                                                                               \
    .schema = "aten::" name "(Tensor self) -> Tensor", .lower = formula, .shape = shape_infinite, \
    .flags = OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE                                      \
  }

#define GREATER_GRAD                                                                                                  \
  "self: torch.where(self < other, 0, torch.where(self == other, grad / 2, grad)); other: torch.where(self > other, " \
  "0, "                                                                                                               \
  "torch.where(self == other, grad / 2, grad))"
#define LESSER_GRAD                                                                                                   \
  "self: torch.where(self > other, 0, torch.where(self == other, grad / 2, grad)); other: torch.where(self < other, " \
  "0, "                                                                                                               \
  "torch.where(self == other, grad / 2, grad))"
#define CLAMP "low = self if min is None else max(self, min); low if max is None else min(low, max)"
#define CLIP(name, ...)                                                                                           \
  {.schema = "aten::" name "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",                         \
   .lower = CLAMP,                                                                                                \
   .shape = shape_clamp,                                                                                          \
   .promote = "min max",                                                                                          \
   .grad = "self: torch.clamp_backward(grad, self, min, max)",                                                    \
   .flags = POINTWISE,                                                                                            \
   __VA_ARGS__},                                                                                                  \
  {                                                                                                               \
    .schema = "aten::" name ".Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", .lower = CLAMP, \
    .shape = shape_clamp,                                                                                         \
    .grad =                                                                                                       \
        "self: torch.clamp_backward(grad, self, min, max); min: torch.clamp_backward_min(grad, self, min, max); " \
        "max: torch.clamp_backward_max(grad, self, min, max)",                                                    \
    .flags = POINTWISE, __VA_ARGS__                                                                               \
  }
#define INSIDE \
  "inside = (True if min is None else self >= min) and (True if max is None else self <= max); grad if inside else 0"

static const OpRow rows[] = {
    COMPARISON_OF("eq", "self == other", OP_ACCEPT_LIMITED),
    COMPARISON("ne", "not_equal", "self != other", "bool integral floating complex", OP_ACCEPT_LIMITED),
    COMPARISON("lt", "less", "self < other", "bool integral floating", 0),
    COMPARISON("le", "less_equal", "self <= other", "bool integral floating", 0),
    COMPARISON("gt", "greater", "self > other", "bool integral floating", 0),
    COMPARISON("ge", "greater_equal", "self >= other", "bool integral floating", 0),
    LOGIC("logical_and", "self and other"),
    LOGIC("logical_or", "self or other"),
    LOGIC("logical_xor", "bool(self) ^ bool(other)"),
    {.schema = "aten::logical_not(Tensor self) -> Tensor",
     .lower = "not self",
     .shape = shape_pointwise_bool,
     .flags = PREDICATE},
    {.schema = "aten::bitwise_not(Tensor self) -> Tensor",
     .lower = "~self",
     .dtypes = "bitwise_not_cpu: bool integral",
     .flags = PREDICATE},
    BITS("and", "and", "self & other"),
    BITS("or", "or", "self | other"),
    BITS("xor", "xor", "self ^ other"),
    SHIFT("left_shift", "lshift", "self << other"),
    SHIFT("right_shift", "rshift", "self >> other"),
    {.schema = "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool "
               "equal_nan=False) -> Tensor",
     .lower = "d = abs(self - other); self == other or (d < inf and d <= real(atol) + abs(rtol * other)) or (equal_nan "
              "and isnan(self) and isnan(other))",
     .shape = shape_isclose,
     .promote = "rtol",
     .flags = OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE},
    TEST("isnan", "isnan(self)", OP_OUT | OP_ACCEPT_LIMITED),
    TEST_OF("isinf", "isinf(self)", OP_OUT | OP_ACCEPT_LIMITED, shape_of_infinities),
    TEST_OF("isfinite", "True if integral else abs(self) < inf", OP_OUT | OP_ACCEPT_LIMITED, shape_of_infinities),
    INFINITE("isposinf", "False if integral else self == inf"),
    INFINITE("isneginf", "False if integral else self == -inf"),
    TEST("isreal", "imag(self) == 0 if complex else True", 0),
    TEST("signbit", "False if boolean else signbit(self)", OP_OUT),
    {.schema = "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
     .lower = "self if condition else other",
     .shape = shape_where,
     .grad = "self: torch.where(condition, grad, 0); other: torch.where(condition, 0, grad)",
     .flags = OP_ACCEPT_LIMITED | OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
     .lower = "self if condition else other",
     .shape = shape_where,
     .grad = "other: torch.where(condition, 0, grad)",
     .flags = OP_ACCEPT_LIMITED | OP_ALIASING_OK},
    {.schema = "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
     .lower = "self if condition else other",
     .shape = shape_where,
     .grad = "self: torch.where(condition, grad, 0)",
     .flags = OP_ACCEPT_LIMITED | OP_ALIASING_OK},
    {.schema = "aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
     .lower = "self if condition else other",
     .shape = shape_where,
     .flags = OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
     .lower = "value if mask else self",
     .shape = shape_masked_fill,
     .grad = "self: grad.masked_fill(mask, 0)",
     .flags = POINTWISE | OP_WRITES_EXPANDED},
    {.schema = "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
     .lower = "value if mask else self",
     .shape = shape_masked_fill,
     .grad = "self: grad.masked_fill(mask, 0); value: grad.masked_fill(torch.logical_not(mask), 0).sum()",
     .flags = POINTWISE | OP_WRITES_EXPANDED},
    CLIP("clamp"),
    CLIP("clip", .same_as = "aten::clamp"),
    {.schema = "aten::clamp_backward(Tensor grad, Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
     .lower = INSIDE,
     .promote = "min max",
     .grad = "grad: torch.clamp_backward(grad, self, min, max)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::clamp_backward.Tensor(Tensor grad, Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
     .lower = INSIDE,
     .grad = "grad: torch.clamp_backward(grad, self, min, max)",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::clamp_backward_min(Tensor grad, Tensor self, Tensor? min, Tensor? max) -> Tensor",
     .lower = "grad if self < min and (True if max is None else min < max) else 0",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::clamp_backward_max(Tensor grad, Tensor self, Tensor? min, Tensor? max) -> Tensor",
     .lower = "grad if self > max or (False if min is None else max < min) else 0",
     .flags = OP_ALIASING_OK},
    {.schema = "aten::clamp_min(Tensor self, Scalar min) -> Tensor",
     .lower = "max(self, min)",
     .promote = "min",
     .grad = "self: torch.where(self < min, 0, grad)",
     .flags = POINTWISE},
    {.schema = "aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
     .lower = "max(self, min)",
     .grad = "self: torch.where(self < min, 0, grad); min: torch.where(self >= min, 0, grad)",
     .flags = POINTWISE},
    {.schema = "aten::clamp_max(Tensor self, Scalar max) -> Tensor",
     .lower = "min(self, max)",
     .promote = "max",
     .grad = "self: torch.where(self > max, 0, grad)",
     .flags = POINTWISE},
    {.schema = "aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
     .lower = "min(self, max)",
     .grad = "self: torch.where(self > max, 0, grad); max: torch.where(self <= max, 0, grad)",
     .flags = POINTWISE},
    {.schema = "aten::maximum(Tensor self, Tensor other) -> Tensor",
     .lower = "max(self, other)",
     .grad = GREATER_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::minimum(Tensor self, Tensor other) -> Tensor",
     .lower = "min(self, other)",
     .grad = LESSER_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::max.other(Tensor self, Tensor other) -> Tensor",
     .out = "out",
     .lower = "max(self, other)",
     .grad = GREATER_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::min.other(Tensor self, Tensor other) -> Tensor",
     .out = "out",
     .lower = "min(self, other)",
     .grad = LESSER_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::fmax(Tensor self, Tensor other) -> Tensor",
     .lower = "fmax(self, other)",
     .grad = "self: grad.masked_fill(torch.logical_not(torch.logical_or(self >= other, torch.isnan(other))), 0); "
             "other: grad.masked_fill(torch.logical_or(self >= other, torch.isnan(other)), 0)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::fmin(Tensor self, Tensor other) -> Tensor",
     .lower = "fmin(self, other)",
     .grad = "self: grad.masked_fill(torch.logical_not(torch.logical_or(self <= other, torch.isnan(other))), 0); "
             "other: grad.masked_fill(torch.logical_or(self <= other, torch.isnan(other)), 0)",
     .flags = OP_OUT | OP_ALIASING_OK}};

OP_TABLE(op_table_pointwise_compare, rows);
