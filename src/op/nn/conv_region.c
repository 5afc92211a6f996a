/* Convolutions as anchors of regions (call/region.h): with the gate before it, the normalization by stored statistics
 * after it, a sum and an activation; an expansion with the depthwise convolution of its result, each with what belongs
 * to it; and those whose results are joined along their channels and go nowhere else, which write them where the joined
 * tensor has them. */
#include "op/nn/conv.h"

#include <math.h>

#include "call/region.h"
#include "call/row.h"
#include "op/nn/fused.h"
#include "op/nn/norm.h"
#include "tensor/layout.h"

enum { MAX_ARGUMENTS = 13 /* of a convolution */, ADD_ARGUMENTS = 3 };

/* A unit that can be done at once. */
typedef struct Convolution {
  const RegionUnit *unit;
  const Tensor *input, *weight, *bias, *add;
  StoredNorm norm;
  ConvParams params;
  ConvEpilogue epilogue;
  bool multiplies, adds; /* by an operator before and after it: the engine can't take the factor, or the term, along */
  Tensor *image, *term;  /* the input and what is added, without gaps, owned; NULL: as the caller has it, or nothing */
  float *numbers;        /* scale and shift of a normalization, owned; NULL: none */
} Convolution;

/* ---- what there is against it ---- */

/* One number for each channel. */
static Status read_vectors(const RegionCall *r, Convolution *c) {
  const RegionStep *norm = &c->unit->steps[REGION_NORM];
  if (!fused_is_vector(c->bias, c->params.out_channels)) return reason_decline(REASON_NOT_FUSED_WEIGHTS);
  return norm->op ? stored_norm_read(r, norm, c->params.out_channels, &c->norm) : OK;
}

/* The tensor to add, if any, is of the results' sizes. */
static Status read_term(const RegionCall *r, Convolution *c) {
  IValue term = region_term(r, &c->unit->steps[REGION_SUM]);
  if (term.tag != TAG_TENSOR) return OK;
  const Tensor *add = term.tensor;
  if (!tensor_is_defined(add)) return reason_decline(REASON_NOT_FUSED_KIND);
  if (add->dtype != DTYPE_FLOAT32 || add->flags & TENSOR_UNUSUAL) return fused_decline(add);
  int64_t sizes[CONV_SPATIAL + 2];
  bool fits = add->ndim == c->params.spatial + 2 &&
              !memcmp(add->sizes, conv_result_sizes(&c->params, sizes), (size_t)add->ndim * sizeof *sizes);
  if (!fits) return reason_decline(REASON_NOT_FUSED_SHAPE);
  if (!layout_stays_row_major(add->ndim, sizes, add)) { /* the sum lies as the term does */
    c->adds = r->region->unit_count == 1 && !c->unit->steps[REGION_FUNCTION].op;
    return c->adds ? OK : reason_decline(REASON_NOT_FUSED_LAYOUT);
  }
  c->add = add;
  c->epilogue.add = tensor_data(add);
  return OK;
}

/* A factor for each plane of the image. */
static bool is_gate_of(const Tensor *gate, const Tensor *image) {
  bool fits = gate->ndim == image->ndim && gate->ndim > 2;
  for (int d = 0; d < gate->ndim && fits; d++) fits = gate->sizes[d] == (d < 2 ? image->sizes[d] : 1);
  return fits;
}

static bool have_same_sizes(const Tensor *a, const Tensor *b) {
  return a->ndim == b->ndim && !memcmp(a->sizes, b->sizes, a->ndim * sizeof *a->sizes);
}

/* Which of the two factors, if any, is the image; the product of both is to be row-major. Where each has as many
 * elements as the image has, the operator multiplies. */
static Status read_image(const RegionCall *r, Convolution *c) {
  const RegionStep *product = &c->unit->steps[REGION_GATE];
  if (!product->op) {
    c->input = region_argument(r, &c->unit->steps[REGION_ANCHOR], 0).tensor;
    return OK;
  }
  const Tensor *image = region_argument(r, product, 0).tensor, *gate = region_argument(r, product, 1).tensor;
  if (!is_gate_of(gate, image)) {
    const Tensor *other = image;
    image = gate;
    gate = other;
  }
  if (!fused_is_plain(gate)) return fused_decline(gate);
  c->multiplies = !is_gate_of(gate, image);
  if (c->multiplies && !have_same_sizes(gate, image)) return reason_decline(REASON_NOT_FUSED_SHAPE);
  if (!gate->row_major || !image->row_major) return reason_decline(REASON_NOT_FUSED_LAYOUT);
  c->input = image;
  if (!c->multiplies) c->epilogue.gate = tensor_data(gate);
  return OK;
}

/* Reads a unit, or declines. Of the image only the metadata is read; NULL: it is what the unit says. */
static Status read_unit(const RegionCall *r, const RegionUnit *unit, const Tensor *input, Convolution *c) {
  const RegionStep *anchor = &unit->steps[REGION_ANCHOR];
  *c = (Convolution){.unit = unit, .input = input, .epilogue = {.activation = unit->activation}};
  c->weight = region_argument(r, anchor, 1).tensor;
  c->bias = region_tensor_or_null(r, anchor, 2);
  if (!input) TRY(read_image(r, c));
  if (c->input->dtype != DTYPE_FLOAT32 || c->input->flags & TENSOR_UNUSUAL) return fused_decline(c->input);
  if (!fused_is_plain(c->weight)) return fused_decline(c->weight);
  if (c->input->ndim != c->weight->ndim) return reason_decline(REASON_NOT_FUSED_SHAPE);
  IValue arguments[MAX_ARGUMENTS];
  Call step = region_step_call(r, anchor);
  assert(step.input_count <= MAX_ARGUMENTS);
  memcpy(arguments, step.inputs, step.input_count * sizeof *arguments);
  arguments[0] = ivalue_tensor((Tensor *)c->input);
  step.inputs = arguments;
  TRY(conv_read_at(&step, anchor->op->row->with, &c->params));
  if (!conv_gives_row_major(&c->params, c->input, c->weight)) return reason_decline(REASON_NOT_FUSED_LAYOUT);
  if (c->epilogue.gate && !conv_takes_gate(&c->params)) return reason_decline(REASON_NOT_FUSED_SIZE);
  TRY(read_vectors(r, c));
  if (c->bias) c->epilogue.shift = tensor_data(c->bias);
  return read_term(r, c);
}

/* ---- doing it ---- */

/* scale = gamma / sqrt(var + eps), shift = beta + (bias - mean) * scale: the normalization of stored statistics. All
 * that is read comes from memory in one loop, so that the waits for it fall together. */
static inline __attribute__((always_inline)) void fold_channels(int64_t channels, const float *mean, const float *var,
                                                                const float *gamma, const float *beta,
                                                                const float *bias, float eps, float *restrict scale,
                                                                float *restrict shift) {
  for (int64_t c = 0; c < channels; c++) {
    float s = 1 / sqrtf(var[c] + eps);
    if (gamma) s *= gamma[c];
    float t = ((bias ? bias[c] : 0) - mean[c]) * s;
    scale[c] = s;
    shift[c] = beta ? t + beta[c] : t;
  }
}
static const float *floats(const Tensor *t) {
  return t ? tensor_data(t) : NULL;
}
static void fold(const Convolution *c, float *scale, float *shift) {
  const float *mean = floats(c->norm.mean), *var = floats(c->norm.variance), *gamma = floats(c->norm.weight),
              *beta = floats(c->norm.bias), *bias = floats(c->bias);
  float eps = (float)c->norm.eps;
  if (gamma && beta && !bias) /* what is not there is known to the compiler then */
    fold_channels(c->params.out_channels, mean, var, gamma, beta, NULL, eps, scale, shift);
  else
    fold_channels(c->params.out_channels, mean, var, gamma, beta, bias, eps, scale, shift);
}

/* As the program has it; the result is the caller's. */
static Status run_step(const RegionCall *r, const RegionStep *step, const IValue *inputs, Tensor **out) {
  IValue result = IVALUE_NONE;
  Call call = {.inputs = inputs, .input_count = step->count, .outputs = &result, .output_count = 1};
  TRY(operator_call(r->call->exec, step->op, &call));
  *out = result.tensor;
  return OK;
}

static Status multiply(const RegionCall *r, Convolution *c) {
  const RegionStep *product = &c->unit->steps[REGION_GATE];
  TRY(run_step(r, product, r->arguments + product->first, &c->image));
  c->input = c->image;
  return OK;
}

/* *out becomes the sum with the term. */
static Status add(const RegionCall *r, const Convolution *c, Tensor **out) {
  const RegionStep *sum = &c->unit->steps[REGION_SUM];
  IValue inputs[ADD_ARGUMENTS];
  Tensor *result = *out;
  assert(sum->count == ADD_ARGUMENTS);
  memcpy(inputs, r->arguments + sum->first, sizeof inputs);
  inputs[sum->through] = ivalue_tensor(result);
  Status status = run_step(r, sum, inputs, out);
  tensor_release(result);
  return status;
}

/* Makes the numbers of the normalization, the input and the term without gaps; end is called also if it fails. */
static Status begin(const RegionCall *r, Convolution *c) {
  int64_t channels = c->params.out_channels;
  if (c->multiplies) TRY(multiply(r, c));
  if (!tensor_is_contiguous(c->input)) {
    TRY(tensor_contiguous(c->input, &c->image));
    c->input = c->image;
  }
  if (c->add && !tensor_is_contiguous(c->add)) {
    TRY(tensor_contiguous(c->add, &c->term));
    c->epilogue.add = tensor_data(c->term);
  }
  if (!c->unit->steps[REGION_NORM].op) return OK;
  c->numbers = mem_alloc((size_t)channels * 2 * sizeof *c->numbers);
  if (!c->numbers) return status_out_of_memory();
  fold(c, c->numbers, c->numbers + channels);
  c->epilogue.scale = c->numbers;
  c->epilogue.shift = c->numbers + channels;
  return OK;
}
static void end(Convolution *c) {
  mem_free(c->numbers);
  tensor_release(c->image);
  tensor_release(c->term);
}

/* To `out`. */
static Status run_to(const RegionCall *r, Convolution *c, Tensor *out) {
  Status status = begin(r, c);
  if (!status && out->numel)
    status = conv_forward(&r->call->exec->work, &c->params, c->input, c->weight, &c->epilogue, out);
  end(c);
  return status;
}

static Status run_unit(const RegionCall *r, Convolution *c, Tensor **out) {
  int64_t sizes[CONV_SPATIAL + 2];
  Tensor *result;
  TRY(tensor_empty(DTYPE_FLOAT32, c->input->ndim, conv_result_sizes(&c->params, sizes), &result));
  Status status = run_to(r, c, result);
  if (status)
    tensor_release(result);
  else
    *out = result;
  return status || !c->adds ? status : add(r, c, out);
}

/* ---- an expansion and the depthwise convolution of its result ---- */

/* The metadata of the result between the two; it has no data and is not to be retained. */
static Status set_between(const ConvParams *p, Tensor *out) {
  *out = (Tensor){.dtype = DTYPE_FLOAT32, .ndim = (uint8_t)(p->spatial + 2), .contiguous = 1, .row_major = 1};
  out->sizes = out->dims;
  out->strides = out->dims + out->ndim;
  conv_result_sizes(p, out->sizes);
  strides_contiguous(out->ndim, out->sizes, out->strides);
  return sizes_numel(out->ndim, out->sizes, &out->numel);
}

static Status run_at_once(const RegionCall *r, Convolution *first, Convolution *second, const Expansion *both,
                          Tensor **out) {
  int64_t sizes[CONV_SPATIAL + 2];
  Tensor *result = NULL;
  Status status;
  TRY_GOTO(begin(r, first), done);
  TRY_GOTO(begin(r, second), done);
  TRY_GOTO(tensor_empty(DTYPE_FLOAT32, second->params.spatial + 2, conv_result_sizes(&second->params, sizes), &result),
           done);
  if (result->numel)
    TRY_GOTO(conv_forward_expansion(&r->call->exec->work, both, first->input, first->weight, second->weight, result),
             done);
  *out = tensor_retain(result);
done:
  end(first);
  end(second);
  tensor_release(result);
  return status;
}

/* One after the other where the engine does not take both. */
static Status run_pair(const RegionCall *r, Convolution *first, Tensor **out) {
  const RegionUnit *depthwise = r->region->units + 1;
  Convolution second;
  Tensor between, *result;
  TRY(set_between(&first->params, &between));
  TRY(read_unit(r, depthwise, &between, &second));
  Expansion both = {&first->params, &second.params, &first->epilogue, &second.epilogue};
  if (conv_takes_expansion(&both)) return run_at_once(r, first, &second, &both, out);
  TRY(run_unit(r, first, &result));
  second.input = result;
  Status status = run_unit(r, &second, out);
  tensor_release(result);
  return status;
}

/* ---- results joined along their channels ---- */

/* Of one sample the parts are runs of memory. Gives the sizes of all. */
static bool find_joined(const RegionCall *r, const Convolution *units, int64_t *sizes) {
  const RegionStep *join = &r->region->join;
  int ndim = units->input->ndim;
  conv_result_sizes(&units->params, sizes);
  if (region_argument(r, join, join->count - 1u).i != 1 || sizes[0] != 1) return false;
  for (uint32_t i = 1; i < r->region->unit_count; i++) {
    int64_t other[CONV_SPATIAL + 2];
    if (units[i].input->ndim != ndim) return false;
    conv_result_sizes(&units[i].params, other);
    sizes[1] += other[1];
    other[1] = sizes[1];
    if (memcmp(other, sizes, (size_t)ndim * sizeof *sizes) != 0) return false;
  }
  return true;
}

static Status run_in_place(const RegionCall *r, Convolution *units, const int64_t *sizes, Tensor **out) {
  int ndim = units->input->ndim;
  int64_t at = 0;
  Tensor *all;
  TRY(tensor_empty(DTYPE_FLOAT32, ndim, sizes, &all));
  Status status = OK;
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    int64_t own[CONV_SPATIAL + 2];
    Tensor *part;
    conv_result_sizes(&units[i].params, own);
    TRY_GOTO(tensor_from_storage(all->storage, DTYPE_FLOAT32, ndim, own, NULL, at, &part), done);
    at += part->numel;
    status = run_to(r, &units[i], part);
    tensor_release(part);
    if (status) goto done;
  }
  *out = tensor_retain(all);
done:
  tensor_release(all);
  return status;
}

/* One by one, and then as the program has it. */
static Status run_and_join(const RegionCall *r, Convolution *units, Tensor **out) {
  const RegionStep *join = &r->region->join;
  uint32_t count = r->region->unit_count, made = 0;
  IValue parts[REGION_MAX_UNITS + 1], result = IVALUE_NONE;
  Call call = {.inputs = parts, .input_count = count + 1, .outputs = &result, .output_count = 1};
  Status status = OK;
  for (; made < count && !status; made++) {
    Tensor *part = NULL;
    status = run_unit(r, &units[made], &part);
    parts[made] = status ? IVALUE_NONE : ivalue_tensor(part);
  }
  parts[count] = region_argument(r, join, count);
  if (!status) status = operator_call(r->call->exec, join->op, &call);
  if (!status) *out = result.tensor;
  while (made--) ivalue_release(parts[made]);
  return status;
}

static Status run_joined(const RegionCall *r, Tensor **out) {
  Convolution units[REGION_MAX_UNITS];
  int64_t sizes[CONV_SPATIAL + 2];
  for (uint32_t i = 0; i < r->region->unit_count; i++) TRY(read_unit(r, &r->region->units[i], NULL, &units[i]));
  return find_joined(r, units, sizes) ? run_in_place(r, units, sizes, out) : run_and_join(r, units, out);
}

static Status run_one_or_two(const RegionCall *r, Tensor **out) {
  Convolution first;
  TRY(read_unit(r, r->region->units, NULL, &first));
  return r->region->unit_count == 1 ? run_unit(r, &first, out) : run_pair(r, &first, out);
}

static Status run(RegionCall *r) {
  Tensor *out = NULL;
  if (r->call->exec->deterministic) return reason_decline(REASON_NOT_FUSED_DETERMINISTIC);
  TRY((r->region->join.op ? run_joined : run_one_or_two)(r, &out));
  call_set_tensor(r->call, 0, out);
  return OK;
}

enum { FOLLOWS = 1u << REGION_NORM | 1u << REGION_SUM | 1u << REGION_FUNCTION | ANCHOR_PLACES | ANCHOR_KNOWS };

const Anchor conv_anchor = {.takes = FOLLOWS | 1u << REGION_GATE | ANCHOR_EXPANDS, .run = run};
const Anchor conv_general_anchor = {.takes = FOLLOWS, .run = run};
