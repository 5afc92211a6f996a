/* Products of queries and keys, what is done to them up to their softmax, and its product with values as one operation:
 * softmax as the anchor of a region (call/region.h), and for operators that are written with it. */
#include <float.h>
#include <math.h>

#include "call/region.h"
#include "call/row_extras.h"
#include "compute/attention/attention.h"
#include "op/nn/fused.h"
#include "op/nn/softmax.h"
#include "report/reason.h"

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
  if (!fused_broadcast(t, plan->ndim, sizes, plan->strides[operand])) return false;
  *out = matrix(plan, operand, t);
  return true;
}

static bool is_last(int64_t dim, int ndim) {
  return dim == -1 || dim == ndim - 1;
}

/* On the host and of that dtype; NULL is. */
static Status check_tensor(const Tensor *t, DType dtype) {
  if (t && t->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED)) return reason_decline(REASON_NOT_FUSED_KIND);
  return !t || t->dtype == dtype ? OK : reason_decline(REASON_NOT_FUSED_DTYPE);
}

/* What the program wrote, whatever the operator. */
typedef struct Operands {
  const Tensor *query, *key, *value;
  const Tensor *add, *hidden; /* NULL: none */
  IValue factor, fill;        /* factor: None: none */
  bool divides, by_batches;   /* by bmm, which broadcasts nothing */
  int64_t dim;
} Operands;

static Status check_operands(const Call *call, const Operands *o) {
  if (call->exec->deterministic) return reason_decline(REASON_NOT_FUSED_DETERMINISTIC);
  TRY(check_tensor(o->query, DTYPE_FLOAT32));
  TRY(check_tensor(o->key, DTYPE_FLOAT32));
  TRY(check_tensor(o->value, DTYPE_FLOAT32));
  TRY(check_tensor(o->add, DTYPE_FLOAT32));
  TRY(check_tensor(o->hidden, DTYPE_BOOL));
  /* the factor is a real number, and the filled one of float32's range */
  if (o->factor.tag == TAG_COMPLEX || o->fill.tag == TAG_COMPLEX) return reason_decline(REASON_NOT_FUSED_ARGUMENT);
  double fill = ivalue_to_double(o->fill);
  return isinf(fill) || fabs(fill) <= FLT_MAX ? OK : reason_decline(REASON_NOT_FUSED_ARGUMENT);
}

/* Whether the sizes are as the kernel takes them, and how everything lies. What is no error here is none elsewhere. */
static bool plan_attention(const Operands *o, Plan *plan) {
  const Tensor *query = o->query, *key = o->key, *value = o->value;
  AttentionPart *part = &plan->all.part;
  int ndim = query->ndim;
  if (ndim < 2 || key->ndim != ndim || value->ndim != ndim || (o->by_batches && ndim != 3) || !is_last(o->dim, ndim))
    return false;
  plan->ndim = ndim;
  for (int d = 0; d + 2 < ndim; d++) {
    plan->sizes[d] = query->sizes[d] > key->sizes[d] ? query->sizes[d] : key->sizes[d];
    if (o->by_batches && (query->sizes[d] != key->sizes[d] || value->sizes[d] != key->sizes[d])) return false;
  }
  int64_t rows = query->sizes[ndim - 2], keys = key->sizes[ndim - 1], width = query->sizes[ndim - 1],
          out_width = value->sizes[ndim - 1];
  plan->sizes[ndim - 2] = rows;
  plan->sizes[ndim - 1] = keys;
  for (int d = 0; d < ndim; d++)
    if (plan->sizes[d] < 1) return false;
  if (width < 1 || out_width < 1 || key->sizes[ndim - 2] != width || value->sizes[ndim - 2] != keys) return false;
  if (!place(plan, 0, query, rows, width, &part->query) || !place(plan, 1, key, width, keys, &part->key) ||
      !place(plan, 2, value, keys, out_width, &part->value) ||
      (o->add && !place(plan, 3, o->add, rows, keys, &part->add)) ||
      (o->hidden && !place(plan, 4, o->hidden, rows, keys, &part->hidden)))
    return false;
  part->rows = rows;
  part->keys = keys;
  part->width = width;
  part->out_width = out_width;
  part->divides = o->divides;
  part->factor = o->factor.tag == TAG_NONE ? 1 : (float)ivalue_to_double(o->factor);
  part->fill = (float)ivalue_to_double(o->fill);
  return true;
}

static Status run_plan(Call *call, Plan *plan, Tensor **out_result) {
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
    *out_result = out;
  else
    tensor_release(out);
  return status;
}

static Status run_fused(Call *call, const Operands *o, Tensor **out) {
  Plan plan = {0};
  TRY(check_operands(call, o));
  return plan_attention(o, &plan) ? run_plan(call, &plan, out) : reason_decline(REASON_NOT_FUSED_SHAPE);
}
static Status run(Call *call, const Operands *o) {
  Tensor *out;
  TRY(run_fused(call, o, &out));
  call_set_tensor(call, 0, out);
  return OK;
}

static bool is_named(const RegionStep *step, const char *name) {
  return step->op && str_is(step->op->name, name);
}

/* Of the product that adds a mask the mask is the first argument. */
static Operands operands_of(const RegionCall *r) {
  const RegionStep *steps = r->region->units->steps, *scores = &steps[REGION_SCORES], *fill = &steps[REGION_FILL],
                   *scale = &steps[REGION_SCALE], *softmax = &steps[REGION_ANCHOR], *result = &steps[REGION_RESULT];
  uint32_t adds = is_named(scores, "aten::baddbmm");
  IValue mask = adds ? region_argument(r, scores, 0) : region_term(r, &steps[REGION_MASK]);
  return (Operands){.query = region_argument(r, scores, adds).tensor,
                    .key = region_argument(r, scores, adds + 1).tensor,
                    .value = region_argument(r, result, 1).tensor,
                    .add = mask.tag == TAG_TENSOR ? mask.tensor : NULL,
                    .hidden = fill->op ? region_argument(r, fill, 1).tensor : NULL,
                    .factor = scale->op ? region_argument(r, scale, 1) : IVALUE_NONE,
                    .fill = fill->op ? region_argument(r, fill, 2) : ivalue_float(0),
                    .divides = is_named(scale, "aten::div"),
                    .by_batches = !is_named(scores, "aten::matmul") || !is_named(result, "aten::matmul"),
                    .dim = region_argument(r, softmax, 1).i};
}

static Status run_region(RegionCall *r) {
  Operands o = operands_of(r);
  bool converts = region_argument(r, &r->region->units->steps[REGION_ANCHOR], 2).tag != TAG_NONE;
  return converts ? reason_decline(REASON_NOT_FUSED_DTYPE) : run(r->call, &o);
}

static Status kernel_masked_attention(Call *call) {
  Operands o = {.query = call_tensor(call, 0),
                .key = call_tensor(call, 1),
                .value = call_tensor(call, 2),
                .hidden = call_tensor_or_null(call, 3),
                .fill = ivalue_float(-INFINITY),
                .dim = -1};
  return run(call, &o);
}

/* ---- scaled_dot_product_attention ---- */

/* Of each query the keys that come after it. */
static Status make_later(int64_t rows, int64_t keys, Tensor **out) {
  TRY(tensor_empty(DTYPE_BOOL, 2, (int64_t[]){rows, keys}, out));
  bool *later = tensor_data(*out);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < keys; k++) later[i * keys + k] = k > i;
  return OK;
}
static bool has_nan(const Tensor *t) {
  const float *data = tensor_data(t);
  bool found = false;
  for (int64_t i = 0; i < t->numel; i++) found |= data[i] != data[i];
  return found;
}

/* (query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa). A query that may attend to nothing has no
 * softmax, and the body gives it zeros: NaN says that there may be one. */
static Status kernel_scaled_attention(Call *call) {
  static OpRef mul = OP_REF("aten::mul", "Scalar"), logical_not = OP_REF("aten::logical_not", "");
  const Tensor *query = call_tensor(call, 0), *key = call_tensor(call, 1), *value = call_tensor(call, 2),
               *mask = call_tensor_or_null(call, 3);
  bool is_causal = call_bool(call, 5);
  if (call_double(call, 4) > 0 || call_bool(call, 7) || (mask && is_causal))
    return reason_decline(REASON_NOT_FUSED_ARGUMENT);
  TRY(check_tensor(query, DTYPE_FLOAT32));
  TRY(check_tensor(key, DTYPE_FLOAT32));
  if (query->ndim < 2 || key->ndim != query->ndim) return reason_decline(REASON_NOT_FUSED_SHAPE);
  if (mask && mask->dtype != DTYPE_BOOL) TRY(check_tensor(mask, DTYPE_FLOAT32));
  int64_t rows = query->sizes[query->ndim - 2], keys = key->sizes[key->ndim - 2], width = query->sizes[query->ndim - 1];
  IValue scaled = IVALUE_NONE, hidden = IVALUE_NONE;
  Tensor *turned = NULL, *later = NULL, *out = NULL;
  IValue factor = ivalue_float(call_is_none(call, 6) ? 1 / sqrt((double)width) : call_double(call, 6));
  Status status;
  TRY_GOTO(op_call(call->exec, &mul, 2, (IValue[]){call->inputs[0], factor}, 1, &scaled), done);
  TRY_GOTO(tensor_transpose(key, -2, -1, &turned), done);
  if (is_causal) TRY_GOTO(make_later(rows, keys, &later), done);
  if (mask && mask->dtype == DTYPE_BOOL)
    TRY_GOTO(op_call(call->exec, &logical_not, 1, &call->inputs[3], 1, &hidden), done);
  Operands o = {.query = scaled.tensor,
                .key = turned,
                .value = value,
                .add = mask && mask->dtype != DTYPE_BOOL ? mask : NULL,
                .hidden = is_causal                  ? later
                          : hidden.tag == TAG_TENSOR ? hidden.tensor
                                                     : NULL,
                .fill = ivalue_float(-INFINITY),
                .dim = -1};
  TRY_GOTO(run_fused(call, &o, &out), done);
  if (mask && has_nan(out)) {
    status = reason_decline(REASON_NOT_FUSED_ARGUMENT);
    goto done;
  }
  call_set_tensor(call, 0, out);
  out = NULL;
done:
  ivalue_release(scaled);
  ivalue_release(hidden);
  tensor_release(turned);
  tensor_release(later);
  tensor_release(out);
  return status;
}

static double flops_of(const Tensor *query, const Tensor *key, const Tensor *out) {
  if (query->ndim < 2 || key->ndim < 2 || out->ndim < 2 || !out->sizes[out->ndim - 1]) return 0;
  double rows = (double)out->numel / (double)out->sizes[out->ndim - 1];
  return 2 * rows * (double)key->sizes[key->ndim - 1] *
         (double)(query->sizes[query->ndim - 1] + out->sizes[out->ndim - 1]);
}
static double flops_masked(const Call *call) {
  return flops_of(call_tensor(call, 0), call_tensor(call, 1), call_out(call, 0));
}
static double flops_scaled(const Call *call) {
  const Tensor *key = call_tensor(call, 1), *query = call_tensor(call, 0), *out = call_out(call, 0);
  if (query->ndim < 2 || key->ndim < 2 || out->ndim < 2 || !out->sizes[out->ndim - 1]) return 0;
  double rows = (double)out->numel / (double)out->sizes[out->ndim - 1];
  return 2 * rows * (double)key->sizes[key->ndim - 2] *
         (double)(query->sizes[query->ndim - 1] + out->sizes[out->ndim - 1]);
}
static double flops_region(const RegionCall *r) {
  Operands o = operands_of(r);
  return flops_of(o.query, o.key, call_out(r->call, 0));
}
const Anchor softmax_anchor = {
    .takes = 1u << REGION_SCORES | 1u << REGION_SCALE | 1u << REGION_MASK | 1u << REGION_FILL | 1u << REGION_RESULT,
    .needs = 1u << REGION_SCORES | 1u << REGION_RESULT,
    .run = run_region,
    .flops = flops_region,
};

static const OpRow rows[] = {
    /* PyTorch 2.0 and later; the defaults of the newest read all versions. */
    {.schema =
         "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
         "dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
     .body = "return scaled_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)",
     BESIDE(kernel_scaled_attention),
     .flops = flops_scaled},
    {.schema = "wick::masked_attention(Tensor query, Tensor key, Tensor value, Tensor? hidden) -> Tensor",
     .body = "scores = torch.matmul(query, key)\n"
             "if hidden is not None:\n"
             "    scores = scores.masked_fill(hidden, float('-inf'))\n"
             "return torch.matmul(scores.softmax(-1), value)",
     BESIDE(kernel_masked_attention),
     .flops = flops_masked,
     .flags = OP_OF_PLANS},
};
OP_TABLE(op_table_attention_fused, rows);
