/* The reduction engine (reduce.h). Relies on the tile loops and dtype_convert for every element type. */
#include "compute/reduce/reduce.h"

#include <assert.h>

#include "base/parallel.h"
#include "tile/loops.h"

typedef struct Axis {
  int64_t size, in_stride; /* elements */
  int64_t out_stride[2];
} Axis;

/* Elements between two looks at the deadline. */
enum { ELEMENTS_PER_LOOK = 1 << 20 };

typedef struct Plan {
  const Exec *exec;
  const ReduceOp *op;
  const ReduceParams *params;
  DType in_dtype;
  TileLoop *convert; /* for neighbouring elements, when there is one faster than dtype_convert */
  const char *in;
  Tensor *const *outputs;
  char *out[2];
  Axis vector; /* the kept axis that `down` runs over; size 1 when `along` is used */
  bool go_down;
  int outer_count, inner_count; /* axes walked by counting; the last inner axis is the line of `along` */
  Axis outer[TENSOR_MAX_DIMS], inner[TENSOR_MAX_DIMS];
  int64_t outer_items, blocks;
} Plan;

static DType class_dtype(ReduceClass c) {
  return c == REDUCE_C128 ? DTYPE_COMPLEX128 : c == REDUCE_F64 ? DTYPE_FLOAT64 : DTYPE_INT64;
}

static void load(const Plan *plan, const char *from, int64_t stride, int64_t n, void *to) {
  if (plan->op->magnitude && dtype_is_complex(plan->in_dtype)) {
    complex128 values[REDUCE_BLOCK];
    dtype_convert(DTYPE_COMPLEX128, values, 1, plan->in_dtype, from, stride, n);
    for (int64_t i = 0; i < n; i++) ((double *)to)[i] = __builtin_cabs(values[i]);
    return;
  }
  if (plan->convert && stride == 1)
    plan->convert(n, to, from, NULL, NULL);
  else
    dtype_convert(class_dtype(plan->op->input), to, 1, plan->in_dtype, from, stride, n);
}

static int64_t count_of(const Axis *axes, int n) {
  int64_t product = 1;
  for (int i = 0; i < n; i++) product *= axes[i].size;
  return product;
}

/* The element offset of linear position `index` over axes, last fastest. */
static int64_t offset_of(const Axis *axes, int n, int64_t index, int64_t out_offset[2]) {
  assert(n >= 0 && n <= TENSOR_MAX_DIMS);
  int64_t offset = 0;
  for (int i = n - 1; i >= 0; i--) {
    int64_t at = index % axes[i].size;
    index /= axes[i].size;
    offset += at * axes[i].in_stride;
    if (out_offset)
      for (int k = 0; k < 2; k++) out_offset[k] += at * axes[i].out_stride[k];
  }
  return offset;
}

static void reduce_block_down(const Plan *plan, const char *base, int64_t n, ReduceCell *const *state) {
  size_t item = dtype_size(plan->in_dtype);
  complex128 values[REDUCE_BLOCK];
  int64_t total = count_of(plan->inner, plan->inner_count), at[TENSOR_MAX_DIMS] = {0}, offset = 0;
  for (int64_t position = 0; position < total; position++) {
    if (position % (ELEMENTS_PER_LOOK / REDUCE_BLOCK) == 0 && exec_is_over(plan->exec)) return;
    load(plan, base + offset * (int64_t)item, plan->vector.in_stride, n, values);
    plan->op->down(state, values, n, position, plan->params);
    for (int i = plan->inner_count - 1; i >= 0; i--) {
      offset += plan->inner[i].in_stride;
      if (++at[i] < plan->inner[i].size) break;
      offset -= at[i] * plan->inner[i].in_stride;
      at[i] = 0;
    }
  }
}

static void reduce_one_along(const Plan *plan, const char *base, ReduceCell *const *state) {
  size_t item = dtype_size(plan->in_dtype);
  complex128 values[REDUCE_BLOCK];
  const Axis *line = &plan->inner[plan->inner_count - 1];
  int64_t lines = count_of(plan->inner, plan->inner_count - 1), position = 0;
  bool sums = plan->op->sum_f32 && plan->in_dtype == DTYPE_FLOAT32 && line->in_stride == 1;
  for (int64_t l = 0; l < lines; l++) {
    const char *from = base + offset_of(plan->inner, plan->inner_count - 1, l, NULL) * (int64_t)item;
    for (int64_t i = 0; i < line->size; i += REDUCE_BLOCK) {
      int64_t n = line->size - i < REDUCE_BLOCK ? line->size - i : REDUCE_BLOCK;
      const char *at = from + i * line->in_stride * (int64_t)item;
      if (position % ELEMENTS_PER_LOOK < n && exec_is_over(plan->exec)) return;
      if (sums) {
        state[0][0].f += plan->op->sum_f32(n, (const float *)at);
      } else {
        load(plan, at, line->in_stride, n, values);
        plan->op->along(state, values, n, position, plan->params);
      }
      position += n;
    }
  }
}

static void reduce_items(void *argument, int64_t begin, int64_t end) {
  const Plan *plan = argument;
  ReduceCell cells[REDUCE_STATES][REDUCE_BLOCK];
  ReduceCell *const state[REDUCE_STATES] = {cells[0], cells[1], cells[2]};
  complex128 results[2][REDUCE_BLOCK];
  bool nothing = count_of(plan->inner, plan->inner_count) == 0;
  for (int64_t item = begin; item < end; item++) {
    int64_t block = item % plan->blocks * REDUCE_BLOCK, out_offset[2] = {0, 0};
    int64_t n = plan->vector.size - block < REDUCE_BLOCK ? plan->vector.size - block : REDUCE_BLOCK;
    int64_t offset = offset_of(plan->outer, plan->outer_count, item / plan->blocks, out_offset);
    const char *base = plan->in + (offset + block * plan->vector.in_stride) * (int64_t)dtype_size(plan->in_dtype);
    plan->op->start(state, n, plan->params);
    if (!nothing && plan->go_down) reduce_block_down(plan, base, n, state);
    if (!nothing && !plan->go_down) reduce_one_along(plan, base, state);
    plan->op->finish(state, n, plan->params, (void *const[2]){results[0], results[1]});
    for (int k = 0; k < 2; k++) {
      if (!plan->outputs[k]) continue;
      DType dtype = (DType)plan->outputs[k]->dtype;
      char *to = plan->out[k] + (out_offset[k] + block * plan->vector.out_stride[k]) * (int64_t)dtype_size(dtype);
      dtype_convert(dtype, to, plan->vector.out_stride[k], class_dtype(plan->op->outputs[k]), results[k], 1, n);
    }
  }
}

/* Reduced dimensions that lie in one run are one: its blocks go on over their ends, as those of a line do that stands
 * for them (tile/line.h). */
static void join_inner(Plan *plan) {
  int count = 0;
  for (int i = 0; i < plan->inner_count; i++) {
    Axis axis = plan->inner[i], *last = count ? &plan->inner[count - 1] : NULL;
    if (axis.size == 1 && (last || i + 1 < plan->inner_count)) continue;
    if (last && last->in_stride == axis.size * axis.in_stride) {
      last->size *= axis.size;
      last->in_stride = axis.in_stride;
    } else {
      plan->inner[count++] = axis;
    }
  }
  plan->inner_count = count;
}

Status reduce_run(Exec *exec, const ReduceOp *op, ReduceParams *params, const Tensor *self, const ReduceDims *dims,
                  Tensor *const outputs[2]) {
  _Static_assert(sizeof(complex128) >= sizeof(ReduceCell), "result buffers hold any class");
  Plan plan = {.exec = exec,
               .op = op,
               .params = params,
               .in_dtype = (DType)self->dtype,
               .in = tensor_data(self),
               .outputs = outputs};
  plan.convert = tile_load_loop(plan.in_dtype, tile_type_of(class_dtype(op->input)));
  plan.vector = (Axis){.size = 1};
  int64_t least_inner = INT64_MAX;
  int best = -1;
  params->count = 1;
  for (int d = 0, kept = 0; d < self->ndim; d++) {
    Axis axis = {self->sizes[d], self->strides[d], {0, 0}};
    for (int k = 0; k < 2; k++) {
      const Tensor *out = outputs[k];
      if (out && !dims->reduced[d]) axis.out_stride[k] = out->strides[out->ndim == self->ndim ? d : kept];
    }
    if (dims->reduced[d]) {
      plan.inner[plan.inner_count++] = axis;
      params->count *= axis.size;
      if (axis.size > 1 && axis.in_stride < least_inner) least_inner = axis.in_stride;
    } else {
      if (axis.size > 1 && (best < 0 || axis.in_stride < plan.outer[best].in_stride)) best = plan.outer_count;
      plan.outer[plan.outer_count++] = axis;
      kept++;
    }
  }
  for (int k = 0; k < 2; k++) plan.out[k] = outputs[k] ? tensor_data(outputs[k]) : NULL;
  if (params->count) join_inner(&plan);
  if (plan.inner_count == 0) plan.inner[plan.inner_count++] = (Axis){.size = 1};
  plan.go_down = best >= 0 && plan.outer[best].in_stride < least_inner;
  if (plan.go_down) {
    plan.vector = plan.outer[best];
    plan.outer[best].size = 1;
  }
  plan.blocks = (plan.vector.size + REDUCE_BLOCK - 1) / REDUCE_BLOCK;
  plan.outer_items = count_of(plan.outer, plan.outer_count) * plan.blocks;
  if (plan.outer_items == 0) return OK;
  int64_t work = (params->count > 0 ? params->count : 1) * (plan.go_down ? REDUCE_BLOCK : 1);
  parallel_for(exec->threads, plan.outer_items, 1 + 12288 / work, reduce_items, &plan);
  return exec_poll(exec);
}

Status reduce_read_dims(const Call *call, int ndim, ReduceDims *out) {
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

void reduce_spec(const Tensor *self, const ReduceDims *dims, DType dtype, TensorSpec *out) {
  memset(out, 0, offsetof(TensorSpec, sizes));
  out->dtype = dtype;
  out->device = tensor_device(self);
  for (int d = 0; d < self->ndim; d++) {
    if (!dims->reduced[d])
      out->sizes[out->ndim++] = self->sizes[d];
    else if (dims->keepdim)
      out->sizes[out->ndim++] = 1;
  }
}
