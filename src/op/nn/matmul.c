/* Rows that multiply matrices: mm, bmm, addmm, linear, matmul and what is made of them. */
#include <assert.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/call_plan.h"
#include "call/row_extras.h"
#include "compute/gemm/gemm.h"
#include "op/nn/fused.h"
#include "op/nn/linear.h"
#include "tensor/promote.h"

static GemmMatrix matrix(const Tensor *t, int row_dim) {
  assert(row_dim >= 0 && row_dim + 1 < t->ndim);
  return (GemmMatrix){tensor_data(t), t->strides[row_dim], t->strides[row_dim + 1]};
}

static Status expect_same_dtype(const Tensor *a, const Tensor *b) {
  if (a->dtype == b->dtype) return OK;
  return status_new(ERROR_RUNTIME, "expected scalar type %s but found %s", dtype_scalar_name((DType)a->dtype),
                    dtype_scalar_name((DType)b->dtype));
}

static void spec(const Tensor *like, int ndim, const int64_t *sizes, TensorSpec *out) {
  memset(out, 0, offsetof(TensorSpec, sizes));
  out->dtype = (DType)like->dtype;
  out->device = tensor_device(like);
  out->ndim = ndim;
  for (int d = 0; d < ndim; d++) out->sizes[d] = sizes[d];
}

/* Where gemm may write: `out` itself, or a dense stand-in that gemm_finish copies back. */
static Status gemm_target(Tensor *out, Tensor **target) {
  assert(out->ndim >= 2);
  int last = out->ndim - 1;
  if (out->ndim < 2 || out->strides[last] == 1 || out->sizes[last] <= 1) {
    *target = tensor_retain(out);
    return OK;
  }
  TRY(tensor_empty((DType)out->dtype, out->ndim, out->sizes, target));
  return tensor_copy(*target, out, 1);
}
static Status gemm_finish(Tensor *out, Tensor *target, Status status) {
  if (status == OK && target != out) status = tensor_copy(out, target, 1);
  tensor_release(target);
  return status;
}

static Status shapes_error(const char *name, const Tensor *a, const Tensor *b) {
  return status_new(ERROR_RUNTIME, "%s and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)", name,
                    (long long)a->sizes[0], (long long)a->sizes[1], (long long)b->sizes[0], (long long)b->sizes[1]);
}

/* An error if it can't be expanded to the sizes; most are vectors that can. */
static Status check_expands(const Tensor *t, int ndim, const int64_t *sizes) {
  if (t->ndim == 1 && ndim && t->sizes[0] == sizes[ndim - 1]) return OK;
  Tensor *fits;
  TRY(tensor_expand(t, ndim, sizes, &fits));
  tensor_release(fits);
  return OK;
}

/* ---- mm, bmm, mv, dot ---- */
static Status shape_mm(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  if (a->ndim != 2) return status_new(ERROR_RUNTIME, "self must be a matrix");
  if (b->ndim != 2) return status_new(ERROR_RUNTIME, "mat2 must be a matrix");
  if (a->sizes[1] != b->sizes[0]) return shapes_error("mat1", a, b);
  TRY(expect_same_dtype(a, b));
  spec(a, 2, (const int64_t[]){a->sizes[0], b->sizes[1]}, specs);
  return OK;
}

/* An epilogue, which may be NULL, has results of float32, that lie row after row. */
static Status run_gemm(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a,
                       GemmMatrix b, void *c, int64_t ldc, bool accumulate, const GemmEpilogue *e, int64_t row) {
  assert(!e || dtype == DTYPE_FLOAT32);
  if (e) return gemm_finished(work, m, n, k, alpha, a, b, c, ldc, accumulate, e, row);
  return gemm(work, dtype, m, n, k, alpha, a, b, c, ldc, accumulate);
}

/* A product with the transpose of a weight, x.mm(weight.t()), when the weight's panels are or come to be kept: `b` has
 * dense columns and is not the last that shows its memory, which nobody outside knows. bias: of the columns, or NULL.
 * *done false: nothing is done. */
static Status product_by_panels(Exec *exec, const Tensor *a, const Tensor *b, const float *bias, Tensor *out,
                                const GemmEpilogue *e, bool *done) {
  assert(a->ndim == 2 && b->ndim == 2 && a->sizes[1] == b->sizes[0]);
  int64_t m = a->sizes[0], k = a->sizes[1], n = b->sizes[1];
  *done = false;
  if (a->dtype != DTYPE_FLOAT32 || exec->deterministic || !b->storage || atomic_load(&b->storage->is_shown) || m <= 4 ||
      n <= 4 || k <= 4 || a->strides[1] != 1 || b->strides[0] != 1 || b->strides[1] != k || out->strides[1] != 1 ||
      (a->flags | b->flags | out->flags) & TENSOR_UNUSUAL || ref_is_unique(&b->storage->refs) ||
      gemm_is_to_be_attended(&exec->work, DTYPE_FLOAT32, m, n, k))
    return OK;
  WeightLayout layout;
  gemm_panels_layout(n, k, &layout);
  PackedWeight *packed = packed_weight_take_settled(&exec->work, b, &layout);
  if (!packed) return OK;
  GemmPanels product = {.m = m,
                        .n = n,
                        .k = k,
                        .a = tensor_data(a),
                        .a_stride = a->strides[0],
                        .panels = packed_weight_data(packed),
                        .bias = bias,
                        .c = tensor_data(out),
                        .ldc = out->strides[0],
                        .epilogue = e};
  Status status = gemm_panels(&exec->work, &product);
  packed_weight_give_back(packed);
  *done = true;
  return status;
}
static Status product_into(Exec *exec, const Tensor *a, const Tensor *b, Tensor *out, double alpha, bool accumulate,
                           const GemmEpilogue *e) {
  assert(a->ndim == 2 && b->ndim == 2 && a->sizes[1] == b->sizes[0]);
  Tensor *target;
  bool done = false;
  if (alpha == 1 && !accumulate && out->numel) TRY(product_by_panels(exec, a, b, NULL, out, e, &done));
  if (done) return OK;
  TRY(gemm_target(out, &target));
  Status status = run_gemm(&exec->work, (DType)out->dtype, a->sizes[0], b->sizes[1], a->sizes[1], alpha, matrix(a, 0),
                           matrix(b, 0), tensor_data(target), target->strides[0], accumulate, e, 0);
  return gemm_finish(out, target, status);
}

static Status check_batches(const Tensor *a, const Tensor *b) {
  if (a->ndim != 3) return status_new(ERROR_RUNTIME, "batch1 must be a 3D tensor");
  if (b->ndim != 3) return status_new(ERROR_RUNTIME, "batch2 must be a 3D tensor");
  if (a->sizes[0] != b->sizes[0] || a->sizes[2] != b->sizes[1])
    return status_new(
        ERROR_RUNTIME,
        "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: [%lld, %lld].",
        (long long)a->sizes[0], (long long)a->sizes[2], (long long)b->sizes[0], (long long)b->sizes[1]);
  return expect_same_dtype(a, b);
}
static Status shape_bmm(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  TRY(check_batches(a, b));
  spec(a, 3, (const int64_t[]){a->sizes[0], a->sizes[1], b->sizes[2]}, specs);
  return OK;
}
typedef struct Batch {
  Work work;
  const Tensor *a, *b;
  Tensor *out;
  double alpha;
  bool accumulate;
  const GemmEpilogue *epilogue;
  _Atomic bool failed;
} Batch;
enum { SMALL_BATCH = 400 }; /* products per matrix below which 1.13 sums bfloat16 stepwise whatever the strides */
static Status batch_item(Batch *p, int64_t i) {
  assert(i >= 0 && i < p->out->sizes[0]);
  int64_t item = (int64_t)dtype_size((DType)p->out->dtype);
  GemmMatrix a = matrix(p->a, 1), b = matrix(p->b, 1);
  a.data = (const char *)a.data + i * p->a->strides[0] * item;
  b.data = (const char *)b.data + i * p->b->strides[0] * item;
  int64_t m = p->a->sizes[1], n = p->b->sizes[2], k = p->a->sizes[2];
  void *c = (char *)tensor_data(p->out) + i * p->out->strides[0] * item;
  if (p->out->dtype == DTYPE_BFLOAT16 && !work_is_torch2(&p->work) && m * n * k < SMALL_BATCH)
    return gemm_bfloat16_stepwise(m, n, k, (float)p->alpha, true, a, b, c, p->out->strides[1], p->accumulate);
  return run_gemm(&p->work, (DType)p->out->dtype, m, n, k, p->alpha, a, b, c, p->out->strides[1], p->accumulate,
                  p->epilogue, i * m);
}
static void batch_items(void *argument, int64_t begin, int64_t end) {
  Batch *p = argument;
  int64_t done = 0;
  int64_t work = p->a->sizes[1] * p->a->sizes[2] * p->b->sizes[2];
  for (int64_t i = begin; i < end; i++) {
    if (work_is_over_after(&done, work / 8 + 16)) return;
    Status status = batch_item(p, i);
    if (status != OK) {
      status_free(status);
      p->failed = true;
    }
  }
}
static Status batches_into(Exec *exec, const Tensor *a, const Tensor *b, Tensor *out, double alpha, bool accumulate,
                           const GemmEpilogue *e) {
  assert(a->ndim == 3 && b->ndim == 3 && a->sizes[2] == b->sizes[1]);
  Tensor *target;
  if (out->numel == 0) return OK; /* whatever the number of batches */
  TRY(gemm_target(out, &target));
  Batch batch = {
      .work = exec->work, .a = a, .b = b, .out = target, .alpha = alpha, .accumulate = accumulate, .epilogue = e};
  int64_t count = a->sizes[0];
  Status status = OK;
  if (count >= exec->work.threads) {
    batch.work.threads = 0; /* each product serial, by the packed kernels */
    int64_t work = a->sizes[1] * a->sizes[2] * b->sizes[2];
    parallel_for(exec->work.threads, count, 1 + 100000 / (work + 1), batch_items, &batch);
    if (batch.failed) status = status_out_of_memory();
  } else {
    for (int64_t i = 0; i < count && status == OK; i++) status = batch_item(&batch, i);
  }
  return gemm_finish(out, target, status);
}

static Status shape_mv(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *v = call_tensor(call, 1);
  if (a->ndim != 2 || v->ndim != 1)
    return status_new(ERROR_RUNTIME, "vector + matrix @ vector expected, got %d, %d, %d", 1, a->ndim, v->ndim);
  if (a->sizes[1] != v->sizes[0])
    return status_new(ERROR_RUNTIME, "size mismatch, got %lld, %lldx%lld,%lld", (long long)a->sizes[0],
                      (long long)a->sizes[0], (long long)a->sizes[1], (long long)v->sizes[0]);
  TRY(expect_same_dtype(a, v));
  spec(a, 1, a->sizes, specs);
  return OK;
}
static Status mv_into(Exec *exec, const Tensor *a, const Tensor *v, Tensor *out, double alpha, bool accumulate,
                      const GemmEpilogue *e) {
  assert(a->ndim == 2 && v->ndim == 1 && a->sizes[1] == v->sizes[0]);
  Tensor *column = NULL, *result = NULL;
  Status status;
  if (a->dtype == DTYPE_BFLOAT16 && !work_is_torch2(&exec->work) &&
      !(a->strides[0] == 1 && a->strides[1] >= a->sizes[0])) {
    GemmMatrix x = {tensor_data(v), v->strides[0], 0};
    gemv_bfloat16(a->sizes[0], a->sizes[1], (float)alpha, matrix(a, 0), x, tensor_data(out), out->strides[0],
                  accumulate);
    return OK;
  }
  TRY_GOTO(tensor_unsqueeze(v, 1, &column), done);
  TRY_GOTO(tensor_unsqueeze(out, 1, &result), done);
  status = product_into(exec, a, column, result, alpha, accumulate, e);
done:
  tensor_release(column);
  tensor_release(result);
  return status;
}
static Status multiply(Call *call, ProductInto *into, const GemmEpilogue *e) {
  return into(call->exec, call_tensor(call, 0), call_tensor(call, 1), call_out(call, 0), 1, false, e);
}
static Status run_product(Call *call, const GemmEpilogue *e) {
  return multiply(call, ((const Product *)call_with(call))->into, e);
}
/* float8, of matrices alone: in float32, rounded once. */
static Status product_of_float8(Call *call) {
  enum { MAX_INPUTS = 5 };
  IValue inputs[MAX_INPUTS], result = IVALUE_NONE;
  Tensor *out = call_out(call, 0);
  if (out->dtype == DTYPE_FLOAT8_E8M0FNU || out->ndim != 2 || call->input_count > MAX_INPUTS)
    return call_unsupported_dtype(call, (DType)out->dtype);
  Call wide = {.inputs = inputs, .input_count = call->input_count, .outputs = &result, .output_count = 1};
  Status status = OK;
  for (uint32_t i = 0; i < call->input_count; i++) {
    Tensor *converted = NULL;
    inputs[i] = ivalue_retain(call->inputs[i]);
    if (status || inputs[i].tag != TAG_TENSOR) continue;
    status = tensor_to_dtype(inputs[i].tensor, DTYPE_FLOAT32, &converted);
    ivalue_release(inputs[i]);
    inputs[i] = converted ? ivalue_tensor(converted) : IVALUE_NONE;
  }
  const CallPlan *plan;
  if (!status) status = call_plan(call->op, &plan);
  if (!status) status = operator_call(call->exec, plan->functional, &wide);
  if (!status) status = tensor_copy(out, result.tensor, call->exec->work.threads);
  ivalue_release(result);
  for (uint32_t i = 0; i < call->input_count; i++) ivalue_release(inputs[i]);
  return status;
}
static Status kernel_product(Call *call) {
  if (__builtin_expect(dtype_is_float8((DType)call_out(call, 0)->dtype), 0)) return product_of_float8(call);
  return ((const Product *)call_with(call))->run(call, NULL);
}

static Status shape_dot(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  if (a->ndim != 1 || b->ndim != 1)
    return status_new(ERROR_RUNTIME, "1D tensors expected, but got %dD and %dD tensors", a->ndim, b->ndim);
  if (a->dtype != b->dtype)
    return status_new(ERROR_RUNTIME, "dot : expected both vectors to have same dtype, but found %s and %s",
                      dtype_scalar_name((DType)a->dtype), dtype_scalar_name((DType)b->dtype));
  if (a->numel != b->numel)
    return status_new(ERROR_RUNTIME,
                      "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of "
                      "elements, but got %lld and %lld elements respectively",
                      (long long)a->numel, (long long)b->numel, (long long)a->numel, (long long)b->numel);
  spec(a, 0, NULL, specs);
  return OK;
}
static Status kernel_dot(Call *call) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  GemmMatrix row = {tensor_data(a), 0, a->strides[0]}, column = {tensor_data(b), b->strides[0], 0};
  return gemm(&call->exec->work, (DType)a->dtype, 1, 1, a->numel, 1, row, column, tensor_data(call_out(call, 0)), 1,
              false);
}

/* ---- beta * self + alpha * product ---- */
static bool is_plain_sum(const Call *call) {
  return ivalue_to_complex(call_scalar(call, 3)) == 1 && ivalue_to_complex(call_scalar(call, 4)) == 1;
}
/* A self of another dtype than the product's: vectors and batches copy it into a result of the product's. Programs see
 * addmm without factors as a product and a sum, which promote. */
static Status mixed_dtype(const Call *call, const Tensor *self, const Tensor *a, DType *out) {
  Str name = call->op->name;
  if (str_starts_with(name, "aten::addmm") || str_starts_with(name, "aten::addbmm")) {
    if (!str_is(name, "aten::addmm") || call->op->variant != VARIANT_FUNCTIONAL || !is_plain_sum(call))
      return status_new(ERROR_RUNTIME, "self and mat2 must have the same dtype");
    Promotion promotion = PROMOTION_EMPTY;
    promotion_add(&promotion, self);
    promotion_add(&promotion, a);
    *out = promotion_result(&promotion);
  } else if (call->op->variant == VARIANT_INPLACE) {
    return status_new(ERROR_RUNTIME, "Bad in-place call: input tensor dtype %s and output tensor dtype %s should match",
                      dtype_name((DType)self->dtype), dtype_name((DType)a->dtype));
  }
  return OK;
}
static Status add_spec(const Call *call, const Tensor *a, int ndim, const int64_t *sizes, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  spec(a, ndim, sizes, specs);
  if (self->dtype != a->dtype) TRY(mixed_dtype(call, self, a, &specs->dtype));
  return check_expands(self, ndim, sizes);
}
static Status shape_addmm(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 1), *b = call_tensor(call, 2);
  if (a->ndim != 2 || b->ndim != 2)
    return status_new(ERROR_RUNTIME, "mat1 and mat2 must be matrices, got %d-D and %d-D tensors", a->ndim, b->ndim);
  if (a->sizes[1] != b->sizes[0]) return shapes_error("mat1", a, b);
  TRY(expect_same_dtype(a, b));
  return add_spec(call, a, 2, (const int64_t[]){a->sizes[0], b->sizes[1]}, specs);
}
static Status shape_baddbmm(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 1), *b = call_tensor(call, 2);
  TRY(check_batches(a, b));
  return add_spec(call, a, 3, (const int64_t[]){a->sizes[0], a->sizes[1], b->sizes[2]}, specs);
}
static Status shape_addbmm(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 1), *b = call_tensor(call, 2);
  TRY(check_batches(a, b));
  return add_spec(call, a, 2, (const int64_t[]){a->sizes[1], b->sizes[2]}, specs);
}
static Status shape_addmv(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 1), *v = call_tensor(call, 2);
  if (a->ndim != 2 || v->ndim != 1)
    return status_new(ERROR_RUNTIME, "vector + matrix @ vector expected, got %d, %d, %d", call_tensor(call, 0)->ndim,
                      a->ndim, v->ndim);
  if (a->sizes[1] != v->sizes[0])
    return status_new(ERROR_RUNTIME, "size mismatch, got %lld, %lldx%lld,%lld", (long long)a->sizes[0],
                      (long long)a->sizes[0], (long long)a->sizes[1], (long long)v->sizes[0]);
  TRY(expect_same_dtype(a, v));
  return add_spec(call, a, 1, a->sizes, specs);
}

/* out = beta * self, spread over out; beta 0 ignores self, NaN and all. */
static Status scale_self(Call *call, IValue beta) {
  static OpRef mul = OP_REF("aten::mul", "Scalar");
  const Tensor *self = call_tensor(call, 0);
  Tensor *out = call_out(call, 0);
  if (ivalue_to_complex(beta) == 0) {
    tensor_fill_zero(out);
    return OK;
  }
  if (ivalue_to_complex(beta) == 1) return out == self ? OK : tensor_copy(out, self, call->exec->work.threads);
  IValue scaled = IVALUE_NONE;
  TRY(op_call(call->exec, &mul, 2, (IValue[]){ivalue_tensor((Tensor *)self), beta}, 1, &scaled));
  Status status = tensor_copy(out, scaled.tensor, call->exec->work.threads);
  ivalue_release(scaled);
  return status;
}
/* out += alpha * product for a complex alpha, which the kernels don't take: through a temporary. */
static Status add_complex_product(Call *call, ProductInto *into, IValue alpha) {
  static OpRef mul = OP_REF("aten::mul", "Scalar"), add = OP_REF("aten::add", "Tensor");
  Tensor *out = call_out(call, 0), *part;
  IValue scaled = IVALUE_NONE, sum = IVALUE_NONE;
  TRY(tensor_empty((DType)out->dtype, out->ndim, out->sizes, &part));
  tensor_fill_zero(part);
  Status status = into(call->exec, call_tensor(call, 1), call_tensor(call, 2), part, 1, true, NULL);
  if (status == OK) status = op_call(call->exec, &mul, 2, (IValue[]){ivalue_tensor(part), alpha}, 1, &scaled);
  if (status == OK) status = op_call(call->exec, &add, 2, (IValue[]){ivalue_tensor(out), scaled}, 1, &sum);
  if (status == OK) status = tensor_copy(out, sum.tensor, call->exec->work.threads);
  tensor_release(part);
  ivalue_release(scaled);
  ivalue_release(sum);
  return status;
}

/* Integers are scaled by integers, and in PyTorch 1.13 small batches and vectors of bfloat16 by bfloat16. */
static IValue scale_of(const Call *call, IValue scale) {
  const Tensor *out = call_out(call, 0);
  if (scale.tag == TAG_COMPLEX) return scale;
  if (!dtype_is_floating((DType)out->dtype) && !dtype_is_complex((DType)out->dtype))
    return ivalue_int((int64_t)ivalue_to_double(scale));
  if (out->dtype == DTYPE_BFLOAT16 && out->ndim != 2 && !work_is_torch2(&call->exec->work))
    return ivalue_float(bfloat16_to_float(bfloat16_from_float((float)ivalue_to_double(scale))));
  return scale;
}
static Status run_add_product(Call *call, const GemmEpilogue *e) {
  ProductInto *into = ((const Product *)call_with(call))->into;
  IValue alpha = scale_of(call, call_scalar(call, 4));
  TRY(scale_self(call, scale_of(call, call_scalar(call, 3))));
  if (alpha.tag == TAG_COMPLEX) return add_complex_product(call, into, alpha);
  return into(call->exec, call_tensor(call, 1), call_tensor(call, 2), call_out(call, 0), ivalue_to_double(alpha), true,
              e);
}
/* A vector added to every row, unscaled. */
static bool adds_bias(const Call *call) {
  const Tensor *self = call_tensor(call, 0), *out = call_out(call, 0);
  return self->dtype == DTYPE_FLOAT32 && self->ndim == 1 && self->strides[0] == 1 && self->sizes[0] == out->sizes[1] &&
         !(self->flags & TENSOR_UNUSUAL) && out->numel && ivalue_to_complex(call_scalar(call, 3)) == 1 &&
         ivalue_to_complex(call_scalar(call, 4)) == 1;
}
static Status add_mixed_product(Call *call) {
  static OpRef mm = OP_REF("aten::mm", ""), add = OP_REF("aten::add", "Tensor");
  IValue product = IVALUE_NONE, sum = IVALUE_NONE;
  TRY(op_call(call->exec, &mm, 2, call->inputs + 1, 1, &product));
  Status status = op_call(call->exec, &add, 3, (IValue[]){call->inputs[0], product, ivalue_int(1)}, 1, &sum);
  if (status == OK) status = tensor_copy(call_out(call, 0), sum.tensor, call->exec->work.threads);
  ivalue_release(product);
  ivalue_release(sum);
  return status;
}
static Status run_addmm(Call *call, const GemmEpilogue *e) {
  bool done = false;
  if (call_tensor(call, 0)->dtype != call_tensor(call, 1)->dtype) return add_mixed_product(call);
  if (adds_bias(call))
    TRY(product_by_panels(call->exec, call_tensor(call, 1), call_tensor(call, 2), tensor_data(call_tensor(call, 0)),
                          call_out(call, 0), e, &done));
  return done ? OK : run_add_product(call, e);
}
static Status all_batches_into(Exec *exec, const Tensor *a, const Tensor *b, Tensor *out, double alpha, bool accumulate,
                               const GemmEpilogue *e) {
  assert(accumulate && !e);
  (void)accumulate, (void)e;
  Status status = OK;
  int64_t done = 0, work = (a->sizes[1] + 8) * (b->sizes[2] + 8) + 512;
  for (int64_t i = 0; i < a->sizes[0] && status == OK && !work_is_over_after(&done, work); i++) {
    Tensor *left = NULL, *right = NULL;
    status = tensor_select(a, 0, i, &left);
    if (status == OK) status = tensor_select(b, 0, i, &right);
    if (status == OK) status = product_into(exec, left, right, out, alpha, true, NULL);
    tensor_release(left);
    tensor_release(right);
  }
  return status;
}

/* ---- linear: input (..., in), weight (out, in) ---- */
/* To the product of a vector the bias is added in place. */
static Status check_bias_dtype(const Tensor *input, const Tensor *bias) {
  if (input->ndim != 1) return status_new(ERROR_RUNTIME, "self and mat2 must have the same dtype");
  if (dtype_can_cast((DType)bias->dtype, (DType)input->dtype)) return OK;
  return status_new(ERROR_RUNTIME, "result type %s can't be cast to the desired output type %s",
                    dtype_scalar_name((DType)bias->dtype), dtype_scalar_name((DType)input->dtype));
}
static Status shape_linear(Call *call, TensorSpec *specs) {
  const Tensor *input = call_tensor(call, 0), *weight = call_tensor(call, 1), *bias = call_tensor_or_null(call, 2);
  if (weight->ndim != 1 && weight->ndim != 2) return status_new(ERROR_RUNTIME, "weight must be a matrix or a vector");
  int64_t rows = weight->ndim == 2 ? weight->sizes[0] : 1, in = weight->sizes[weight->ndim - 1];
  if (input->ndim == 0 || input->sizes[input->ndim - 1] != in) {
    int64_t width = input->ndim ? input->sizes[input->ndim - 1] : 1;
    return status_new(ERROR_RUNTIME, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                      (long long)(width ? input->numel / width : 0), (long long)width, (long long)in, (long long)rows);
  }
  TRY(expect_same_dtype(input, weight));
  spec(input, input->ndim, input->sizes, specs);
  if (weight->ndim == 2)
    specs->sizes[input->ndim - 1] = rows;
  else
    specs->ndim--;
  if (!bias) return OK;
  if (bias->dtype != input->dtype) TRY(check_bias_dtype(input, bias));
  return check_expands(bias, specs->ndim, specs->sizes);
}
Status linear_rows(const Tensor *input, GemmMatrix *x, Tensor **dense) {
  assert(input->ndim);
  *dense = NULL;
  *x = (GemmMatrix){tensor_data(input), input->sizes[input->ndim - 1], 1};
  if (input->ndim == 2) {
    *x = matrix(input, 0);
  } else if (!tensor_is_contiguous(input)) {
    TRY(tensor_contiguous(input, dense));
    x->data = tensor_data(*dense);
  }
  return OK;
}
bool linear_is_by_panels(const Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias) {
  if (weight->ndim != 2 || !fused_is_plain(weight) || !fused_is_vector(bias, weight->sizes[0])) return false;
  int64_t rows = weight->sizes[0], in = weight->sizes[1];
  return count > 4 && rows > 4 && in > 0 && x.col_stride == 1 &&
         !gemm_is_to_be_attended(&exec->work, DTYPE_FLOAT32, count, rows, in);
}
Status linear_panels(const Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias, void *out,
                     const GemmEpilogue *e, GemmPanels *out_panels, PackedWeight **out_packed) {
  int64_t rows = weight->sizes[0], in = weight->sizes[1];
  WeightLayout layout;
  gemm_panels_layout(rows, in, &layout);
  PackedWeight *packed = *out_packed = packed_weight_take_settled(&exec->work, weight, &layout);
  if (!packed) TRY(tensor_restore(weight));
  *out_panels = (GemmPanels){.m = count,
                             .n = rows,
                             .k = in,
                             .a = x.data,
                             .a_stride = x.row_stride,
                             .weight = packed ? NULL : tensor_data(weight),
                             .weight_stride = in,
                             .panels = packed ? packed_weight_data(packed) : NULL,
                             .bias = bias ? tensor_data(bias) : NULL,
                             .c = out,
                             .ldc = rows,
                             .epilogue = e};
  return OK;
}
static Status add_to_bias(const Exec *exec, const Tensor *bias, Tensor *out) {
  int64_t rows = out->ndim ? out->sizes[out->ndim - 1] : 1;
  if (!fused_is_plain(out) || !fused_is_vector(bias, rows)) return tensor_copy(out, bias, exec->work.threads);
  for (int64_t i = 0; i < out->numel; i += rows)
    memcpy((float *)tensor_data(out) + i, tensor_data(bias), (size_t)rows * sizeof(float));
  return OK;
}
Status linear_product(Exec *exec, int64_t count, GemmMatrix x, const Tensor *weight, const Tensor *bias, Tensor *out,
                      const GemmEpilogue *e) {
  assert(tensor_is_contiguous(out));
  if (linear_is_by_panels(exec, count, x, weight, bias)) {
    PackedWeight *packed;
    GemmPanels product;
    TRY(linear_panels(exec, count, x, weight, bias, tensor_data(out), e, &product, &packed));
    Status status = gemm_panels(&exec->work, &product);
    if (packed) packed_weight_give_back(packed);
    return status;
  }
  TRY(tensor_restore(weight));
  int64_t in = weight->sizes[weight->ndim - 1], rows = weight->ndim == 2 ? weight->sizes[0] : 1;
  GemmMatrix w = {tensor_data(weight), weight->strides[weight->ndim - 1], weight->ndim == 2 ? weight->strides[0] : 0};
  if (bias) TRY(add_to_bias(exec, bias, out));
  return run_gemm(&exec->work, (DType)out->dtype, count, rows, in, 1, x, w, tensor_data(out), rows, bias != NULL, e, 0);
}
static Status run_linear(Call *call, const GemmEpilogue *e) {
  const Tensor *input = call_tensor(call, 0), *weight = call_tensor(call, 1), *bias = call_tensor_or_null(call, 2);
  Tensor *out = call_out(call, 0), *dense = NULL, *target = NULL;
  Status status;
  int64_t in = weight->sizes[weight->ndim - 1], rows = weight->ndim == 2 ? weight->sizes[0] : 1;
  int64_t count = in ? input->numel / in : (rows ? out->numel / rows : 0);
  GemmMatrix x;
  TRY(linear_rows(input, &x, &dense));
  TRY_GOTO(tensor_is_contiguous(out) ? (target = tensor_retain(out), OK)
                                     : tensor_empty((DType)out->dtype, out->ndim, out->sizes, &target),
           done);
  TRY_GOTO(linear_product(call->exec, count, x, weight, bias, target, e), done);
  if (target != out) status = tensor_copy(out, target, call->exec->work.threads);
done:
  tensor_release(dense);
  tensor_release(target);
  return status;
}

/* ---- matmul: every combination of ranks ---- */
static Status shape_matmul(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  if (a->ndim == 0 || b->ndim == 0)
    return status_new(ERROR_RUNTIME, "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
                      a->ndim, b->ndim);
  TRY(expect_same_dtype(a, b));
  int64_t left = a->sizes[a->ndim - 1], right = b->sizes[b->ndim > 1 ? b->ndim - 2 : 0];
  if (left != right) {
    if (a->ndim == 1 && b->ndim == 1)
      return status_new(ERROR_RUNTIME,
                        "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of "
                        "elements, but got %lld and %lld elements respectively",
                        (long long)left, (long long)right, (long long)left, (long long)right);
    return status_new(ERROR_RUNTIME, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                      (long long)(left ? a->numel / left : 0), (long long)left, (long long)right,
                      (long long)(b->ndim > 1 ? b->sizes[b->ndim - 1] : 1));
  }
  spec(a, 0, NULL, specs);
  if (a->ndim > 2 || b->ndim > 2)
    TRY(sizes_broadcast(a->ndim > 2 ? a->ndim - 2 : 0, a->sizes, b->ndim > 2 ? b->ndim - 2 : 0, b->sizes, &specs->ndim,
                        specs->sizes));
  if (a->ndim > 1) specs->sizes[specs->ndim++] = a->sizes[a->ndim - 2];
  if (b->ndim > 1) specs->sizes[specs->ndim++] = b->sizes[b->ndim - 1];
  return OK;
}

/* The operand as (batch..., rows, columns) spread over the batch, flattened to three dimensions (copied where no view
 * can). */
static Status batched(const Tensor *t, bool is_left, int batch_ndim, const int64_t *batch, int64_t count,
                      Tensor **out) {
  int64_t sizes[TENSOR_MAX_DIMS];
  Tensor *wide = NULL, *spread = NULL, *dense = NULL;
  Status status = OK;
  if (t->ndim == 1)
    TRY(tensor_unsqueeze(t, is_left ? 0 : 1, &wide));
  else
    wide = tensor_retain(t);
  if (batch_ndim) memcpy(sizes, batch, (size_t)batch_ndim * sizeof *sizes);
  sizes[batch_ndim] = wide->sizes[wide->ndim - 2];
  sizes[batch_ndim + 1] = wide->sizes[wide->ndim - 1];
  TRY_GOTO(tensor_expand(wide, batch_ndim + 2, sizes, &spread), done);
  const int64_t flat[3] = {count, sizes[batch_ndim], sizes[batch_ndim + 1]};
  TRY_GOTO(tensor_view_sizes(spread, 3, flat, out), done);
  if (!*out) {
    TRY_GOTO(tensor_contiguous(spread, &dense), done);
    status = tensor_view_sizes(dense, 3, flat, out);
  }
done:
  tensor_release(wide);
  tensor_release(spread);
  tensor_release(dense);
  return status;
}

static Status run_matmul(Call *call, const GemmEpilogue *e) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  Tensor *out = call_out(call, 0), *left = NULL, *right = NULL, *result = NULL, *target = NULL;
  Status status;
  if (a->ndim == 1 && b->ndim == 1) return kernel_dot(call);
  if (a->ndim == 2 && b->ndim == 2) return multiply(call, product_into, e);
  if (a->ndim == 2 && b->ndim == 1) return multiply(call, mv_into, e);
  int batch_ndim = out->ndim - (a->ndim > 1) - (b->ndim > 1);
  int64_t count = 1;
  for (int d = 0; d < batch_ndim; d++) count *= out->sizes[d];
  bool fold = a->ndim > 2 && b->ndim <= 2 && tensor_is_contiguous(a); /* one product of all rows */
  const int64_t *batch = out->sizes;
  if (fold) {
    const int64_t flat[3] = {1, count * a->sizes[a->ndim - 2], a->sizes[a->ndim - 1]};
    TRY_GOTO(tensor_view_sizes(a, 3, flat, &left), done);
    if (!left) fold = false;
  }
  if (!fold) TRY_GOTO(batched(a, true, batch_ndim, batch, count, &left), done);
  if (fold)
    TRY_GOTO(batched(b, false, 0, NULL, 1, &right), done);
  else
    TRY_GOTO(batched(b, false, batch_ndim, batch, count, &right), done);
  TRY_GOTO(tensor_is_contiguous(out) ? (target = tensor_retain(out), OK)
                                     : tensor_empty((DType)out->dtype, out->ndim, out->sizes, &target),
           done);
  TRY_GOTO(tensor_view_sizes(target, 3, (const int64_t[]){left->sizes[0], left->sizes[1], right->sizes[2]}, &result),
           done);
  status = batches_into(call->exec, left, right, result, 1, false, e);
  if (status == OK && target != out) status = tensor_copy(out, target, call->exec->work.threads);
done:
  tensor_release(left);
  tensor_release(right);
  tensor_release(result);
  tensor_release(target);
  return status;
}

/* A product of matrices: each result is a sum of products over the last dimension of the argument. */
static double flops_along(const Call *call, uint32_t argument) {
  const Tensor *t = call_tensor(call, argument);
  return 2 * (double)call_out(call, 0)->numel * (t->ndim ? (double)t->sizes[t->ndim - 1] : 1);
}
static double flops_product(const Call *call) {
  return flops_along(call, 0);
}
static double flops_add_product(const Call *call) {
  const Tensor *a = call_tensor(call, 1);
  double sum = a->ndim == 3 && call_out(call, 0)->ndim == 2 ? (double)a->sizes[0] : 1; /* addbmm adds a batch up */
  return flops_along(call, 1) * sum;
}

#define ADD_ROW(text, shape_, run, product, grad_, ...)                                                            \
  {                                                                                                                \
    .schema = text, .shape = shape_, .kernel = kernel_product, .with = &(const Product){run, product, 2},          \
    .grad = grad_, .flops = flops_add_product, .flags = OP_INPLACE | OP_OUT | OP_ALIASING_SELF | OP_ACCEPT_FLOAT8, \
    .cast = CAST_REDUCED, .dtypes = __VA_ARGS__                                                                    \
  }
static const OpRow rows[] = {
    {.schema = "aten::mm(Tensor self, Tensor mat2) -> Tensor",
     .dtypes = "addmm_impl_cpu_: integral floating complex",
     .cast = CAST_REDUCED,
     .shape = shape_mm,
     .kernel = kernel_product,
     .with = &(const Product){run_product, product_into, 1},
     .flops = flops_product,
     .grad = "self: mm_left_backward(grad, mat2, self.size(), self.stride()); mat2: mm_right_backward(grad, self, "
             "mat2.size(), mat2.stride())",
     .extras = &(const RowExtras){.graph_grad = "self: grad.mm(mat2.t().conj()); mat2: self.t().conj().mm(grad)",
                                  .anchor = &product_anchor},
     .flags = OP_ACCEPT_FLOAT8 | OP_OUT | OP_GRAD_EXACT},
    {.schema = "aten::bmm(Tensor self, Tensor mat2) -> Tensor",
     .dtypes = "bmm: integral floating complex",
     .cast = CAST_REDUCED,
     .shape = shape_bmm,
     .kernel = kernel_product,
     .with = &(const Product){run_product, batches_into, 1},
     .flops = flops_product,
     .grad = "self: grad.bmm(mat2.transpose(1, 2).conj()); mat2: self.transpose(1, 2).conj().bmm(grad)",
     .extras = &(const RowExtras){.anchor = &product_anchor},
     .flags = OP_OUT | OP_GRAD_EXACT},
    {.schema = "aten::mv(Tensor self, Tensor vec) -> Tensor",
     .dtypes = "addmv_impl_cpu: integral floating complex",
     .cast = CAST_REDUCED,
     .shape = shape_mv,
     .kernel = kernel_product,
     .with = &(const Product){run_product, mv_into, 1},
     .flops = flops_product,
     .grad = "self: grad.outer(vec.conj()); vec: self.conj().t().mv(grad)",
     .flags = OP_OUT},
    {.schema = "aten::dot(Tensor self, Tensor tensor) -> Tensor",
     .dtypes = "dot: integral floating complex",
     .cast = CAST_WIDEST,
     .shape = shape_dot,
     .kernel = kernel_dot,
     .flops = flops_product,
     .grad = "self: grad * tensor.conj(); tensor: grad * self.conj()",
     .flags = OP_OUT},
    {.schema = "aten::vdot(Tensor self, Tensor other) -> Tensor",
     .body = "return torch.dot(self.conj(), other)",
     .flags = OP_OUT},
    ADD_ROW("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            shape_addmm, run_addmm, product_into,
            "self: grad * beta; mat1: mm_left_backward(grad, mat2, mat1.size(), mat1.stride()) * alpha; mat2: "
            "mm_right_backward(grad, mat1, mat2.size(), mat2.stride()) * alpha",
            "addmm_impl_cpu_: integral floating complex",
            .extras =
                &(const RowExtras){
                    .graph_grad =
                        "self: grad * beta; mat1: grad.mm(mat2.t().conj()) * alpha; mat2: mat1.t().conj().mm(grad) "
                        "* alpha",
                    .anchor = &product_anchor}),
    ADD_ROW("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            shape_baddbmm, run_add_product, batches_into,
            "self: grad * beta; batch1: grad.bmm(batch2.transpose(1, 2).conj()) * alpha; batch2: batch1.transpose(1, "
            "2).conj().bmm(grad) * alpha",
            "baddbmm: integral floating complex", .extras = &(const RowExtras){.anchor = &product_anchor}),
    ADD_ROW("aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            shape_addbmm, run_add_product, all_batches_into,
            "self: grad * beta; batch1: grad.unsqueeze(0).expand([batch1.size(0), grad.size(0), "
            "grad.size(1)]).bmm(batch2.transpose(1, 2).conj()) * alpha; "
            "batch2: batch1.transpose(1, 2).conj().bmm(grad.unsqueeze(0).expand([batch1.size(0), grad.size(0), "
            "grad.size(1)])) * alpha",
            "addmm_impl_cpu_: integral floating complex"),
    ADD_ROW("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", shape_addmv,
            run_add_product, mv_into,
            "self: grad * beta; mat: grad.outer(vec.conj()) * alpha; vec: mat.t().conj().mv(grad) * alpha",
            "addmv_impl_cpu: integral floating complex"),
    {.schema = "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     .cast = CAST_REDUCED,
     .body =
         "if vec1.dim() != 1:\n"
         "    raise RuntimeError('addr: Expected 1-D argument vec1, but got {}-D'.format(vec1.dim()))\n"
         "if vec2.dim() != 1:\n"
         "    raise RuntimeError('addr: Expected 1-D argument vec2, but got {}-D'.format(vec2.dim()))\n"
         "dtype = torch.promote_types(self.dtype, torch.promote_types(vec1.dtype, vec2.dtype))\n"
         "if dtype == torch.bool:\n"
         "    product = torch.outer(vec1, vec2)\n"
         "    if not bool(alpha):\n"
         "        product = torch.zeros_like(product)\n"
         "    product = product.expand(torch._infer_size(self.size(), product.size()))\n"
         "    return product.logical_or(self) if bool(beta) else product.clone()\n"
         "none = torch.zeros([0], dtype=dtype)\n"
         "whole = not none.is_floating_point() and not none.is_complex()\n"
         "if whole and isinstance(beta, float):\n"
         "    raise RuntimeError('For integral input tensors, argument beta must not be a floating point number.')\n"
         "if whole and isinstance(alpha, float):\n"
         "    raise RuntimeError('For integral input tensors, argument alpha must not be a floating point number.')\n"
         "product = torch.outer(vec1.to(dtype) * torch.full([], alpha, dtype=dtype), vec2.to(dtype))\n"
         "if bool(beta == 0):\n"
         "    return self.expand(product.size()).clone().copy_(product)\n"
         "return self.to(dtype) * torch.full([], beta, dtype=dtype) + product",
     .flags = OP_INPLACE | OP_OUT},
    {.schema = "aten::outer(Tensor self, Tensor vec2) -> Tensor",
     .body = "if self.dim() != 1:\n"
             "    raise RuntimeError('outer: Expected 1-D argument self, but got {}-D'.format(self.dim()))\n"
             "if vec2.dim() != 1:\n"
             "    raise RuntimeError('outer: Expected 1-D argument vec2, but got {}-D'.format(vec2.dim()))\n"
             "return self.unsqueeze(1) * vec2",
     .flags = OP_OUT},
    {.schema = "aten::ger(Tensor self, Tensor vec2) -> Tensor",
     .same_as = "aten::outer",
     .body = "return torch.outer(self, vec2)",
     .flags = OP_OUT},
    {.schema = "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
     .dtypes = "addmm_impl_cpu_: integral floating complex",
     .cast = CAST_REDUCED,
     .shape = shape_linear,
     .kernel = kernel_product,
     .with = &(const Product){run_linear, NULL, 1},
     .flops = flops_product,
     .extras = &(const RowExtras){.restores = 1 << 1, .anchor = &linear_anchor},
     .grad = "input, weight, bias: linear_backward(grad, input, weight)",
     .flags = OP_ACCEPT_FLOAT8 | OP_OUT},
    {.schema = "aten::matmul(Tensor self, Tensor other) -> Tensor",
     .dtypes = "addmm_impl_cpu_: integral floating complex",
     .cast = CAST_REDUCED,
     .shape = shape_matmul,
     .kernel = kernel_product,
     .with = &(const Product){run_matmul, NULL, 1},
     .flops = flops_product,
     .extras = &(const RowExtras){.anchor = &product_anchor},
     .grad = "self, other: matmul_backward(grad, self, other)",
     .flags = OP_ACCEPT_FLOAT8 | OP_OUT},
    {.schema = "aten::linalg_matmul(Tensor self, Tensor other) -> Tensor",
     .body = "return torch.matmul(self, other)",
     .flags = OP_OUT},
    {.schema = "aten::inner(Tensor self, Tensor other) -> Tensor",
     .body = "if self.dim() == 0 or other.dim() == 0:\n"
             "    return self * other\n"
             "if self.size(-1) != other.size(-1):\n"
             "    raise RuntimeError('inner() the last dimension must match on both input tensors but got shapes {} "
             "and {}'.format(self.size(), other.size()))\n"
             "return torch.tensordot(self, other, [-1], [-1])",
     .flags = OP_OUT},
    {.schema = "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
     .cast = CAST_WIDEST,
     .body = "if len(dims_self) != len(dims_other):\n"
             "    raise RuntimeError('both dimension lists should have same length')\n"
             "own: List[int] = []\n"
             "others: List[int] = []\n"
             "width = 1\n"
             "a = self\n"
             "b = other\n"
             "for i in range(len(dims_self)):\n"
             "    da = dims_self[i] + self.dim() if dims_self[i] < 0 else dims_self[i]\n"
             "    db = dims_other[i] + other.dim() if dims_other[i] < 0 else dims_other[i]\n"
             "    own.append(da)\n"
             "    others.append(db)\n"
             "    if a.size(da) == 1 and b.size(db) != 1:\n"
             "        b = b.sum([db], True)\n"
             "    elif b.size(db) == 1 and a.size(da) != 1:\n"
             "        a = a.sum([da], True)\n"
             "    elif a.size(da) != b.size(db):\n"
             "        raise RuntimeError('contracted dimensions need to match, but first has size {} in dim {} and "
             "second has size {} in dim {}'.format(a.size(da), da, b.size(db), db))\n"
             "    width = width * a.size(da)\n"
             "left: List[int] = []\n"
             "sizes: List[int] = []\n"
             "rows = 1\n"
             "for d in range(self.dim()):\n"
             "    if d not in own:\n"
             "        left.append(d)\n"
             "        sizes.append(self.size(d))\n"
             "        rows = rows * self.size(d)\n"
             "right: List[int] = []\n"
             "columns = 1\n"
             "for d in range(other.dim()):\n"
             "    if d not in others:\n"
             "        right.append(d)\n"
             "        sizes.append(other.size(d))\n"
             "        columns = columns * other.size(d)\n"
             "product = a.permute(left + own).reshape([rows, width]).mm(b.permute(others + right).reshape([width, "
             "columns]))\n"
             "return product.reshape(sizes)",
     .flags = OP_OUT},
    {.schema = "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
     .cast = CAST_WIDEST,
     .body = "check_dim(2, weight.dim())\n"
             "sizes = list(input1.size())\n"
             "sizes[-1] = weight.size(0)\n"
             "a = input1.reshape([-1, input1.size(-1)])\n"
             "b = input2.reshape([-1, input2.size(-1)])\n"
             "left = torch.tensordot(a, weight, [1], [1])\n"
             "result = (left * b.unsqueeze(1)).sum([2], False, dtype=left.dtype).reshape(sizes)\n"
             "return result if bias is None else result + bias"},
    {.schema = "aten::kron(Tensor self, Tensor other) -> Tensor",
     .body = "n = max(self.dim(), other.dim())\n"
             "a: List[int] = []\n"
             "b: List[int] = []\n"
             "sizes: List[int] = []\n"
             "for i in range(n):\n"
             "    sa = self.size(i - n + self.dim()) if i >= n - self.dim() else 1\n"
             "    sb = other.size(i - n + other.dim()) if i >= n - other.dim() else 1\n"
             "    a += [sa, 1]\n"
             "    b += [1, sb]\n"
             "    sizes.append(sa * sb)\n"
             "return (self.reshape(a) * other.reshape(b)).reshape(sizes)",
     .flags = OP_OUT},
    {.schema = "aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
     .body = "if not x.is_floating_point() and not x.is_complex():\n"
             "    raise RuntimeError('linalg.vecdot: Expected a floating point or complex tensor as input. Got ' + "
             "scalar_type_name(x))\n"
             "if x.dtype != y.dtype:\n"
             "    raise RuntimeError('linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} "
             "and y of type {} instead'.format(scalar_type_name(x), scalar_type_name(y)))\n"
             "return (x.conj() * y).sum([dim])",
     .flags = OP_OUT},
    {.schema = "aten::chain_matmul(Tensor[] matrices) -> Tensor",
     .body = "for m in matrices:\n"
             "    if m.dim() != 2:\n"
             "        raise RuntimeError('Tensor dimension is {}, expected 2 instead.'.format(m.dim()))\n"
             "if len(matrices) == 1:\n"
             "    return matrices[0].clone()\n"
             "return torch.linalg_multi_dot(matrices)",
     .flags = OP_OUT},
    {.schema = "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor",
     .body = "if len(tensors) < 2:\n"
             "    raise RuntimeError('multi_dot(): expected at least 2 tensors but got {}'.format(len(tensors)))\n"
             "for i in range(len(tensors)):\n"
             "    d = tensors[i].dim()\n"
             "    end = i == 0 or i == len(tensors) - 1\n"
             "    if d != 2 and not (end and d == 1):\n"
             "        place = 'the first' if i == 0 else 'the last' if end else ''\n"
             "        if end:\n"
             "            raise RuntimeError('multi_dot(): {} tensor must be 1D or 2D but got {}D'.format(place, d))\n"
             "        raise RuntimeError('multi_dot(): tensor {} must be 2D but got {}D'.format(i, d))\n"
             "result = tensors[0]\n"
             "for i in range(1, len(tensors)):\n"
             "    result = result.matmul(tensors[i])\n"
             "return result",
     .flags = OP_OUT},
    {.schema = "aten::linalg_matrix_power(Tensor self, int n) -> Tensor",
     .body = "if self.dim() < 2:\n"
             "    raise RuntimeError('linalg.matrix_power: The input tensor A must have at least 2 dimensions.')\n"
             "if n == 0:\n"
             "    return self.clone().copy_(torch.eye(self.size(-1), dtype=self.dtype, device=self.device))\n"
             "if n == 1:\n"
             "    return self.clone()\n"
             "base = torch.linalg_inv(self) if n < 0 else self\n"
             "left = -n if n < 0 else n\n"
             "result: Optional[Tensor] = None\n"
             "while left > 0:\n"
             "    if left % 2 == 1:\n"
             "        result = base if result is None else result.matmul(base)\n"
             "    left = left // 2\n"
             "    if left > 0:\n"
             "        base = base.matmul(base)\n"
             "assert result is not None\n"
             "return result",
     .flags = OP_OUT},
    {.schema = "aten::matrix_power(Tensor self, int n) -> Tensor",
     .body = "return torch.linalg_matrix_power(self, n)",
     .flags = OP_OUT},
};
OP_TABLE(op_table_matmul, rows);
