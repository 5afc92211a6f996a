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
/* Elements below which work is not shared out. */
enum { LEAST_WORK = 12288 };
/* Results side by side of which the states and several rows of values stay in the nearest cache. */
enum { DOWN_BLOCK = 256 };

typedef struct Plan Plan;
/* Adds all values to the states of n results along the vector from `base` on. */
typedef void ReduceBlock(const Plan *plan, const char *base, int64_t n, void *const *state);
struct Plan {
  const Work *work;
  const ReduceOp *op;
  const ReduceParams *params;
  DType in_dtype;
  TileLoop *convert; /* for neighbouring elements, when there is one faster than dtype_convert */
  const char *in;
  Tensor *const *outputs;
  char *out[2];
  const ReduceRowsForms *rows; /* when the values are read as neighbouring float32; or NULL */
  ReduceBlock *reduce;
  Axis vector;                  /* the kept axis of which one item takes `block` results */
  int64_t block;                /* at most REDUCE_BLOCK */
  int outer_count, inner_count; /* axes walked by counting; the last inner axis is the line of `along` */
  Axis outer[TENSOR_MAX_DIMS], inner[TENSOR_MAX_DIMS];
  int64_t outer_items, blocks;
};

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

/* `down` over the lines of the last inner axis, a row of n for each of their elements. */
static void reduce_block_down(const Plan *plan, const char *base, int64_t n, void *const *state) {
  enum { ROWS_PER_LOOK = ELEMENTS_PER_LOOK / DOWN_BLOCK };
  int64_t item = (int64_t)dtype_size(plan->in_dtype), position = 0;
  complex128 values[REDUCE_BLOCK];
  const Axis *line = &plan->inner[plan->inner_count - 1];
  int64_t lines = count_of(plan->inner, plan->inner_count - 1);
  for (int64_t l = 0; l < lines; l++) {
    const char *from = base + offset_of(plan->inner, plan->inner_count - 1, l, NULL) * item;
    for (int64_t i = 0; i < line->size; i += ROWS_PER_LOOK) {
      int64_t rows = line->size - i < ROWS_PER_LOOK ? line->size - i : ROWS_PER_LOOK;
      const char *at = from + i * line->in_stride * item;
      if (position % ROWS_PER_LOOK < rows && work_has_to_end(plan->work)) return;
      if (plan->rows) plan->rows->down(state, rows, line->in_stride, n, (const float *)at, position, plan->outputs[1]);
      for (int64_t r = 0; r < rows && !plan->rows; r++) {
        load(plan, at + r * line->in_stride * item, plan->vector.in_stride, n, values);
        plan->op->down(state, values, n, position + r, plan->params);
      }
      position += rows;
    }
  }
}

/* `along` over all lines of one result. */
static void reduce_one_along(const Plan *plan, const char *base, int64_t n_results, void *const *state) {
  assert(n_results == 1);
  (void)n_results;
  int64_t item = (int64_t)dtype_size(plan->in_dtype), position = 0;
  complex128 values[REDUCE_BLOCK];
  const Axis *line = &plan->inner[plan->inner_count - 1];
  int64_t lines = count_of(plan->inner, plan->inner_count - 1);
  for (int64_t l = 0; l < lines; l++) {
    const char *from = base + offset_of(plan->inner, plan->inner_count - 1, l, NULL) * item;
    for (int64_t i = 0; i < line->size; i += REDUCE_BLOCK) {
      int64_t n = line->size - i < REDUCE_BLOCK ? line->size - i : REDUCE_BLOCK;
      const char *at = from + i * line->in_stride * item;
      if (position % ELEMENTS_PER_LOOK < n && work_has_to_end(plan->work)) return;
      if (plan->rows) {
        plan->rows->along(state, 1, 0, n, (const float *)at, position, plan->outputs[1]);
      } else {
        load(plan, at, line->in_stride, n, values);
        plan->op->along(state, values, n, position, plan->params);
      }
      position += n;
    }
  }
}

/* n results at once, each of a short line. */
static void reduce_lines_along(const Plan *plan, const char *base, int64_t n, void *const *state) {
  plan->rows->along(state, n, plan->vector.in_stride, plan->inner[0].size, (const float *)base, 0, plan->outputs[1]);
}

static void reduce_items(void *argument, int64_t begin, int64_t end) {
  const Plan *plan = argument;
  complex128 states[REDUCE_STATES][REDUCE_BLOCK];
  void *const state[REDUCE_STATES] = {states[0], states[1], states[2]};
  complex128 results[2][REDUCE_BLOCK];
  void *const out[2] = {plan->outputs[0] ? results[0] : NULL, plan->outputs[1] ? results[1] : NULL};
  bool nothing = count_of(plan->inner, plan->inner_count) == 0;
  for (int64_t item = begin; item < end; item++) {
    int64_t block = item % plan->blocks * plan->block, out_offset[2] = {0, 0};
    int64_t n = plan->vector.size - block < plan->block ? plan->vector.size - block : plan->block;
    int64_t offset = offset_of(plan->outer, plan->outer_count, item / plan->blocks, out_offset);
    const char *base = plan->in + (offset + block * plan->vector.in_stride) * (int64_t)dtype_size(plan->in_dtype);
    plan->op->start(state, n, plan->params);
    if (!nothing) plan->reduce(plan, base, n, state);
    plan->op->finish(state, n, plan->params, out);
    for (int k = 0; k < 2; k++) {
      if (!plan->outputs[k]) continue;
      DType dtype = (DType)plan->outputs[k]->dtype;
      char *to = plan->out[k] + (out_offset[k] + block * plan->vector.out_stride[k]) * (int64_t)dtype_size(dtype);
      dtype_convert(dtype, to, plan->vector.out_stride[k], class_dtype(plan->op->outputs[k]), results[k], 1, n);
    }
  }
}

/* Neighbouring axes that lie in one run are one, here and in the results. Blocks of a line go on over the ends of the
 * dimensions it stands for (tile/line.h). Returns the new count. */
static int join_axes(Axis *axes, int count) {
  int joined = 0;
  for (int i = 0; i < count; i++) {
    Axis axis = axes[i], *last = joined ? &axes[joined - 1] : NULL;
    if (axis.size == 1 && (last || i + 1 < count)) continue;
    bool in_one = last && last->in_stride == axis.size * axis.in_stride;
    for (int k = 0; k < 2 && in_one; k++) in_one = last->out_stride[k] == axis.size * axis.out_stride[k];
    if (in_one) {
      axis.size *= last->size;
      *last = axis;
    } else {
      axes[joined++] = axis;
    }
  }
  return joined;
}

/* Chooses the order in which memory is read: how the values of a block are reduced, and of which results it is. */
static void plan_blocks(Plan *plan) {
  const Axis *line = &plan->inner[plan->inner_count - 1];
  int64_t least_inner = INT64_MAX;
  int best = -1;
  for (int i = 0; i < plan->inner_count; i++)
    if (plan->inner[i].size > 1 && plan->inner[i].in_stride < least_inner) least_inner = plan->inner[i].in_stride;
  for (int i = 0; i < plan->outer_count; i++)
    if (plan->outer[i].size > 1 && (best < 0 || plan->outer[i].in_stride < plan->outer[best].in_stride)) best = i;
  bool go_down = best >= 0 && plan->outer[best].in_stride < least_inner;
  if (plan->in_dtype == DTYPE_FLOAT32 && (go_down ? plan->outer[best].in_stride : line->in_stride) == 1)
    plan->rows = reduce_rows(plan->op->float32);
  plan->vector = (Axis){.size = 1};
  plan->block = 1;
  plan->reduce = reduce_one_along;
  if (go_down) {
    plan->reduce = reduce_block_down;
    plan->block = DOWN_BLOCK;
  } else if (plan->rows && best >= 0 && plan->inner_count == 1 && line->size <= REDUCE_BLOCK) {
    plan->reduce = reduce_lines_along;
    plan->block = 1 + LEAST_WORK / (line->size + 1);
    if (plan->block > REDUCE_BLOCK) plan->block = REDUCE_BLOCK;
  }
  if (plan->block > 1) {
    plan->vector = plan->outer[best];
    plan->outer[best].size = 1;
  }
}

Status reduce_run(const Work *work, const ReduceOp *op, ReduceParams *params, const Tensor *self,
                  const ReduceDims *dims, Tensor *const outputs[2]) {
  Plan plan = {.work = work,
               .op = op,
               .params = params,
               .in_dtype = (DType)self->dtype,
               .in = tensor_data(self),
               .outputs = outputs};
  plan.convert = tile_load_loop(plan.in_dtype, tile_type_of(class_dtype(op->input)));
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
    } else {
      plan.outer[plan.outer_count++] = axis;
      kept++;
    }
  }
  for (int k = 0; k < 2; k++) plan.out[k] = outputs[k] ? tensor_data(outputs[k]) : NULL;
  if (params->count) plan.inner_count = join_axes(plan.inner, plan.inner_count);
  if (plan.inner_count == 0) plan.inner[plan.inner_count++] = (Axis){.size = 1, .in_stride = 1};
  plan.outer_count = join_axes(plan.outer, plan.outer_count);
  plan_blocks(&plan);
  plan.blocks = (plan.vector.size + plan.block - 1) / plan.block;
  plan.outer_items = count_of(plan.outer, plan.outer_count) * plan.blocks;
  if (plan.outer_items == 0) return OK;
  int64_t cost = (params->count > 0 ? params->count : 1) * plan.block;
  parallel_for(work->threads, plan.outer_items, 1 + LEAST_WORK / cost, reduce_items, &plan);
  return work_poll(work);
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
