/* Products of queries and keys, what is done to them up to their softmax, and its product with values as one operation,
 * for plans and for operators that are written with it. */
#include <float.h>
#include <math.h>

#include "compute/attention/attention.h"
#include "op/nn/fused.h"
#include "call/operator.h"

enum {
  QUERY,
  KEY, /* its columns are the keys: transposed, as the product takes it */
  VALUE,
  SCORES, /* which operator the program called: matmul, bmm, or baddbmm of `add` */
  RESULT, /* matmul or bmm */
  FACTOR,
  DIVIDES,
  ADD,
  ADD_FIRST,
  HIDDEN,
  FILL,
  DIM
};

/* ---- by its parts ---- */
static Status multiply(Call *call, uint32_t which, IValue a, IValue b, IValue *out) {
  static OpRef matmul = OP_REF("aten::matmul", ""), bmm = OP_REF("aten::bmm", ""),
               baddbmm = OP_REF("aten::baddbmm", "");
  Str name = call_str(call, which);
  IValue one = ivalue_int(1);
  if (str_is(name, "matmul")) return op_call(call->exec, &matmul, 2, (IValue[]){a, b}, 1, out);
  if (str_is(name, "bmm")) return op_call(call->exec, &bmm, 2, (IValue[]){a, b}, 1, out);
  if (which == SCORES && str_is(name, "baddbmm"))
    return op_call(call->exec, &baddbmm, 5, (IValue[]){call->inputs[ADD], a, b, one, one}, 1, out);
  return status_new(ERROR_RUNTIME, "attention multiplies by matmul or bmm, not by '" STR_FMT "'", STR_ARG(name));
}
static bool adds_in_product(const Call *call) {
  return str_is(call_str(call, SCORES), "baddbmm");
}
static Status scale(Call *call, IValue x, IValue *out) {
  static OpRef mul = OP_REF("aten::mul", "Scalar"), div = OP_REF("aten::div", "Scalar");
  return op_call(call->exec, call_bool(call, DIVIDES) ? &div : &mul, 2, (IValue[]){x, call->inputs[FACTOR]}, 1, out);
}
static Status add_mask(Call *call, IValue x, IValue *out) {
  static OpRef add = OP_REF("aten::add", "Tensor");
  IValue mask = call->inputs[ADD], one = ivalue_int(1);
  return op_call(call->exec, &add, 3, call_bool(call, ADD_FIRST) ? (IValue[]){mask, x, one} : (IValue[]){x, mask, one},
                 1, out);
}
static Status fill_hidden(Call *call, IValue x, IValue *out) {
  static OpRef fill = OP_REF("aten::masked_fill", "Scalar");
  return op_call(call->exec, &fill, 3, (IValue[]){x, call->inputs[HIDDEN], call->inputs[FILL]}, 1, out);
}
static Status soften(Call *call, IValue x, IValue *out) {
  static OpRef softmax = OP_REF("aten::softmax", "int");
  return op_call(call->exec, &softmax, 3, (IValue[]){x, call->inputs[DIM], IVALUE_NONE}, 1, out);
}
static Status weigh_values(Call *call, IValue x, IValue *out) {
  return multiply(call, RESULT, x, call->inputs[VALUE], out);
}
static Status run_parts(Call *call) {
  typedef Status Part(Call * call, IValue x, IValue * out);
  const struct {
    bool is_there;
    Part *run;
  } parts[] = {{!call_is_none(call, FACTOR), scale},
               {!call_is_none(call, ADD) && !adds_in_product(call), add_mask},
               {!call_is_none(call, HIDDEN), fill_hidden},
               {true, soften},
               {true, weigh_values}};
  IValue result = IVALUE_NONE, next = IVALUE_NONE;
  Status status = multiply(call, SCORES, call->inputs[QUERY], call->inputs[KEY], &result);
  for (size_t i = 0; i < sizeof parts / sizeof *parts && status == OK; i++) {
    if (!parts[i].is_there) continue;
    status = parts[i].run(call, result, &next);
    ivalue_release(result);
    result = next;
    next = IVALUE_NONE;
  }
  if (status == OK) call_set(call, 0, result);
  return status;
}

/* ---- in one pass ---- */
static bool is_plain(const Tensor *t, DType dtype) {
  return t->dtype == dtype && !(t->flags & TENSOR_UNUSUAL);
}

/* Strides by which the first `ndim` of the sizes pass over what is broadcast to all of them; false: it is larger. */
static bool broadcast(const Tensor *t, int ndim, const int64_t *sizes, int64_t *strides) {
  if (t->ndim > ndim) return false;
  for (int d = 0; d < ndim; d++) {
    int own = d - (ndim - t->ndim);
    if (own >= 0 && t->sizes[own] != 1 && t->sizes[own] != sizes[d]) return false;
    strides[d] = own < 0 || t->sizes[own] == 1 ? 0 : t->strides[own];
  }
  return true;
}

typedef struct Plan {
  Attention all;
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS]; /* of the scores */
  int64_t strides[ATTENTION_OPERANDS][TENSOR_MAX_DIMS];
} Plan;

/* The last two dimensions by which the operand is read, whose sizes are as they should be. */
static GemmMatrix matrix(const Plan *plan, int operand, const Tensor *t) {
  return (GemmMatrix){tensor_data(t), plan->strides[operand][plan->ndim - 2], plan->strides[operand][plan->ndim - 1]};
}

/* The operand's place in scores of other last sizes. */
static bool place(Plan *plan, int operand, const Tensor *t, int64_t rows, int64_t columns, GemmMatrix *out) {
  int64_t sizes[TENSOR_MAX_DIMS];
  memcpy(sizes, plan->sizes, sizeof sizes);
  sizes[plan->ndim - 2] = rows;
  sizes[plan->ndim - 1] = columns;
  if (!broadcast(t, plan->ndim, sizes, plan->strides[operand])) return false;
  *out = matrix(plan, operand, t);
  return true;
}

static bool is_last(int64_t dim, int ndim) {
  return dim == -1 || dim == ndim - 1;
}

/* Whether everything is as the kernel takes it, and how it lies. What is no error here is none for the parts. */
static bool plan_attention(Call *call, Plan *plan) {
  const Tensor *query = call_tensor(call, QUERY), *key = call_tensor(call, KEY), *value = call_tensor(call, VALUE);
  const Tensor *add = call_tensor_or_null(call, ADD), *hidden = call_tensor_or_null(call, HIDDEN);
  AttentionPart *part = &plan->all.part;
  int ndim = query->ndim;
  bool by_batches = !str_is(call_str(call, SCORES), "matmul") || !str_is(call_str(call, RESULT), "matmul");
  if (!is_plain(query, DTYPE_FLOAT32) || !is_plain(key, DTYPE_FLOAT32) || !is_plain(value, DTYPE_FLOAT32) || ndim < 2 ||
      key->ndim != ndim || value->ndim != ndim || (by_batches && ndim != 3) || !is_last(call_int(call, DIM), ndim) ||
      (add && !is_plain(add, DTYPE_FLOAT32)) || (hidden && !is_plain(hidden, DTYPE_BOOL)))
    return false;
  plan->ndim = ndim;
  for (int d = 0; d + 2 < ndim; d++) {
    plan->sizes[d] = query->sizes[d] > key->sizes[d] ? query->sizes[d] : key->sizes[d];
    if (by_batches && (query->sizes[d] != key->sizes[d] || value->sizes[d] != key->sizes[d])) return false;
  }
  int64_t rows = query->sizes[ndim - 2], keys = key->sizes[ndim - 1], width = query->sizes[ndim - 1],
          out_width = value->sizes[ndim - 1];
  plan->sizes[ndim - 2] = rows;
  plan->sizes[ndim - 1] = keys;
  for (int d = 0; d < ndim; d++)
    if (plan->sizes[d] < 1) return false;
  if (width < 1 || out_width < 1 || key->sizes[ndim - 2] != width || value->sizes[ndim - 2] != keys) return false;
  if (!place(plan, 0, query, rows, width, &part->query) || !place(plan, 1, key, width, keys, &part->key) ||
      !place(plan, 2, value, keys, out_width, &part->value) || (add && !place(plan, 3, add, rows, keys, &part->add)) ||
      (hidden && !place(plan, 4, hidden, rows, keys, &part->hidden)))
    return false;
  part->rows = rows;
  part->keys = keys;
  part->width = width;
  part->out_width = out_width;
  part->divides = call_bool(call, DIVIDES);
  part->factor = call_is_none(call, FACTOR) ? 1 : (float)ivalue_to_double(call_scalar(call, FACTOR));
  part->fill = (float)ivalue_to_double(call_scalar(call, FILL));
  return true;
}

static Status run_fused(Call *call, Plan *plan) {
  int64_t sizes[TENSOR_MAX_DIMS];
  AttentionPart *part = &plan->all.part;
  memcpy(sizes, plan->sizes, sizeof sizes);
  sizes[plan->ndim - 1] = part->out_width;
  Tensor *out;
  TRY(tensor_empty(DTYPE_FLOAT32, plan->ndim, sizes, &out));
  part->out = tensor_data(out);
  part->out_stride = part->out_width;
  memcpy(plan->strides[5], out->strides, (size_t)plan->ndim * sizeof(int64_t));
  plan->all.ndim = plan->ndim - 2;
  plan->all.sizes = plan->sizes;
  for (int i = 0; i < ATTENTION_OPERANDS; i++) plan->all.strides[i] = plan->strides[i];
  Status status = attention(&call->exec->work, &plan->all);
  if (!status)
    call_set_tensor(call, 0, out);
  else
    tensor_release(out);
  return status;
}

/* Whether the factor is a real number and the filled one of float32's range: others are the parts' affair. */
static bool takes_numbers(const Call *call) {
  if (!call_is_none(call, FACTOR) && call_scalar(call, FACTOR).tag == TAG_COMPLEX) return false;
  if (call_scalar(call, FILL).tag == TAG_COMPLEX) return false;
  double fill = ivalue_to_double(call_scalar(call, FILL));
  return isinf(fill) || fabs(fill) <= FLT_MAX;
}

static Status kernel_attention(Call *call) {
  Plan plan = {0};
  if (adds_in_product(call) && call_is_none(call, ADD))
    return status_new(ERROR_RUNTIME, "attention by baddbmm needs a mask");
  if (fused_records(call) || call->exec->deterministic || !takes_numbers(call) || !plan_attention(call, &plan))
    return run_parts(call);
  return run_fused(call, &plan);
}

static double flops_attention(const Call *call) {
  const Tensor *query = call_tensor(call, QUERY), *key = call_tensor(call, KEY), *out = call_out(call, 0);
  if (query->ndim < 2 || key->ndim < 2 || out->ndim < 2 || !out->sizes[out->ndim - 1]) return 0;
  double rows = (double)out->numel / (double)out->sizes[out->ndim - 1];
  return 2 * rows * (double)key->sizes[key->ndim - 1] *
         (double)(query->sizes[query->ndim - 1] + out->sizes[out->ndim - 1]);
}

static const OpRow rows[] = {
    {.schema = "wick::attention(Tensor query, Tensor key, Tensor value, str scores, str result, Scalar? factor, bool "
               "divides, Tensor? add, bool add_first, Tensor? hidden, Scalar fill, int dim) -> Tensor",
     .kernel = kernel_attention,
     .flops = flops_attention,
     .flags = OP_COMPOSITE | OP_OF_PLANS},
};
OP_TABLE(op_table_attention_fused, rows);
