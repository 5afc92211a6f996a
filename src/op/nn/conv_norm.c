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

/* Whether a sum with row-major memory is row-major, though there may be gaps. */
static bool is_in_order(const Tensor *t) {
  int64_t least = 1;
  for (int d = t->ndim - 1; d >= 0; d--) {
    if (t->sizes[d] == 1) continue;
    if (t->strides[d] < least) return false;
    least = t->strides[d];
  }
  return true;
}

/* The tensor to add, if any, is of the results' sizes, and the activation one of the table. */
static Status check_end(const Call *call, const ConvParams *p) {
  const Tensor *add = call_tensor_or_null(call, ADD);
  if (activation_of(call) == CONV_ACTIVATION_COUNT) return reason_decline(REASON_NOT_FUSED_ARGUMENT);
  if (!add) return call_is_none(call, ADD) ? OK : reason_decline(REASON_NOT_FUSED_KIND);
  if (!fused_is_plain(add) && (add->dtype != DTYPE_FLOAT32 || add->flags & TENSOR_UNUSUAL || !is_in_order(add)))
    return fused_decline(add);
  int64_t sizes[CONV_SPATIAL + 2];
  bool fits = add->ndim == p->spatial + 2 &&
              !memcmp(add->sizes, conv_result_sizes(p, sizes), (size_t)add->ndim * sizeof *sizes);
  return fits ? OK : reason_decline(REASON_NOT_FUSED_SHAPE);
}

/* The gate, if any, has a number for each plane of the input, and their product is row-major. */
static Status check_gate(const Call *call, const Tensor *input) {
  const Tensor *gate = call_tensor_or_null(call, GATE);
  if (!gate) return call_is_none(call, GATE) ? OK : reason_decline(REASON_NOT_FUSED_KIND);
  if (!fused_is_plain(gate)) return fused_decline(gate);
  if (!gate->row_major || !input->row_major) return reason_decline(REASON_NOT_FUSED_LAYOUT);
  bool fits = gate->ndim == input->ndim;
  for (int d = 0; d < gate->ndim && fits; d++) fits = gate->sizes[d] == (d < 2 ? input->sizes[d] : 1);
  return fits ? OK : reason_decline(REASON_NOT_FUSED_SHAPE);
}

/* What can be said before the sizes are known. */
static Status check_operands(const Call *call, const Tensor *input, const Tensor *weight) {
  if (fused_records(call)) return reason_decline(REASON_NOT_FUSED_GRADIENT);
  if (call->exec->deterministic) return reason_decline(REASON_NOT_FUSED_DETERMINISTIC);
  if (!fused_is_plain(input)) return fused_decline(input);
  if (!fused_is_plain(weight)) return fused_decline(weight);
  if (input->ndim != weight->ndim) return reason_decline(REASON_NOT_FUSED_SHAPE);
  if (!call_tensor_or_null(call, MEAN) != !call_tensor_or_null(call, VAR)) return reason_decline(REASON_NOT_FUSED_KIND);
  return check_gate(call, input);
}

/* One number for each channel. */
static Status check_vectors(const Call *call, int64_t channels) {
  static const uint8_t vectors[] = {BIAS, GAMMA, BETA, MEAN, VAR};
  for (size_t i = 0; i < sizeof vectors; i++)
    if (!fused_is_vector(call_tensor_or_null(call, vectors[i]), channels))
      return reason_decline(REASON_NOT_FUSED_WEIGHTS);
  return OK;
}

Status conv_norm_read(const Call *call, ConvNorm *n) {
  const Tensor *input = call_tensor(call, INPUT), *weight = call_tensor(call, WEIGHT);
  TRY(check_operands(call, input, weight));
  static const ConvPlaces places = {INPUT, WEIGHT, BIAS, STRIDE, PADDING, DILATION, GROUPS, -1, -1};
  ConvParams *p = &n->params;
  TRY(conv_read_at(call, &places, p));
  if (!conv_gives_row_major(p, input, weight)) return reason_decline(REASON_NOT_FUSED_LAYOUT);
  if (!call_is_none(call, GATE) && !conv_takes_gate(p)) return reason_decline(REASON_NOT_FUSED_SIZE);
  TRY(check_vectors(call, p->out_channels));
  TRY(check_end(call, p));
  const Tensor *bias = call_tensor_or_null(call, BIAS), *add = call_tensor_or_null(call, ADD),
               *gate = call_tensor_or_null(call, GATE);
  n->numbers = NULL;
  n->term = NULL;
  n->epilogue = (ConvEpilogue){.shift = bias ? tensor_data(bias) : NULL,
                               .add = add ? tensor_data(add) : NULL,
                               .gate = gate ? tensor_data(gate) : NULL,
                               .activation = activation_of(call),
                               .low = (float)call_double(call, LOW),
                               .high = (float)call_double(call, HIGH)};
  return OK;
}

Status conv_norm_begin(const Call *call, ConvNorm *n) {
  int64_t channels = n->params.out_channels;
  const Tensor *add = call_tensor_or_null(call, ADD);
  if (add && !tensor_is_contiguous(add)) {
    TRY(tensor_contiguous(add, &n->term));
    n->epilogue.add = tensor_data(n->term);
  }
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
  tensor_release(n->term);
}

static Status kernel_convolution_norm(Call *call) {
  ConvNorm n;
  TRY(conv_norm_read(call, &n));
  Status status = conv_norm_begin(call, &n);
  if (!status) status = run_fused(call, &n);
  conv_norm_end(&n);
  return status;
}

#define CONVOLUTION_NORM(overload, more)                                                                       \
  {                                                                                                            \
    .schema = "wick::convolution_norm" overload "(Tensor input, " CONV_NORM_PARAMETERS("") more ") -> Tensor", \
    .kernel = kernel_convolution_norm, .flops = conv_flops, .flags = OP_COMPOSITE | OP_OF_PLANS,               \
    .extras = &(const RowExtras) {                                                                             \
      .restores = 1 << WEIGHT                                                                                  \
    }                                                                                                          \
  }
static const OpRow rows[] = {
    CONVOLUTION_NORM("", ""),
    CONVOLUTION_NORM(".beside", ", Tensor? beside, int place, int room"),
};
OP_TABLE(op_table_conv_norm, rows);
