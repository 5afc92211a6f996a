/* Products of matrices, linear layers among them, as anchors of regions (call/region.h). One product: normalization by
 * stored statistics, sums and functions of its results follow it, each done where the results still are: in registers,
 * in cache, or by the thread that made them. Several layers of one input: its rows are read once for all weights, and
 * the work of all is shared out among threads at once. */
#include "call/region.h"
#include "call/row.h"
#include "op/nn/fused.h"
#include "op/nn/linear.h"
#include "op/nn/norm.h"
#include "tensor/layout.h"

/* ---- what follows a product ---- */

typedef struct Ending {
  GemmEpilogue epilogue;
  float *numbers; /* of the normalization, owned; NULL: none */
} Ending;
static void ending_begin(Ending *e) {
  e->numbers = NULL;
  e->epilogue.in_registers = (GemmEnd){0};
  e->epilogue.count = e->epilogue.register_count = 0;
}
static void ending_dispose(Ending *e) {
  mem_free(e->numbers);
}

/* Scale and shift of the columns of a matrix. */
static Status add_norm(const RegionCall *r, const RegionStep *norm, int ndim, const int64_t *sizes, Ending *e) {
  if (!norm->op) return OK;
  if (ndim != 2) return reason_decline(REASON_NOT_FUSED_SHAPE);
  int64_t columns = sizes[1];
  StoredNorm stored;
  TRY(stored_norm_read(r, norm, columns, &stored));
  e->numbers = mem_alloc((size_t)columns * 2 * sizeof *e->numbers + 1);
  if (!e->numbers) return status_out_of_memory();
  norm_fold_stored(&stored, columns, e->numbers, e->numbers + columns);
  gemm_epilogue_add(&e->epilogue, &(GemmStep){.kind = GEMM_AFFINE, .scale = e->numbers, .shift = e->numbers + columns});
  return OK;
}

/* Where the term's rows lie, in as few dimensions as possible; false: in too many. */
static bool read_rows(int ndim, const int64_t *sizes, const int64_t *strides, GemmTerm *out) {
  int count = 0;
  int64_t row_sizes[TENSOR_MAX_DIMS], row_strides[TENSOR_MAX_DIMS]; /* the last first */
  for (int d = ndim - 2; d >= 0; d--) {
    if (sizes[d] == 1) continue;
    if (count && strides[d] == row_strides[count - 1] * row_sizes[count - 1]) {
      row_sizes[count - 1] *= sizes[d];
      continue;
    }
    row_sizes[count] = sizes[d];
    row_strides[count++] = strides[d];
  }
  if (!count) row_sizes[0] = 1, row_strides[0] = 0, count = 1;
  if (count > GEMM_TERM_DIMS) return false;
  for (int d = 0; d < count; d++) {
    out->sizes[d] = row_sizes[count - 1 - d];
    out->strides[d] = row_strides[count - 1 - d];
  }
  out->ndim = count;
  return true;
}

static Status add_term(const RegionCall *r, const RegionStep *sum, int ndim, const int64_t *sizes, Ending *e) {
  IValue given = region_term(r, sum);
  int64_t strides[TENSOR_MAX_DIMS];
  if (given.tag != TAG_TENSOR) return OK;
  const Tensor *term = given.tensor;
  if (term->dtype != DTYPE_FLOAT32 || term->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED)) return fused_decline(term);
  if (!fused_broadcast(term, ndim, sizes, strides)) return reason_decline(REASON_NOT_FUSED_SHAPE);
  if (!layout_stays_row_major(ndim, sizes, term)) return reason_decline(REASON_NOT_FUSED_LAYOUT);
  GemmStep step = {.kind = GEMM_TERM, .term = {.data = tensor_data(term), .step = strides[ndim - 1]}};
  if (step.term.step > 1 || !read_rows(ndim, sizes, strides, &step.term))
    return reason_decline(REASON_NOT_FUSED_LAYOUT);
  gemm_epilogue_add(&e->epilogue, &step);
  return OK;
}

static void add_function(const Activation *function, Ending *e) {
  if (function->kind != ACTIVATION_NONE)
    gemm_epilogue_add(&e->epilogue, &(GemmStep){.kind = GEMM_ACTIVATION, .activation = function});
}

/* All of it, for results of those sizes. To be disposed of also if it fails. */
static Status read_ending(const RegionCall *r, const RegionUnit *unit, int ndim, const int64_t *sizes, Ending *e) {
  ending_begin(e);
  TRY(add_norm(r, &unit->steps[REGION_NORM], ndim, sizes, e));
  add_function(&unit->first_activation, e);
  TRY(add_term(r, &unit->steps[REGION_FIRST_SUM], ndim, sizes, e));
  TRY(add_term(r, &unit->steps[REGION_SUM], ndim, sizes, e));
  add_function(&unit->activation, e);
  return OK;
}

/* ---- one product ---- */

/* All of it is of float32 on the host. */
static Status check_operands(const Call *step) {
  for (uint32_t i = 0; i < step->input_count; i++) {
    const Tensor *t = step->inputs[i].tag == TAG_TENSOR ? step->inputs[i].tensor : NULL;
    if (step->inputs[i].tag == TAG_COMPLEX) return reason_decline(REASON_NOT_FUSED_ARGUMENT);
    if (t && (t->dtype != DTYPE_FLOAT32 || t->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED))) return fused_decline(t);
  }
  return OK;
}
/* Rows of results are rows of the left operand. */
static Status check_right(const Call *product) {
  const Tensor *right = product->inputs[((const Product *)product->op->row->with)->right].tensor;
  return right->ndim < 2 ? reason_decline(REASON_NOT_FUSED_RANK) : OK;
}

/* What the operator says of its results; a complaint is left to the operator. */
static Status read_sizes(Call *step, TensorSpec *out) {
  Status status = step->op->row->shape(step, out);
  if (!status) return OK;
  status_free(status);
  return reason_decline(REASON_NOT_FUSED_SHAPE);
}

static Status run_product(RegionCall *r) {
  const RegionUnit *unit = r->region->units;
  Call step = region_step_call(r, &unit->steps[REGION_ANCHOR]);
  IValue result;
  TensorSpec spec;
  Ending ending;
  step.outputs = &result;
  TRY(check_operands(&step));
  TRY(check_right(&step));
  TRY(read_sizes(&step, &spec));
  Status status = read_ending(r, unit, spec.ndim, spec.sizes, &ending);
  if (!status) {
    result = IVALUE_NONE;
    status = tensor_empty(DTYPE_FLOAT32, spec.ndim, spec.sizes, &result.tensor);
    result.tag = status ? TAG_NONE : TAG_TENSOR;
  }
  if (!status) {
    status = ((const Product *)step.op->row->with)->run(&step, &ending.epilogue);
    if (status)
      ivalue_release(result);
    else
      call_set(r->call, 0, result);
  }
  ending_dispose(&ending);
  return status;
}

/* In memory of their own, which goes with the call. */
static Status normalize_rows(const RegionCall *r, const RegionStep *norm, IValue *out) {
  Call step = region_step_call(r, norm);
  TensorSpec spec;
  Tensor *rows;
  TRY(check_operands(&step));
  TRY(read_sizes(&step, &spec));
  TRY(tensor_empty(DTYPE_FLOAT32, spec.ndim, spec.sizes, &rows));
  *out = ivalue_tensor(rows);
  step.outputs = out;
  return step.op->row->kernel(&step);
}

static Status run_one(RegionCall *r) {
  const RegionStep *steps = r->region->units->steps, *norm = &steps[REGION_LAYER_NORM], *anchor = &steps[REGION_ANCHOR];
  IValue rows = IVALUE_NONE;
  Status status = norm->op ? normalize_rows(r, norm, &rows) : OK;
  if (norm->op) r->arguments[anchor->first + anchor->through] = rows;
  if (!status) status = run_product(r);
  ivalue_release(rows);
  return status;
}

/* ---- several layers ---- */

enum { INPUT, WEIGHT, BIAS };

typedef struct Layer {
  const Tensor *weight, *bias; /* bias: or NULL */
} Layer;
static Layer layer_of(const RegionCall *r, uint32_t unit) {
  const RegionStep *linear = &r->region->units[unit].steps[REGION_ANCHOR];
  return (Layer){region_argument(r, linear, WEIGHT).tensor, region_tensor_or_null(r, linear, BIAS)};
}

/* Rows of float32, and layers that take them. */
static Status check_layers(const RegionCall *r, const Tensor *input) {
  if (input->dtype != DTYPE_FLOAT32 || input->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED)) return fused_decline(input);
  if (input->ndim < 2 || !input->sizes[input->ndim - 1]) return reason_decline(REASON_NOT_FUSED_SHAPE);
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    Layer layer = layer_of(r, i);
    if (!fused_is_plain(layer.weight)) return fused_decline(layer.weight);
    if (layer.weight->ndim != 2 || !fused_is_vector(layer.bias, layer.weight->sizes[0]))
      return reason_decline(REASON_NOT_FUSED_WEIGHTS);
    if (layer.weight->sizes[1] != input->sizes[input->ndim - 1]) return reason_decline(REASON_NOT_FUSED_SHAPE);
  }
  return OK;
}

/* Outputs, and what follows each layer. */
static Status begin_layers(RegionCall *r, const Tensor *input, Ending *endings) {
  int64_t sizes[TENSOR_MAX_DIMS];
  memcpy(sizes, input->sizes, input->ndim * sizeof *sizes);
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    sizes[input->ndim - 1] = layer_of(r, i).weight->sizes[0];
    TRY(read_ending(r, &r->region->units[i], input->ndim, sizes, &endings[i]));
  }
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    Tensor *out;
    sizes[input->ndim - 1] = layer_of(r, i).weight->sizes[0];
    TRY(tensor_empty(DTYPE_FLOAT32, input->ndim, sizes, &out));
    call_set_tensor(r->call, i, out);
  }
  return OK;
}

/* Whether every layer would be multiplied in panels by itself. */
static bool all_by_panels(const RegionCall *r, int64_t count, GemmMatrix x) {
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    Layer layer = layer_of(r, i);
    if (!linear_is_by_panels(r->call->exec, count, x, layer.weight, layer.bias)) return false;
  }
  return true;
}

static Status run_joined(RegionCall *r, int64_t count, GemmMatrix x, const Ending *endings) {
  GemmPanels products[REGION_MAX_UNITS];
  PackedWeight *packed[REGION_MAX_UNITS];
  Exec *exec = r->call->exec;
  Status status;
  uint32_t made = 0;
  do {
    Layer layer = layer_of(r, made);
    status = linear_panels(exec, count, x, layer.weight, layer.bias, tensor_data(call_out(r->call, made)),
                           &endings[made].epilogue, &products[made], &packed[made]);
  } while (++made < r->region->unit_count && !status);
  if (!status) status = gemm_panels_joined(&exec->work, r->region->unit_count, products);
  for (uint32_t i = 0; i < made; i++)
    if (packed[i]) packed_weight_give_back(packed[i]);
  return status;
}

/* Few rows: each layer as aten::linear does it. */
static Status run_apart(RegionCall *r, int64_t count, GemmMatrix x, const Ending *endings) {
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    Layer layer = layer_of(r, i);
    TRY(linear_product(r->call->exec, count, x, layer.weight, layer.bias, call_out(r->call, i), &endings[i].epilogue));
  }
  return OK;
}

static Status run_several(RegionCall *r) {
  const Tensor *input = region_argument(r, &r->region->units->steps[REGION_ANCHOR], INPUT).tensor;
  Ending endings[REGION_MAX_UNITS];
  GemmMatrix x;
  Tensor *dense = NULL;
  Status status;
  TRY(check_layers(r, input));
  int64_t count = input->numel / input->sizes[input->ndim - 1];
  for (uint32_t i = 0; i < r->region->unit_count; i++) ending_begin(&endings[i]);
  TRY_GOTO(begin_layers(r, input, endings), done);
  TRY_GOTO(linear_rows(input, &x, &dense), done);
  status = (all_by_panels(r, count, x) ? run_joined : run_apart)(r, count, x, endings);
done:
  tensor_release(dense);
  for (uint32_t i = 0; i < r->region->unit_count; i++) ending_dispose(&endings[i]);
  return status;
}

static Status run_linear(RegionCall *r) {
  return (r->region->unit_count == 1 ? run_one : run_several)(r);
}

enum {
  FOLLOWS = 1u << REGION_NORM | 1u << REGION_FIRST_FUNCTION | 1u << REGION_FIRST_SUM | 1u << REGION_SUM |
            1u << REGION_FUNCTION,
};
const Anchor linear_anchor = {.takes = 1u << REGION_LAYER_NORM | FOLLOWS | ANCHOR_JOINS, .run = run_linear};
const Anchor product_anchor = {.takes = FOLLOWS | ANCHOR_FLOAT32, .run = run_one};
