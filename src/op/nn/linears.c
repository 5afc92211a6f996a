/* Linear layers of one input as one operation, for plans: its rows are read once for all weights, and the work of all
 * is shared out among threads at once. */
#include "call/call_plan.h"
#include "call/operator.h"
#include "op/nn/fused.h"
#include "op/nn/linear.h"

enum { LAYERS_MAX = CALL_MAX_INPUTS / 2 };
#define WEIGHTS UINT64_C(0xaaaaaaaaaaaaaaaa) /* every second input */

/* ---- at once ---- */
static const Tensor *weight_of(const Call *c, uint32_t layer) {
  return c->inputs[2 * layer + 1].tensor;
}
static const Tensor *bias_of(const Call *c, uint32_t layer) {
  return call_tensor_or_null(c, 2 * layer + 2);
}

/* Rows of float32, and layers that take them. */
static Status check_operands(const Call *c, const Tensor *input) {
  if (fused_records(c)) return reason_decline(REASON_NOT_FUSED_GRADIENT);
  if (!tensor_is_defined(input) || input->dtype != DTYPE_FLOAT32 || input->flags & TENSOR_UNUSUAL)
    return fused_decline(input);
  if (input->ndim < 2 || !input->sizes[input->ndim - 1]) return reason_decline(REASON_NOT_FUSED_SHAPE);
  for (uint32_t i = 0; i < c->output_count; i++) {
    const Tensor *weight = weight_of(c, i);
    if (!fused_is_plain(weight)) return fused_decline(weight);
    if (weight->ndim != 2 || !fused_is_vector(bias_of(c, i), weight->sizes[0]))
      return reason_decline(REASON_NOT_FUSED_WEIGHTS);
    if (weight->sizes[1] != input->sizes[input->ndim - 1]) return reason_decline(REASON_NOT_FUSED_SHAPE);
  }
  return OK;
}

/* Whether every layer would be multiplied in panels by itself. */
static bool all_by_panels(const Call *c, int64_t count, GemmMatrix x) {
  for (uint32_t i = 0; i < c->output_count; i++) {
    if (!linear_is_by_panels(c->exec, count, x, weight_of(c, i), bias_of(c, i))) return false;
  }
  return true;
}

static Status make_outputs(Call *c, const Tensor *input) {
  int64_t sizes[TENSOR_MAX_DIMS];
  memcpy(sizes, input->sizes, input->ndim * sizeof *sizes);
  for (uint32_t i = 0; i < c->output_count; i++) {
    Tensor *out;
    sizes[input->ndim - 1] = weight_of(c, i)->sizes[0];
    TRY(tensor_empty(DTYPE_FLOAT32, input->ndim, sizes, &out));
    call_set_tensor(c, i, out);
  }
  return OK;
}

static Status run_joined(Call *c, const Tensor *input, int64_t count, GemmMatrix x) {
  GemmPanels products[LAYERS_MAX];
  PackedWeight *packed[LAYERS_MAX];
  TRY(make_outputs(c, input));
  Status status = OK;
  uint32_t made = 0;
  for (; made < c->output_count && !status; made++)
    status = linear_panels(c->exec, count, x, weight_of(c, made), bias_of(c, made), tensor_data(call_out(c, made)),
                           &products[made], &packed[made]);
  if (!status) status = gemm_panels_joined(&c->exec->work, c->output_count, products);
  for (uint32_t i = 0; i < made; i++)
    if (packed[i]) packed_weight_give_back(packed[i]);
  return status;
}

/* Few rows: each layer as aten::linear does it. */
static Status run_apart(Call *c, const Tensor *input, int64_t count, GemmMatrix x) {
  TRY(make_outputs(c, input));
  for (uint32_t i = 0; i < c->output_count; i++)
    TRY(linear_product(c->exec, count, x, weight_of(c, i), bias_of(c, i), call_out(c, i)));
  return OK;
}

/* ---- the row ---- */
static bool has_layers(const Call *c) {
  return c->output_count && c->output_count < LAYERS_MAX && c->input_count == 2 * c->output_count + 1;
}

/* linears(input, weight, bias, weight, bias, ...): a result for each weight; a bias may be None. */
static Status kernel_linears(Call *c) {
  if (!has_layers(c))
    return status_new(ERROR_INVALID_ARGUMENT, "a tensor and for each result a weight and a bias are needed");
  const Tensor *input = c->inputs[0].tensor;
  TRY(check_operands(c, input));
  GemmMatrix x;
  Tensor *dense;
  TRY(linear_rows(input, &x, &dense));
  int64_t count = input->numel / input->sizes[input->ndim - 1];
  Status status = (all_by_panels(c, count, x) ? run_joined : run_apart)(c, input, count, x);
  tensor_release(dense);
  return status;
}

static double flops_linears(const Call *c) {
  double flops = 0;
  for (uint32_t i = 0; i < c->output_count; i++)
    if (weight_of(c, i)->ndim == 2) flops += 2 * (double)c->inputs[0].tensor->numel * (double)weight_of(c, i)->sizes[0];
  return flops;
}

static const OpRow rows[] = {
    {.schema = "wick::linears(...) -> ...",
     .extras = &(const RowExtras){.open = "Tensor {Tensor Tensor?}... -> Tensor...", .restores = WEIGHTS},
     .kernel = kernel_linears,
     .flops = flops_linears,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_OF_PLANS},
};
OP_TABLE(op_table_linears, rows);
