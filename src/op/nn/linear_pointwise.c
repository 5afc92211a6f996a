/* A linear layer, a sum with a tensor of its results' sizes and an activation as one operation, for plans: the sum and
 * limits are done in the product's registers, other activations while the results of some rows are in L2. */
#include "op/nn/linear_pointwise.h"

#include "call/open_inputs.h"
#include "call/pointwise.h"
#include "op/nn/fused.h"
#include "op/nn/linear.h"
#include "tile/formula.h"

enum { INPUT, WEIGHT, BIAS, TERM, TERM_FIRST, ACTIVATION, ARGUMENTS, MAX_ARGUMENTS = 4 /* the activation's further */ };

OpRef *linear_activation(Str name) {
#define X(name) #name, #name "_",
  static const char *const names[] = {LINEAR_ACTIVATIONS(X)};
#undef X
#define X(name) OP_REF("aten::" #name, ""), OP_REF("aten::" #name "_", ""),
  static OpRef activations[] = {LINEAR_ACTIVATIONS(X)};
#undef X
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_is(name, names[i])) return &activations[i];
  return NULL;
}

/* The result's sizes; the layer is to be of plain tensors, and what is added of the result's sizes. */
static Status find_sizes(const Call *c, const Tensor *input, int64_t *sizes) {
  const Tensor *weight = c->inputs[WEIGHT].tensor, *term = call_tensor_or_null(c, TERM);
  if (input->dtype != DTYPE_FLOAT32 || input->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED)) return fused_decline(input);
  if (!fused_is_plain(weight)) return fused_decline(weight);
  if (!fused_is_plain(term)) return fused_decline(term);
  if (weight->ndim != 2 || !fused_is_vector(call_tensor_or_null(c, BIAS), weight->sizes[0]))
    return reason_decline(REASON_NOT_FUSED_WEIGHTS);
  int last = input->ndim - 1;
  if (last < 0 || input->sizes[last] != weight->sizes[1]) return reason_decline(REASON_NOT_FUSED_SHAPE);
  memcpy(sizes, input->sizes, input->ndim * sizeof *sizes);
  sizes[last] = weight->sizes[0];
  if (!term || (term->ndim == input->ndim && !memcmp(term->sizes, sizes, input->ndim * sizeof *sizes))) return OK;
  return reason_decline(REASON_NOT_FUSED_SHAPE);
}

typedef struct Activation {
  bool limits; /* between low and high, which takes no kernel */
  float low, high;
  TileInPlace in_place;
  bool is_in_place;
} Activation;

static bool find_limits(const Call *c, const Operator *op, Activation *a) {
  a->low = (float)op->row->clamp[0];
  a->high = (float)op->row->clamp[1];
  if (a->low < a->high) return c->input_count == ARGUMENTS;
  if (!str_starts_with(call_str(c, ACTIVATION), "hardtanh") || c->input_count != ARGUMENTS + 2) return false;
  a->low = (float)ivalue_to_double(call_scalar(c, ARGUMENTS));
  a->high = (float)ivalue_to_double(call_scalar(c, ARGUMENTS + 1));
  return a->low <= a->high;
}

static Status find_kernel(const Call *c, const Operator *op, const TileKernel **out, TileArgument *arguments) {
  KernelProgram *program;
  arguments[0] = (TileArgument){.kind = TILE_ARG_TENSOR, .tensor = c->inputs[INPUT].tensor};
  for (uint32_t i = ARGUMENTS; i < c->input_count; i++)
    pointwise_set_argument(&arguments[1 + i - ARGUMENTS], c->inputs[i]);
  TRY(operator_program(op, &program));
  return kernel_program_kernel(program, TILE_F32, arguments, out);
}

/* What has to be done for the activation; of arguments that its operator may have something against, it declines. */
static Status begin_activation(const Call *c, OpRef *activation, Activation *a) {
  const Operator *op;
  TileArgument arguments[1 + MAX_ARGUMENTS];
  const TileKernel *kernel;
  a->limits = a->is_in_place = false;
  if (!activation) return OK;
  TRY(op_find(activation, &op));
  bool fits = operator_schema(op)->argument_count == 1 + c->input_count - ARGUMENTS;
  for (uint32_t i = ARGUMENTS; i < c->input_count; i++) {
    IValue argument = c->inputs[i];
    if (argument.tag == TAG_STRING)
      fits &= str_is(ivalue_str(argument), "none") || str_is(ivalue_str(argument), "tanh");
  }
  if (!fits) return reason_decline(REASON_NOT_FUSED_ARGUMENT);
  if ((a->limits = find_limits(c, op, a))) return OK;
  TRY(find_kernel(c, op, &kernel, arguments));
  a->is_in_place = tile_in_place_begin(&a->in_place, kernel, arguments);
  return a->is_in_place ? OK : reason_decline(REASON_NOT_FUSED_ARGUMENT);
}

/* Few rows, or few results of each, are made in one piece. */
static Status run_whole(Call *c, int64_t count, GemmMatrix x, const GemmEpilogue *epilogue, Tensor *out) {
  int64_t columns = c->inputs[WEIGHT].tensor->sizes[0];
  TRY(linear_product(c->exec, count, x, c->inputs[WEIGHT].tensor, call_tensor_or_null(c, BIAS), out));
  gemm_epilogue(epilogue, count, columns, tensor_data(out));
  return OK;
}

static Status run_tiles(Call *c, int64_t count, GemmMatrix x, const GemmEpilogue *epilogue, Tensor *out) {
  PackedWeight *packed;
  GemmPanels product;
  TRY(linear_panels(c->exec, count, x, c->inputs[WEIGHT].tensor, call_tensor_or_null(c, BIAS), tensor_data(out),
                    &product, &packed));
  product.epilogue = epilogue;
  Status status = gemm_panels(&c->exec->work, &product);
  if (packed) packed_weight_give_back(packed);
  return status;
}

static Status run_fused(Call *c, const Tensor *input, const int64_t *sizes, const Activation *a) {
  enum { WHOLE = 1 << 14 }; /* results; more without tiles are shared out operator by operator */
  const Tensor *weight = c->inputs[WEIGHT].tensor, *term = call_tensor_or_null(c, TERM);
  int64_t columns = weight->sizes[0], width = weight->sizes[1], count = width ? input->numel / width : 0;
  GemmMatrix x;
  Tensor *dense, *out = NULL;
  TRY(linear_rows(input, &x, &dense));
  bool by_tiles = linear_is_by_panels(c->exec, count, x, weight, call_tensor_or_null(c, BIAS));
  Status status = OK;
  bool takes = by_tiles || (count * columns <= WHOLE && width > 0 &&
                            !gemm_is_to_be_attended(&c->exec->work, DTYPE_FLOAT32, count, columns, width));
  if (!takes) {
    status = reason_decline(REASON_NOT_FUSED_SIZE);
  } else {
    GemmEpilogue epilogue = {{term ? tensor_data(term) : NULL, columns, a->limits, a->low, a->high},
                             a->is_in_place ? &a->in_place : NULL};
    TRY_GOTO(tensor_empty(DTYPE_FLOAT32, input->ndim, sizes, &out), done);
    status = (by_tiles ? run_tiles : run_whole)(c, count, x, &epilogue, out);
  }
done:
  tensor_release(dense);
  if (out && !status)
    call_set_tensor(c, 0, out);
  else
    tensor_release(out);
  return status;
}

/* ---- the row ---- */
static bool is_tensor(const Call *c, uint32_t i) {
  return c->inputs[i].tag == TAG_TENSOR && tensor_is_defined(c->inputs[i].tensor);
}

static Status check_activation(const Call *c, OpRef *activation) {
  const Operator *op = NULL;
  if (activation) TRY(op_find(activation, &op));
  const FunctionSchema *schema = op ? operator_schema(op) : NULL;
  uint32_t count = c->input_count - ARGUMENTS;
  bool takes = schema && count <= MAX_ARGUMENTS && count < schema->argument_count;
  for (uint32_t i = 0; i < count && takes; i++)
    takes = argument_takes_value(&schema->arguments[1 + i], c->inputs[ARGUMENTS + i]);
  if (takes) return OK;
  return status_new(ERROR_INVALID_ARGUMENT, "linear layers have no activation '" STR_FMT "' of these arguments",
                    STR_ARG(call_str(c, ACTIVATION)));
}

static Status kernel_linear_pointwise(Call *c) {
  OpRef *activation = NULL;
  if (!call_is_none(c, ACTIVATION)) {
    activation = linear_activation(call_str(c, ACTIVATION));
    TRY(check_activation(c, activation));
  }
  int64_t sizes[TENSOR_MAX_DIMS];
  const Tensor *input = c->inputs[INPUT].tensor;
  if (fused_records(c)) return reason_decline(REASON_NOT_FUSED_GRADIENT);
  TRY(find_sizes(c, input, sizes));
  Activation a;
  TRY(begin_activation(c, activation, &a));
  return run_fused(c, input, sizes, &a);
}

static double flops_linear_pointwise(const Call *c) {
  return is_tensor(c, INPUT) && is_tensor(c, WEIGHT) && c->inputs[WEIGHT].tensor->ndim == 2
             ? 2 * (double)c->inputs[INPUT].tensor->numel * (double)c->inputs[WEIGHT].tensor->sizes[0]
             : 0;
}

static const OpRow rows[] = {
    {.schema = "wick::linear_pointwise(Tensor input, Tensor weight, Tensor? bias, Tensor? term, bool term_first, str? "
               "activation, ...) -> Tensor",
     .extras = &(const RowExtras){.open = "Any...", .restores = 1 << WEIGHT},
     .kernel = kernel_linear_pointwise,
     .flops = flops_linear_pointwise,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_OF_PLANS},
};
OP_TABLE(op_table_linear_pointwise, rows);
