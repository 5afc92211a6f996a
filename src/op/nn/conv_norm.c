/* A convolution with the gate before it, the normalization by stored statistics behind it, a sum and an activation as
 * one operation, for plans. */
#include <math.h>

#include "op/nn/conv_norm.h"
#include "op/nn/fused.h"

enum {
  INPUT,
  WEIGHT,
  BIAS,
  STRIDE,
  PADDING,
  DILATION,
  GROUPS,
  GAMMA,
  BETA,
  MEAN,
  VAR,
  EPS,
  ADD,
  ADD_FIRST,
  ACTIVATION,
  LOW,
  HIGH,
  DIMS, /* 1, 2 or 3: which convolution the program called */
  GATE, /* factors of the input */
  GATE_FIRST,
  BESIDE, /* the overload's: */
  PLACE,
  ROOM
};

/* CONV_ACTIVATION_COUNT: there is no such one. */
static ConvActivation activation_of(const Call *call) {
  if (call_is_none(call, ACTIVATION)) return CONV_NONE;
  Str name = call_str(call, ACTIVATION);
  if (str_ends_with(name, "_")) name.length--;
  ConvActivation activation = conv_activation_find(name);
  return activation || !name.length ? activation : CONV_ACTIVATION_COUNT;
}

static Status run_gate(Call *call, IValue x, IValue *out) {
  static OpRef mul = OP_REF("aten::mul", "Tensor");
  IValue gate = call->inputs[GATE]; /* the order decides about the layout of the product */
  return op_call(call->exec, &mul, 2, call_bool(call, GATE_FIRST) ? (IValue[]){gate, x} : (IValue[]){x, gate}, 1, out);
}
static Status run_norm(Call *call, IValue x, IValue *out) {
  static OpRef norm = OP_REF("aten::batch_norm", "");
  const IValue *in = call->inputs;
  return op_call(call->exec, &norm, 9,
                 (IValue[]){x, in[GAMMA], in[BETA], in[MEAN], in[VAR], ivalue_bool(false), ivalue_float(0), in[EPS],
                            ivalue_bool(true)},
                 1, out);
}
static Status run_add(Call *call, IValue x, IValue *out) {
  static OpRef add = OP_REF("aten::add", "Tensor");
  IValue term = call->inputs[ADD], one = ivalue_int(1); /* the order decides about the layout of the sum */
  return op_call(call->exec, &add, 3, call_bool(call, ADD_FIRST) ? (IValue[]){term, x, one} : (IValue[]){x, term, one},
                 1, out);
}
static Status run_gelu(Call *call, OpRef *gelu, IValue x, IValue *out) {
  String *none;
  TRY(string_new(STR("none"), &none));
  IValue approximate = ivalue_string(none);
  Status status = op_call(call->exec, gelu, 2, (IValue[]){x, approximate}, 1, out);
  ivalue_release(approximate);
  return status;
}
/* In place, what it gives keeps the strides and the dtype of what it is given. */
static Status run_activation(Call *call, IValue x, IValue *out) {
  static OpRef relu[] = {OP_REF("aten::relu", ""), OP_REF("aten::relu_", "")};
#define X(name, text) {OP_REF("aten::" text, ""), OP_REF("aten::" text "_", "")},
  static OpRef all[][2] = {CONV_ACTIVATIONS(X)};
#undef X
  const IValue *in = call->inputs;
  ConvActivation activation = activation_of(call);
  if (activation == CONV_ACTIVATION_COUNT)
    return status_new(ERROR_RUNTIME, "there is no activation '" STR_FMT "'", STR_ARG(call_str(call, ACTIVATION)));
  bool in_place = str_ends_with(call_str(call, ACTIVATION), "_");
  OpRef *op = &all[activation][in_place];
  if (activation == CONV_GELU) return run_gelu(call, op, x, out);
  if (activation != CONV_CLAMP) return op_call(call->exec, op, 1, &x, 1, out);
  bool is_relu = call_double(call, LOW) == 0 && isinf(call_double(call, HIGH));
  return is_relu ? op_call(call->exec, &relu[in_place], 1, &x, 1, out)
                 : op_call(call->exec, op, 3, (IValue[]){x, in[LOW], in[HIGH]}, 1, out);
}

static Status run_convolution(Call *call, IValue x, IValue *out) {
  static OpRef convolutions[] = {OP_REF("aten::conv1d", ""), OP_REF("aten::conv2d", ""), OP_REF("aten::conv3d", "")};
  const IValue *in = call->inputs;
  int64_t dims = call_int(call, DIMS);
  if (dims < 1 || dims > 3)
    return status_new(ERROR_INVALID_ARGUMENT, "no convolution has %lld dimensions", (long long)dims);
  return op_call(call->exec, &convolutions[dims - 1], 7,
                 (IValue[]){x, in[WEIGHT], in[BIAS], in[STRIDE], in[PADDING], in[DILATION], in[GROUPS]}, 1, out);
}

static Status run_parts(Call *call) {
  typedef Status Part(Call * call, IValue x, IValue * out);
  static const struct {
    uint32_t argument; /* None: without this part */
    Part *run;
  } parts[] = {
      {GATE, run_gate}, {WEIGHT, run_convolution}, {MEAN, run_norm}, {ADD, run_add}, {ACTIVATION, run_activation}};
  IValue result = call->inputs[INPUT], next;
  ivalue_retain(result);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (call_is_none(call, parts[i].argument)) continue;
    Status status = parts[i].run(call, result, &next);
    ivalue_release(result);
    TRY(status);
    result = next;
  }
  call_set(call, 0, result);
  return OK;
}

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
static void fold(const Call *call, int64_t channels, float *scale, float *shift) {
  const Tensor *bias = call_tensor_or_null(call, BIAS), *gamma = call_tensor_or_null(call, GAMMA),
               *beta = call_tensor_or_null(call, BETA);
  const float *mean = tensor_data(call_tensor(call, MEAN)), *var = tensor_data(call_tensor(call, VAR));
  const float *b = bias ? tensor_data(bias) : NULL, *g = gamma ? tensor_data(gamma) : NULL,
              *t = beta ? tensor_data(beta) : NULL;
  float eps = (float)call_double(call, EPS);
  if (g && t && !b) /* what is not there is known to the compiler then */
    fold_channels(channels, mean, var, g, t, NULL, eps, scale, shift);
  else
    fold_channels(channels, mean, var, g, t, b, eps, scale, shift);
}

/* Where a plan joins the result with others along the channels, and one sample makes that a run of memory: the first's
 * storage has room for `room` channels, and number `place` lies behind the one beside it. That so many tensors and no
 * more hold the storage says that the place is free. */
static Status result_new(const Call *call, int ndim, const int64_t *sizes, Tensor **out) {
  if (call->input_count <= BESIDE || sizes[0] != 1) return tensor_empty(DTYPE_FLOAT32, ndim, sizes, out);
  const Tensor *beside = call_tensor_or_null(call, BESIDE);
  int64_t all[5], place = call_int(call, PLACE), numel;
  memcpy(all, sizes, (size_t)ndim * sizeof *all);
  if (!beside) {
    if (call_int(call, ROOM) > sizes[1]) all[1] = call_int(call, ROOM);
    TRY(tensor_empty(DTYPE_FLOAT32, ndim, all, out));
    return tensor_set_sizes(*out, ndim, sizes, NULL); /* no more dimensions than it had: nothing that can fail */
  }
  TRY(sizes_numel(ndim, sizes, &numel));
  bool is_free =
      fused_is_plain(beside) && beside->storage && place > 0 && atomic_load(&beside->storage->refs.count) == place;
  int64_t end = beside->offset + beside->numel;
  bool fits = is_free && end > 0 && numel <= (int64_t)(beside->storage->bytes / sizeof(float)) - end;
  if (!fits) return tensor_empty(DTYPE_FLOAT32, ndim, sizes, out);
  return tensor_from_storage(beside->storage, DTYPE_FLOAT32, ndim, sizes, NULL, end, out);
}

static Status run_fused(Call *call, const ConvNorm *n) {
  const ConvParams *p = &n->params;
  const Tensor *input = call_tensor(call, INPUT), *weight = call_tensor(call, WEIGHT);
  int64_t sizes[CONV_SPATIAL + 2];
  Tensor *out;
  TRY(result_new(call, input->ndim, conv_result_sizes(p, sizes), &out));
  Status status = out->numel ? conv_forward(&call->exec->work, p, input, weight, &n->epilogue, out) : OK;
  if (!status)
    call_set_tensor(call, 0, out);
  else
    tensor_release(out);
  return status;
}

/* The tensor to add, if any, is of the results' sizes, and the activation one of the table. */
static bool has_plain_end(const Call *call, const ConvParams *p) {
  const Tensor *add = call_tensor_or_null(call, ADD);
  if (activation_of(call) == CONV_ACTIVATION_COUNT) return false;
  if (!add) return call_is_none(call, ADD);
  if (!fused_is_plain(add) || add->ndim != p->spatial + 2 || add->sizes[0] != p->batch ||
      add->sizes[1] != p->out_channels)
    return false;
  for (int d = 0; d < p->spatial; d++)
    if (add->sizes[2 + d] != p->out[CONV_SPATIAL - p->spatial + d]) return false;
  return true;
}

/* The gate, if any, has a number for each plane of the input, and their product is row-major. */
static bool has_plain_gate(const Call *call, const Tensor *input) {
  const Tensor *gate = call_tensor_or_null(call, GATE);
  if (!gate) return call_is_none(call, GATE);
  if (!fused_is_plain(gate) || gate->ndim != input->ndim || !gate->row_major || !input->row_major) return false;
  for (int d = 0; d < gate->ndim; d++)
    if (gate->sizes[d] != (d < 2 ? input->sizes[d] : 1)) return false;
  return true;
}

/* Anything out of the ordinary goes to the parts, which know how to do or refuse it. */
Status conv_norm_read(const Call *call, ConvNorm *n, bool *is_ordinary) {
  const Tensor *input = call_tensor(call, INPUT), *weight = call_tensor(call, WEIGHT);
  const Tensor *mean = call_tensor_or_null(call, MEAN), *var = call_tensor_or_null(call, VAR);
  *is_ordinary = false;
  if (fused_records(call) || call->exec->deterministic || !fused_is_plain(input) || !fused_is_plain(weight) ||
      input->dtype != DTYPE_FLOAT32 || input->ndim != weight->ndim || (mean != NULL) != (var != NULL) ||
      !has_plain_gate(call, input))
    return OK;
  static const ConvPlaces places = {INPUT, WEIGHT, BIAS, STRIDE, PADDING, DILATION, GROUPS, -1, -1};
  ConvParams *p = &n->params;
  TRY(conv_read_at(call, &places, p));
  if (!conv_gives_row_major(p, input, weight)) return OK;
  if (!call_is_none(call, GATE) && !conv_takes_gate(p)) return OK;
  for (uint32_t i = BIAS; i <= VAR; i++)
    if ((i == BIAS || i >= GAMMA) && !fused_is_vector(call_tensor_or_null(call, i), p->out_channels)) return OK;
  if (!has_plain_end(call, p)) return OK;
  const Tensor *bias = call_tensor_or_null(call, BIAS), *add = call_tensor_or_null(call, ADD),
               *gate = call_tensor_or_null(call, GATE);
  n->numbers = NULL;
  n->epilogue = (ConvEpilogue){.shift = bias ? tensor_data(bias) : NULL,
                               .add = add ? tensor_data(add) : NULL,
                               .gate = gate ? tensor_data(gate) : NULL,
                               .activation = activation_of(call),
                               .low = (float)call_double(call, LOW),
                               .high = (float)call_double(call, HIGH)};
  *is_ordinary = true;
  return OK;
}

Status conv_norm_begin(const Call *call, ConvNorm *n) {
  int64_t channels = n->params.out_channels;
  if (call_is_none(call, MEAN)) return OK;
  n->numbers = mem_alloc((size_t)channels * 2 * sizeof *n->numbers);
  if (!n->numbers) return status_out_of_memory();
  fold(call, channels, n->numbers, n->numbers + channels);
  n->epilogue.scale = n->numbers;
  n->epilogue.shift = n->numbers + channels;
  return OK;
}

void conv_norm_end(ConvNorm *n) {
  mem_free(n->numbers);
}

static Status kernel_convolution_norm(Call *call) {
  ConvNorm n;
  bool is_ordinary;
  TRY(conv_norm_read(call, &n, &is_ordinary));
  if (!is_ordinary) return run_parts(call);
  TRY(conv_norm_begin(call, &n));
  Status status = run_fused(call, &n);
  conv_norm_end(&n);
  return status;
}

#define CONVOLUTION_NORM(overload, more)                                                                       \
  {                                                                                                            \
    .schema = "wick::convolution_norm" overload "(Tensor input, " CONV_NORM_PARAMETERS("") more ") -> Tensor", \
    .kernel = kernel_convolution_norm, .flops = conv_flops, .flags = OP_COMPOSITE | OP_OF_PLANS,               \
    .extras = &(const RowExtras){.restores = 1 << WEIGHT}                                                      \
  }
static const OpRow rows[] = {
    CONVOLUTION_NORM("", ""),
    CONVOLUTION_NORM(".beside", ", Tensor? beside, int place, int room"),
};
OP_TABLE(op_table_conv_norm, rows);
