/* Rows of the reductions: sum, mean, prod, any, all, extremes, variances, norms. */
#include <assert.h>
#include <math.h>

#include "call/row_extras.h"
#include "compute/reduce/reduce_ops.h"
#include "tile/line.h"

/* What a row computes. */
typedef struct Reduction {
  const ReduceOp *ops[3]; /* ORDER ReduceClass; NULL: not for such values */
  bool as_output;         /* in the class of the output's dtype, not of self's */
} Reduction;

static ReduceClass class_of(DType dtype) {
  return dtype_is_complex(dtype) ? REDUCE_C128 : dtype_is_floating(dtype) ? REDUCE_F64 : REDUCE_I64;
}

static DType call_dtype_argument(const Call *call, DType fallback) {
  int i = call_find_argument(call, "dtype");
  return i < 0 ? fallback : call_dtype_or(call, (uint32_t)i, fallback);
}

/* Arguments by their schema names: dim (int, int?, int[], int[]?; empty or absent: all), keepdim. */
static Status read_dims(const Call *call, int ndim, ReduceDims *out) {
  assert(ndim >= 0 && ndim <= TENSOR_MAX_DIMS);
  memset(out, 0, sizeof *out);
  int keepdim = call_find_argument(call, "keepdim"), dim = call_find_argument(call, "dim");
  out->keepdim = keepdim >= 0 && call_bool(call, (uint32_t)keepdim);
  const int64_t *dims = NULL;
  int64_t single;
  size_t count = 0;
  if (dim >= 0 && call->inputs[dim].tag == TAG_INT) {
    single = call->inputs[dim].i;
    dims = &single;
    count = 1;
  } else if (dim >= 0 && call->inputs[dim].tag == TAG_LIST) {
    dims = call_ints(call, (uint32_t)dim, &count);
  }
  if (count == 0) memset(out->reduced, true, (size_t)ndim);
  for (size_t i = 0; i < count; i++) {
    int64_t d;
    TRY(dim_wrap(dims[i], ndim, &d));
    if (out->reduced[d])
      return status_new(ERROR_RUNTIME, "dim %lld appears multiple times in the list of dims", (long long)d);
    out->reduced[d] = true;
  }
  return OK;
}

static Status one_output(Call *call, TensorSpec *specs, DType dtype) {
  const Tensor *self = call_tensor(call, 0);
  ReduceDims dims;
  TRY(read_dims(call, self->ndim, &dims));
  reduce_spec(self, &dims, dtype, specs);
  return OK;
}

/* Runs over the arguments' dimensions into the outputs, of which the one is NULL that is not wanted. */
static Status run(Call *call, const Reduction *reduction, ReduceParams params, Tensor *values, Tensor *indices) {
  const Tensor *self = call_tensor(call, 0);
  ReduceDims dims;
  TRY(read_dims(call, self->ndim, &dims));
  DType dtype = (DType)(reduction->as_output ? call_out(call, 0) : self)->dtype;
  const ReduceOp *op = reduction->ops[class_of(dtype)];
  if (!op) return call_unsupported_dtype(call, dtype);
  return reduce_run(&call->exec->work, op, &params, self, &dims, (Tensor *const[2]){values, indices});
}
static Status kernel_reduce(Call *call) {
  return run(call, call_with(call), (ReduceParams){0}, call_out(call, 0),
             call->output_count > 1 ? call_out(call, 1) : NULL);
}

static const Reduction sum_reduction = {{&reduce_sum_f64, &reduce_sum_i64, &reduce_sum_c128}, .as_output = true},
                       nansum_reduction = {{&reduce_nansum_f64, &reduce_sum_i64, NULL}},
                       prod_reduction = {{&reduce_prod_f64, &reduce_prod_i64, &reduce_prod_c128}, .as_output = true},
                       mean_reduction = {{&reduce_mean_f64, NULL, &reduce_mean_c128}, .as_output = true},
                       any_reduction = {{&reduce_any_f64, &reduce_any_i64, &reduce_any_c128}},
                       all_reduction = {{&reduce_all_f64, &reduce_all_i64, &reduce_all_c128}},
                       count_reduction = {{&reduce_count_f64, &reduce_count_i64, &reduce_count_c128}},
                       max_reduction = {{&reduce_max_f64, &reduce_max_i64, NULL}},
                       min_reduction = {{&reduce_min_f64, &reduce_min_i64, NULL}},
                       logsumexp_reduction = {{&reduce_logsumexp_f64, NULL, &reduce_logsumexp_c128}, .as_output = true};

/* ---- sum, prod: integers widen to int64 ---- */
static Status shape_sum(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype;
  return one_output(call, specs, call_dtype_argument(call, class_of(self) == REDUCE_I64 ? DTYPE_INT64 : self));
}

/* ---- mean ---- */
static Status shape_mean(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype, dtype = call_dtype_argument(call, self);
  if (class_of(dtype) == REDUCE_I64)
    return status_new(
        ERROR_RUNTIME,
        "mean(): could not infer output dtype. %s dtype must be either a floating point or complex dtype. Got: %s",
        dtype == self ? "Input" : "Optional", dtype_scalar_name(dtype));
  return one_output(call, specs, dtype);
}

/* ---- any, all, count_nonzero ---- */
static Status shape_bool(Call *call, TensorSpec *specs) {
  return one_output(call, specs, call_tensor(call, 0)->dtype == DTYPE_UINT8 ? DTYPE_UINT8 : DTYPE_BOOL);
}
static Status shape_count(Call *call, TensorSpec *specs) {
  return one_output(call, specs, DTYPE_INT64);
}

/* ---- extremes ---- */
static Status check_not_empty(const Call *call, const ReduceDims *dims) {
  const Tensor *self = call_tensor(call, 0);
  Str name = str_slice(call->op->name, 6, call->op->name.length);
  int dim = call_find_argument(call, "dim");
  bool whole = dim < 0 || call_is_none(call, (uint32_t)dim);
  if (whole && self->numel == 0)
    return status_exception("IndexError",
                            STR_FMT
                            "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
                            "dim with the 'dim' argument.",
                            STR_ARG(name));
  for (int d = 0; d < self->ndim; d++)
    if (dims->reduced[d] && self->sizes[d] == 0)
      return status_exception("IndexError", STR_FMT "(): Expected reduction dim %d to have non-zero size.",
                              STR_ARG(name), d);
  return OK;
}
static Status shape_extreme(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  ReduceDims dims;
  TRY(read_dims(call, self->ndim, &dims));
  TRY(check_not_empty(call, &dims));
  reduce_spec(self, &dims, (DType)self->dtype, &specs[0]);
  if (call->output_count > 1) reduce_spec(self, &dims, DTYPE_INT64, &specs[1]);
  return OK;
}

static Status shape_arg_extreme(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  ReduceDims dims;
  TRY(read_dims(call, self->ndim, &dims));
  TRY(check_not_empty(call, &dims));
  reduce_spec(self, &dims, DTYPE_INT64, specs);
  return OK;
}
static Status kernel_arg_extreme(Call *call) {
  return run(call, call_with(call), (ReduceParams){0}, NULL, call_out(call, 0));
}

static Status shape_aminmax(Call *call, TensorSpec *specs) {
  TRY(shape_arg_extreme(call, &specs[0]));
  specs[0].dtype = (DType)call_tensor(call, 0)->dtype;
  if (call_tensor(call, 0)->ndim == 0 && !call_is_none(call, 1) &&
      call_bool(call, 2)) { /* a kept dimension where there was none */
    specs[0].ndim = 1;
    specs[0].sizes[0] = 1;
  }
  specs[1] = specs[0];
  return OK;
}
static Status kernel_aminmax(Call *call) {
  TRY(run(call, &min_reduction, (ReduceParams){0}, call_out(call, 0), NULL));
  return run(call, &max_reduction, (ReduceParams){0}, call_out(call, 1), NULL);
}

/* ---- variances: (var) or (var, mean) ---- */
static Status shape_var(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype;
  if (class_of(self) == REDUCE_I64) {
    Str name = call->output_count > 1 ? str_slice(call->op->name, 6, call->op->name.length) : STR("std and var");
    return status_new(ERROR_RUNTIME, STR_FMT " only support floating point and complex dtypes", STR_ARG(name));
  }
  TRY(one_output(call, &specs[0], dtype_is_complex(self) ? dtype_to_real(self) : self));
  return call->output_count > 1 ? one_output(call, &specs[1], self) : OK;
}
static Status kernel_var(Call *call) {
  bool take_root = call_param(call);
  static const Reduction variance = {.ops = {&reduce_var_f64, NULL, &reduce_var_c128}};
  int unbiased = call_find_argument(call, "unbiased"), correction = call_find_argument(call, "correction");
  ReduceParams params = {.correction = 1, .take_root = take_root};
  if (unbiased >= 0) params.correction = call_bool(call, (uint32_t)unbiased) ? 1 : 0;
  if (correction >= 0 && !call_is_none(call, (uint32_t)correction))
    params.correction = ivalue_to_double(call_scalar(call, (uint32_t)correction));
  return run(call, &variance, params, call_out(call, 0), call->output_count > 1 ? call_out(call, 1) : NULL);
}

/* ---- logsumexp ---- */
static Status shape_logsumexp(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype;
  if (dtype_is_complex(self) && !work_is_torch2(&call->exec->work)) return call_unsupported_dtype(call, self);
  return one_output(call, specs, class_of(self) == REDUCE_I64 ? dtype_default() : self);
}

/* ---- hash_tensor: the bits as float64 or int64, by exclusive or ---- */
static const Reduction hash_reduction = {{&reduce_xor_f64, &reduce_xor_i64, NULL}};
static Status shape_hash(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  int64_t mode = call_int(call, 3);
  if (mode) return status_new(ERROR_RUNTIME, "Unknown hash_tensor mode: %lld", (long long)mode);
  if (!self->numel && !call_list(call, 1)->length)
    return status_new(ERROR_RUNTIME,
                      "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
                      "reduction dim with the 'dim' argument.");
  if (dtype_is_complex((DType)self->dtype)) return call_unsupported_dtype(call, (DType)self->dtype);
  return one_output(call, specs, DTYPE_UINT64);
}

/* ---- norms ---- */
static Status shape_norm(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  DType dtype = call_dtype_argument(call, (DType)self->dtype);
  if (class_of((DType)self->dtype) == REDUCE_I64 || class_of(dtype) == REDUCE_I64) {
    const char *name = dtype_scalar_name((DType)self->dtype);
    if (str_starts_with(call->op->name, "aten::linalg_"))
      return status_new(ERROR_RUNTIME,
                        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s", name);
    return status_new(ERROR_RUNTIME, "norm(): input dtype should be either floating point or complex. Got %s instead.",
                      name);
  }
  int ord = call_find_argument(call, "ord");
  if (ord < 0) ord = call_find_argument(call, "p");
  double p = ord < 0 || call_is_none(call, (uint32_t)ord) ? 2 : ivalue_to_double(call_scalar(call, (uint32_t)ord));
  ReduceDims dims;
  TRY(read_dims(call, self->ndim, &dims));
  bool is_strict = str_starts_with(call->op->name, "aten::linalg_"); /* others give 0 */
  for (int d = 0; d < self->ndim && is_strict; d++)
    if (dims.reduced[d] && self->sizes[d] == 0 && (p < 0 || isinf(p)))
      return status_new(ERROR_RUNTIME,
                        "linalg.vector_norm cannot compute the %g norm on an empty tensor because the operation does "
                        "not have an identity",
                        p);
  return one_output(call, specs, dtype_is_complex(dtype) ? dtype_to_real(dtype) : dtype);
}
static Status kernel_norm(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  int ord = call_find_argument(call, "ord");
  if (ord < 0) ord = call_find_argument(call, "p");
  double p = ord < 0 || call_is_none(call, (uint32_t)ord) ? 2 : ivalue_to_double(call_scalar(call, (uint32_t)ord));
  const ReduceOp *op = p == 0     ? &reduce_norm0
                       : p == 1   ? &reduce_norm1
                       : p == 2   ? &reduce_norm2
                       : isinf(p) ? (p > 0 ? &reduce_norm_inf : &reduce_norm_neg_inf)
                                  : &reduce_norm_p;
  if (self->numel == 0) {
    tensor_fill_zero(call_out(call, 0));
    return OK;
  }
  ReduceDims dims;
  TRY(read_dims(call, self->ndim, &dims));
  ReduceParams params = {.p = p};
  return reduce_run(&call->exec->work, op, &params, self, &dims, (Tensor *const[2]){call_out(call, 0), NULL});
}

#define REDUCE_OF(text, more, shape_, kernel_, ...) \
  { .schema = text, .shape = shape_, .kernel = kernel_, .flags = OP_OUT | (more), __VA_ARGS__ }
#define REDUCE(text, ...) REDUCE_OF(text, 0, __VA_ARGS__)
#define PICK(text, ...) REDUCE_OF(text, OP_NOT_DIFFERENTIABLE, __VA_ARGS__)
/* Over several dimensions, none of them, or (None) all: PyTorch 2.2 and later. */
#define TRUTH_OVER_DIMS(name)                                                            \
  "truth = self if self.dtype == torch.uint8 else self != 0\n"                           \
  "axes = same_sequence(self.dim()) if dim is None else wrapped_axes(dim, self.dim())\n" \
  "if self.dtype == torch.uint8:\n"                                                      \
  "    truth = (self != 0).to(torch.uint8)\n"                                            \
  "for axis in axes:\n"                                                                  \
  "    truth = torch." name                                                              \
  "(truth, axis, True)\n"                                                                \
  "if keepdim or self.dim() == 0:\n"                                                     \
  "    return truth\n"                                                                   \
  "return torch.squeeze(truth, axes)"
/* Helpers in gradient formulas (expand_reduced, ...) stand in prelude/gradients_tensor.py. */
static const OpRow rows[] = {
    REDUCE_OF("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", OP_ACCEPT_UNSIGNED, shape_sum,
              kernel_reduce, .with = &sum_reduction, .grad = "self: grad.expand(self.size())",
              .cast = CAST_FULL_UNLESS_DTYPE),
    REDUCE_OF(
        "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        OP_ACCEPT_UNSIGNED, shape_sum, kernel_reduce, .with = &sum_reduction,
        .grad = "self: expand_reduced(grad, self.size(), dim, keepdim)", .out = "IntList_out",
        .cast = CAST_FULL_UNLESS_DTYPE, .line = LINE_SUM),
    REDUCE("aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
           shape_sum, kernel_reduce, .with = &nansum_reduction,
           .grad = "self: expand_reduced(grad, self.size(), dim, keepdim) * self.isnan().logical_not()"),
    REDUCE_OF("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", OP_ACCEPT_UNSIGNED, shape_sum,
              kernel_reduce, .with = &prod_reduction, .grad = "self: prod_backward(grad, self, result)",
              .cast = CAST_FULL_UNLESS_DTYPE),
    REDUCE_OF("aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
              OP_ACCEPT_UNSIGNED, shape_sum, kernel_reduce, .with = &prod_reduction,
              .grad = "self: prod_dim_backward(grad, self, result, dim, keepdim)", .out = "int_out",
              .cast = CAST_FULL_UNLESS_DTYPE),
    REDUCE("aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape_mean, kernel_reduce,
           .with = &mean_reduction, .grad = "self: grad.expand(self.size()) / self.numel()"),
    REDUCE("aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
           shape_mean, kernel_reduce, .with = &mean_reduction,
           .grad = "self: expand_reduced(grad, self.size(), dim, keepdim) * (result.numel() / self.numel())",
           .out = "out", .line = LINE_MEAN),
    REDUCE_OF("aten::any(Tensor self) -> Tensor", OP_NOT_DIFFERENTIABLE | OP_ACCEPT_LIMITED, shape_bool, kernel_reduce,
              .with = &any_reduction, .out = "all_out"),
    REDUCE_OF("aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
              OP_NOT_DIFFERENTIABLE | OP_ACCEPT_LIMITED, shape_bool, kernel_reduce, .with = &any_reduction,
              .out = "out"),
    {.schema = "aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
     .body = TRUTH_OVER_DIMS("any"),
     .flags = OP_NOT_DIFFERENTIABLE,
     .out = "dims_out"},
    {.schema = "aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
     .body = TRUTH_OVER_DIMS("all"),
     .flags = OP_NOT_DIFFERENTIABLE,
     .out = "dims_out"},
    REDUCE_OF("aten::all(Tensor self) -> Tensor", OP_NOT_DIFFERENTIABLE | OP_ACCEPT_LIMITED, shape_bool, kernel_reduce,
              .with = &all_reduction, .out = "all_out"),
    REDUCE_OF("aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
              OP_NOT_DIFFERENTIABLE | OP_ACCEPT_LIMITED, shape_bool, kernel_reduce, .with = &all_reduction,
              .out = "out"),
    PICK("aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", shape_count, kernel_reduce,
         .with = &count_reduction),
    PICK("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", shape_count, kernel_reduce,
         .with = &count_reduction),
    /* the outs of max and min would shadow the forms of two tensors */
    REDUCE("aten::max(Tensor self) -> Tensor", shape_extreme, kernel_reduce, .with = &max_reduction,
           .grad = "self: spread_evenly(grad, self == result)", .extras = &(const RowExtras){.blocked = "unary_out"}),
    REDUCE("aten::min(Tensor self) -> Tensor", shape_extreme, kernel_reduce, .with = &min_reduction,
           .grad = "self: spread_evenly(grad, self == result)", .extras = &(const RowExtras){.blocked = "unary_out"}),
    REDUCE("aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", shape_extreme,
           kernel_reduce, .with = &max_reduction,
           .grad = "self: value_selecting_reduction_backward(grad, dim, results[1], self.size(), keepdim)",
           .out = "dim_max: max max_values"),
    REDUCE("aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", shape_extreme,
           kernel_reduce, .with = &min_reduction,
           .grad = "self: value_selecting_reduction_backward(grad, dim, results[1], self.size(), keepdim)",
           .out = "dim_min: min min_indices"),
    REDUCE("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", shape_extreme, kernel_reduce,
           .with = &max_reduction, .grad = "self: amax_backward(grad, self, result, dim, keepdim)", .line = LINE_MAX),
    REDUCE("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", shape_extreme, kernel_reduce,
           .with = &min_reduction, .grad = "self: amax_backward(grad, self, result, dim, keepdim)", .line = LINE_MIN),
    PICK("aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", shape_arg_extreme,
         kernel_arg_extreme, .with = &max_reduction, .dtypes = "argmax_cpu: integral floating"),
    PICK("aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", shape_arg_extreme,
         kernel_arg_extreme, .with = &min_reduction, .dtypes = "argmin_cpu: integral floating"),
    REDUCE("aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
           shape_aminmax, kernel_aminmax,
           .grad = "self: aminmax_backward(grads, self, dim, keepdim, results[0], results[1])", .out = "out: min max"),
    REDUCE("aten::var(Tensor self, bool unbiased=True) -> Tensor", shape_var, kernel_var, .param = false,
           .grad = "self: var_backward(grad, self, None, 1. if unbiased else 0., False)"),
    REDUCE("aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", shape_var,
           kernel_var, .param = false, .grad = "self: var_backward(grad, self, dim, 1. if unbiased else 0., keepdim)",
           .out = "out"),
    REDUCE(
        "aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        shape_var, kernel_var, .param = false,
        .grad = "self: var_backward(grad, self, dim, freedom(correction), keepdim)"),
    REDUCE("aten::std(Tensor self, bool unbiased=True) -> Tensor", shape_var, kernel_var, .param = true,
           .grad = "self: std_backward(grad, result, self, None, 1. if unbiased else 0., False)"),
    REDUCE("aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", shape_var,
           kernel_var, .param = true,
           .grad = "self: std_backward(grad, result, self, dim, 1. if unbiased else 0., keepdim)", .out = "out"),
    REDUCE(
        "aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        shape_var, kernel_var, .param = true,
        .grad = "self: std_backward(grad, result, self, dim, freedom(correction), keepdim)"),
    REDUCE("aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", shape_var, kernel_var, .param = false,
           .grad = "self: var_mean_backward(grads, self, None, 1. if unbiased else 0., False)"),
    REDUCE("aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
           shape_var, kernel_var, .param = false,
           .grad = "self: var_mean_backward(grads, self, dim, 1. if unbiased else 0., keepdim)"),
    REDUCE("aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
           "-> (Tensor, "
           "Tensor)",
           shape_var, kernel_var, .param = false,
           .grad = "self: var_mean_backward(grads, self, dim, freedom(correction), keepdim)"),
    REDUCE("aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", shape_var, kernel_var, .param = true,
           .grad = "self: std_mean_backward(grads, results[0], self, None, 1. if unbiased else 0., False)"),
    REDUCE("aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
           shape_var, kernel_var, .param = true,
           .grad = "self: std_mean_backward(grads, results[0], self, dim, 1. if unbiased else 0., keepdim)"),
    REDUCE("aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
           "-> (Tensor, "
           "Tensor)",
           shape_var, kernel_var, .param = true,
           .grad = "self: std_mean_backward(grads, results[0], self, dim, freedom(correction), keepdim)"),
    REDUCE("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", shape_logsumexp, kernel_reduce,
           .with = &logsumexp_reduction, .grad = "self: logsumexp_backward(grad, self, result, dim, keepdim)",
           .cast = CAST_FULL),
    PICK("aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor", shape_hash,
         kernel_reduce, .with = &hash_reduction, .dtypes = "xor_sum_cpu: bool integral floating"),
    REDUCE("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", shape_logsumexp,
           kernel_reduce, .with = &logsumexp_reduction,
           .grad = "self: logsumexp_backward(grad, self, result, dim, keepdim)", .same_as = "aten::logsumexp"),
    REDUCE("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
           "dtype=None) -> Tensor",
           shape_norm, kernel_norm, .grad = "self: norm_backward(grad, self, float(ord), result, dim, keepdim)"),
    REDUCE("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", shape_norm, kernel_norm,
           .grad = "self: norm_backward(grad, self, float(p), result, None, False)"),
    REDUCE("aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", shape_norm,
           kernel_norm, .grad = "self: norm_backward(grad, self, 2.0 if p is None else float(p), result, dim, keepdim)",
           .out = "out"),
    REDUCE("aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> "
           "Tensor",
           shape_norm, kernel_norm,
           .grad = "self: norm_backward(grad, self, 2.0 if p is None else float(p), result, dim, keepdim)",
           .out = "dtype_out"),
    REDUCE("aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", shape_norm, kernel_norm,
           .grad = "self: norm_backward(grad, self, 2.0 if p is None else float(p), result, None, False)"),
    REDUCE("aten::frobenius_norm(Tensor self) -> Tensor", shape_norm, kernel_norm,
           .grad = "self: norm_backward(grad, self, 2.0, result, None, False)", .cast = CAST_FULL),
    REDUCE("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", shape_norm, kernel_norm,
           .grad = "self: norm_backward(grad, self, 2.0, result, dim, keepdim)", .out = "out", .cast = CAST_FULL),
};
OP_TABLE(op_table_reduce, rows);
