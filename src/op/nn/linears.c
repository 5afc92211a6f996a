/* Linear layers of one input as one operation, for plans: its rows are read once for all weights, and the work of all
 * is shared out among threads at once. */
#include "call/call_plan.h"
#include "call/operator.h"
#include "op/nn/fused.h"
#include "op/nn/linear.h"

enum { LAYERS_MAX = CALL_MAX_INPUTS / 2 };
#define WEIGHTS UINT64_C(0xaaaaaaaaaaaaaaaa) /* every second input */

/* ---- by its parts ---- */
static Status run_parts(Call *c) {
  static OpRef linear = OP_REF("aten::linear", "");
  for (uint32_t i = 0; i < c->output_count; i++) {
    IValue result = IVALUE_NONE;
    TRY(op_call(c->exec, &linear, 3, (IValue[]){c->inputs[0], c->inputs[2 * i + 1], c->inputs[2 * i + 2]}, 1, &result));
    call_set(c, i, result);
  }
  return OK;
}

/* ---- at once ---- */
static const Tensor *weight_of(const Call *c, uint32_t layer) {
  return c->inputs[2 * layer + 1].tensor;
}
static const Tensor *bias_of(const Call *c, uint32_t layer) {
  return call_tensor_or_null(c, 2 * layer + 2);
}

static bool is_plain_input(const Tensor *t) {
  return tensor_is_defined(t) && t->dtype == DTYPE_FLOAT32 && !(t->flags & TENSOR_UNUSUAL) && t->ndim >= 2;
}

/* Whether every layer would be multiplied in panels by itself. What is no error here is none for the parts. */
static bool all_by_panels(const Call *c, int64_t width, int64_t count, GemmMatrix x) {
  for (uint32_t i = 0; i < c->output_count; i++) {
    const Tensor *weight = weight_of(c, i);
    if (!tensor_is_defined(weight) || !linear_is_by_panels(c->exec, count, x, weight, bias_of(c, i)) ||
        weight->sizes[1] != width)
      return false;
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

/* ---- the row ---- */
static bool has_layers(const Call *c) {
  return c->output_count && c->output_count < LAYERS_MAX && c->input_count == 2 * c->output_count + 1;
}

/* linears(input, weight, bias, weight, bias, ...): a result for each weight; a bias may be None. */
static Status kernel_linears(Call *c) {
  if (!has_layers(c))
    return status_new(ERROR_INVALID_ARGUMENT, "a tensor and for each result a weight and a bias are needed");
  const Tensor *input = c->inputs[0].tensor;
  if (fused_records(c) || !is_plain_input(input)) return run_parts(c);
  int64_t width = input->sizes[input->ndim - 1];
  GemmMatrix x;
  Tensor *dense;
  TRY(linear_rows(input, &x, &dense));
  int64_t count = width ? input->numel / width : 0;
  Status status = all_by_panels(c, width, count, x) ? run_joined(c, input, count, x) : run_parts(c);
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
