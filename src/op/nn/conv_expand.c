/* Two convolutions with what belongs to them (conv_norm.c), an expansion and the depthwise one of its result, as one
 * operation, for plans. */
#include "call/call_plan.h"
#include "op/nn/conv_norm.h"
#include "op/nn/fused.h"

enum { INPUT, EXPAND_WEIGHT, DEPTHWISE_WEIGHT = CONV_NORM_INPUTS, ALL_INPUTS = 2 * CONV_NORM_INPUTS - 1 };

static OpRef conv_norm = OP_REF("wick::convolution_norm", "");

/* The arguments of the second call, on what the first gives. */
static const IValue *second_inputs(const Call *call, IValue between, IValue *inputs) {
  inputs[0] = between;
  memcpy(inputs + 1, call->inputs + CONV_NORM_INPUTS, (CONV_NORM_INPUTS - 1) * sizeof *inputs);
  return inputs;
}

/* What looks like the result between the two and has no data. Not to be retained. */
static Status set_look(const ConvParams *p, Tensor *out) {
  *out = (Tensor){.dtype = DTYPE_FLOAT32, .ndim = (uint8_t)(p->spatial + 2), .contiguous = 1, .row_major = 1};
  out->sizes = out->dims;
  out->strides = out->dims + out->ndim;
  conv_result_sizes(p, out->sizes);
  strides_contiguous(out->ndim, out->sizes, out->strides);
  return sizes_numel(out->ndim, out->sizes, &out->numel);
}

typedef struct Pair {
  ConvNorm first, second;
  Call first_call, second_call;
  IValue second_inputs[CONV_NORM_INPUTS];
  Tensor between;
} Pair;

static Status read_pair(const Call *call, Pair *pair) {
  if (fused_records(call)) return reason_decline(REASON_NOT_FUSED_GRADIENT);
  pair->first_call = *call;
  TRY(op_find(&conv_norm, &pair->first_call.op));
  pair->first_call.input_count = CONV_NORM_INPUTS;
  TRY(conv_norm_read(&pair->first_call, &pair->first));
  TRY(set_look(&pair->first.params, &pair->between));
  pair->second_call = pair->first_call;
  pair->second_call.inputs = second_inputs(call, ivalue_tensor(&pair->between), pair->second_inputs);
  return conv_norm_read(&pair->second_call, &pair->second);
}

static Status run_at_once(Call *call, const Expansion *both) {
  int64_t sizes[CONV_SPATIAL + 2];
  Tensor *out;
  TRY(tensor_empty(DTYPE_FLOAT32, both->depthwise->spatial + 2, conv_result_sizes(both->depthwise, sizes), &out));
  Status status =
      out->numel ? conv_forward_expansion(&call->exec->work, both, call_tensor(call, INPUT),
                                          call_tensor(call, EXPAND_WEIGHT), call_tensor(call, DEPTHWISE_WEIGHT), out)
                 : OK;
  if (!status)
    call_set_tensor(call, 0, out);
  else
    tensor_release(out);
  return status;
}

static Status kernel_expand(Call *call) {
  Pair pair;
  TRY(read_pair(call, &pair));
  Expansion both = {&pair.first.params, &pair.second.params, &pair.first.epilogue, &pair.second.epilogue};
  if (!conv_takes_expansion(&both)) return reason_decline(REASON_NOT_FUSED_SIZE);
  Status status = conv_norm_begin(&pair.first_call, &pair.first);
  if (!status) status = conv_norm_begin(&pair.second_call, &pair.second);
  if (!status) status = run_at_once(call, &both);
  conv_norm_end(&pair.first);
  conv_norm_end(&pair.second);
  return status;
}

static double flops(const Call *call) {
  Pair pair;
  Status status = read_pair(call, &pair);
  status_free(status);
  return status ? 0 : conv_flops(&pair.first_call) + conv_flops(&pair.second_call);
}

static const OpRow rows[] = {
    {.schema = "wick::expand_convolution(Tensor input, " CONV_NORM_PARAMETERS("") ", " CONV_NORM_PARAMETERS(
         "_2") ") -> Tensor",
     .kernel = kernel_expand,
     .flops = flops,
     .extras = &(const RowExtras){.restores = UINT64_C(1) << EXPAND_WEIGHT | UINT64_C(1) << DEPTHWISE_WEIGHT},
     .flags = OP_COMPOSITE | OP_OF_PLANS},
};
_Static_assert((int)ALL_INPUTS <= (int)CALL_MAX_INPUTS, "a call has room for them");
OP_TABLE(op_table_conv_expand, rows);
