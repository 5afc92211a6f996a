/* Linear layers as anchors of regions (call/region.h). One layer, the sum with a tensor of its results' sizes and an
 * activation: the sum and limits are done in the product's registers, other activations while the results of some rows
 * are in L2. Several layers of one input: its rows are read once for all weights, and the work of all is shared out
 * among threads at once. */
#include "call/region.h"
#include "op/nn/fused.h"
#include "op/nn/linear.h"

enum { INPUT, WEIGHT, BIAS };

typedef struct Layer {
  const Tensor *weight, *bias; /* bias: or NULL */
} Layer;
static Layer layer_of(const RegionCall *r, uint32_t unit) {
  const RegionStep *linear = &r->region->units[unit].steps[REGION_ANCHOR];
  return (Layer){region_argument(r, linear, WEIGHT).tensor, region_tensor_or_null(r, linear, BIAS)};
}
static const Tensor *input_of(const RegionCall *r) {
  return region_argument(r, &r->region->units->steps[REGION_ANCHOR], INPUT).tensor;
}

/* Rows of float32, and layers that take them. */
static Status check_operands(const RegionCall *r, const Tensor *input) {
  if (input->dtype != DTYPE_FLOAT32 || input->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED)) return fused_decline(input);
  if (input->ndim < 1) return reason_decline(REASON_NOT_FUSED_SHAPE);
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    Layer layer = layer_of(r, i);
    if (!fused_is_plain(layer.weight)) return fused_decline(layer.weight);
    if (layer.weight->ndim != 2 || !fused_is_vector(layer.bias, layer.weight->sizes[0]))
      return reason_decline(REASON_NOT_FUSED_WEIGHTS);
    if (layer.weight->sizes[1] != input->sizes[input->ndim - 1]) return reason_decline(REASON_NOT_FUSED_SHAPE);
  }
  return OK;
}

static void result_sizes(const Tensor *input, const Tensor *weight, int64_t *sizes) {
  memcpy(sizes, input->sizes, input->ndim * sizeof *sizes);
  sizes[input->ndim - 1] = weight->sizes[0];
}

/* ---- one layer ---- */

static Status check_term(IValue given, const Tensor *input, const Tensor *weight, const Tensor **out) {
  int64_t sizes[TENSOR_MAX_DIMS];
  *out = NULL;
  if (given.tag != TAG_TENSOR) return OK;
  const Tensor *term = given.tensor;
  if (!fused_is_plain(term)) return fused_decline(term);
  result_sizes(input, weight, sizes);
  if (term->ndim != input->ndim || memcmp(term->sizes, sizes, input->ndim * sizeof *sizes) != 0)
    return reason_decline(REASON_NOT_FUSED_SHAPE);
  *out = term;
  return OK;
}

/* Few rows, or few results of each, are made in one piece. */
static Status run_whole(Exec *exec, int64_t count, GemmMatrix x, Layer layer, const GemmEpilogue *epilogue,
                        Tensor *out) {
  TRY(linear_product(exec, count, x, layer.weight, layer.bias, out));
  gemm_epilogue(epilogue, count, layer.weight->sizes[0], tensor_data(out));
  return OK;
}

static Status run_tiles(Exec *exec, int64_t count, GemmMatrix x, Layer layer, const GemmEpilogue *epilogue,
                        Tensor *out) {
  PackedWeight *packed;
  GemmPanels product;
  TRY(linear_panels(exec, count, x, layer.weight, layer.bias, tensor_data(out), &product, &packed));
  product.epilogue = epilogue;
  Status status = gemm_panels(&exec->work, &product);
  if (packed) packed_weight_give_back(packed);
  return status;
}

static Status run_one(RegionCall *r, const Tensor *input, int64_t count, GemmMatrix x) {
  enum { WHOLE = 1 << 14 }; /* results; more without tiles are shared out operator by operator */
  const RegionUnit *unit = r->region->units;
  Exec *exec = r->call->exec;
  Layer layer = layer_of(r, 0);
  int64_t sizes[TENSOR_MAX_DIMS], columns = layer.weight->sizes[0], width = layer.weight->sizes[1];
  const Tensor *term;
  TRY(check_term(region_term(r, &unit->steps[REGION_SUM]), input, layer.weight, &term));
  bool by_tiles = linear_is_by_panels(exec, count, x, layer.weight, layer.bias);
  bool takes = by_tiles || (count * columns <= WHOLE && width > 0 &&
                            !gemm_is_to_be_attended(&exec->work, DTYPE_FLOAT32, count, columns, width));
  if (!takes) return reason_decline(REASON_NOT_FUSED_SIZE);
  const Activation *a = &unit->activation;
  GemmEpilogue epilogue = {{term ? tensor_data(term) : NULL, columns, a->kind == ACTIVATION_LIMITS, a->low, a->high},
                           a->kind == ACTIVATION_FORMULA ? a->formula : NULL};
  Tensor *out;
  result_sizes(input, layer.weight, sizes);
  TRY(tensor_empty(DTYPE_FLOAT32, input->ndim, sizes, &out));
  Status status = (by_tiles ? run_tiles : run_whole)(exec, count, x, layer, &epilogue, out);
  if (!status)
    call_set_tensor(r->call, 0, out);
  else
    tensor_release(out);
  return status;
}

/* ---- several ---- */

static Status make_outputs(RegionCall *r, const Tensor *input) {
  int64_t sizes[TENSOR_MAX_DIMS];
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    Tensor *out;
    result_sizes(input, layer_of(r, i).weight, sizes);
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

static Status run_joined(RegionCall *r, int64_t count, GemmMatrix x) {
  GemmPanels products[REGION_MAX_UNITS];
  PackedWeight *packed[REGION_MAX_UNITS];
  Exec *exec = r->call->exec;
  Status status = OK;
  uint32_t made = 0;
  for (; made < r->region->unit_count && !status; made++) {
    Layer layer = layer_of(r, made);
    status = linear_panels(exec, count, x, layer.weight, layer.bias, tensor_data(call_out(r->call, made)),
                           &products[made], &packed[made]);
  }
  if (!status) status = gemm_panels_joined(&exec->work, r->region->unit_count, products);
  for (uint32_t i = 0; i < made; i++)
    if (packed[i]) packed_weight_give_back(packed[i]);
  return status;
}

/* Few rows: each layer as aten::linear does it. */
static Status run_apart(RegionCall *r, int64_t count, GemmMatrix x) {
  for (uint32_t i = 0; i < r->region->unit_count; i++) {
    Layer layer = layer_of(r, i);
    TRY(linear_product(r->call->exec, count, x, layer.weight, layer.bias, call_out(r->call, i)));
  }
  return OK;
}

static Status run_several(RegionCall *r, const Tensor *input, int64_t count, GemmMatrix x) {
  if (input->ndim < 2 || !input->sizes[input->ndim - 1]) return reason_decline(REASON_NOT_FUSED_SHAPE);
  TRY(make_outputs(r, input));
  return (all_by_panels(r, count, x) ? run_joined : run_apart)(r, count, x);
}

static Status run(RegionCall *r) {
  const Tensor *input = input_of(r);
  GemmMatrix x;
  Tensor *dense;
  TRY(check_operands(r, input));
  int64_t width = input->sizes[input->ndim - 1], count = width ? input->numel / width : 0;
  TRY(linear_rows(input, &x, &dense));
  Status status = (r->region->unit_count == 1 ? run_one : run_several)(r, input, count, x);
  tensor_release(dense);
  return status;
}

const Anchor linear_anchor = {
    .takes = 1u << REGION_SUM | 1u << REGION_FUNCTION | ANCHOR_JOINS,
    .run = run,
};
