/* Embeddings whose rows are integers of 8, 4 or 2 bits, each row with a scale and an offset: in objects (quantized
 * tensors with float qparams) and as rows of bytes with scale and bias after the integers: two float32 for bytes, two
 * float16 for less. */
#include <assert.h>
#include <math.h>

#include "base/work_limit.h"
#include "call/results.h"
#include "call/row.h"
#include "op/quantized/packed.h"
#include "tensor/quantizer.h"

typedef struct EmbeddingParams {
  NativeValue base;
  Tensor *weight;   /* quint8 or quint4x2 (rows, columns), float qparams along the rows */
  Tensor *integers; /* uint8, one a byte */
} EmbeddingParams;

static void free_params(Capsule *capsule) {
  EmbeddingParams *p = (EmbeddingParams *)capsule;
  tensor_release(p->weight);
  tensor_release(p->integers);
  mem_free(p);
}

static Status check_weight(const Tensor *weight) {
  if (!tensor_is_defined(weight) || !tensor_is_quantized(weight) || weight->ndim != 2 ||
      (weight->dtype != DTYPE_QUINT8 && weight->dtype != DTYPE_QUINT4X2))
    return status_new(ERROR_RUNTIME, "expected a quint8 or quint4x2 matrix as the weight of an embedding");
  const Quantizer *q = tensor_quantizer(weight);
  if (q->scheme != QSCHEME_PER_CHANNEL_AFFINE_FLOAT_QPARAMS || q->axis != 0)
    return status_new(ERROR_RUNTIME,
                      "Expect embedding_bag weights to be quantized using kPerChannelAffineFloatQParams along rows");
  return quantizer_check_fits(q, (DType)weight->dtype, weight->ndim, weight->sizes);
}

static Status plain_integers(const Tensor *weight, Tensor **out) {
  int64_t rows = weight->sizes[0], columns = weight->sizes[1];
  if (weight->dtype == DTYPE_QUINT8) {
    Tensor *plain;
    TRY(tensor_contiguous(weight, &plain));
    Status status = tensor_int_repr(plain, out);
    tensor_release(plain);
    return status;
  }
  if (!weight->contiguous) return status_new(ERROR_UNSUPPORTED, "views of quint4x2 tensors");
  TRY(tensor_empty(DTYPE_UINT8, 2, weight->sizes, out));
  const uint8_t *from = tensor_data(weight);
  uint8_t *to = tensor_data(*out);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < columns; i++)
      to[r * columns + i] = (uint8_t)(from[r * ((columns + 1) / 2) + i / 2] >> (i % 2 * 4) & 15);
  return OK;
}

static Status new_params(const Tensor *weight, NativeValue **out) {
  TRY(check_weight(weight));
  EmbeddingParams *p = mem_calloc(1, sizeof *p);
  if (!p) return status_out_of_memory();
  ref_init(&p->base.base.refs);
  p->base.base.free = free_params;
  p->base.native = &native_embedding_params;
  p->weight = tensor_retain(weight);
  Status status = plain_integers(weight, &p->integers);
  if (status) {
    free_params(&p->base.base);
    return status;
  }
  *out = &p->base;
  return OK;
}

static Status params_of(const Call *c, const EmbeddingParams **out) {
  NativeValue *value;
  TRY(native_object_get(call_value(c, 0), &native_embedding_params, &value));
  *out = (const EmbeddingParams *)value;
  return OK;
}

static Status kernel_prepack(Call *c) {
  NativeValue *value;
  IValue object;
  TRY(new_params(call_tensor(c, 0), &value));
  TRY(native_object_new(value, &object));
  call_set(c, 0, object);
  return OK;
}
static Status kernel_unpack(Call *c) {
  const EmbeddingParams *p;
  TRY(params_of(c, &p));
  call_set_tensor(c, 0, tensor_retain(p->weight));
  return OK;
}
static int64_t bit_rate(const EmbeddingParams *p) {
  return p->weight->dtype == DTYPE_QUINT8 ? 8 : 4;
}
static Status kernel_bit_rate(Call *c) {
  const EmbeddingParams *p;
  TRY(params_of(c, &p));
  return result_int(c, 0, bit_rate(p));
}
static Status kernel_version(Call *c) {
  return result_int(c, 0, 1);
}

/* (version, [weight], [], [bit rate]) */
static Status kernel_getstate(Call *c) {
  const EmbeddingParams *p;
  List *tensors, *numbers, *integers;
  TRY(params_of(c, &p));
  int64_t bits = bit_rate(p);
  TRY(result_int(c, 0, 1));
  TRY(list_new(TYPE(TENSOR), 1, &tensors));
  call_set(c, 1, ivalue_list(tensors));
  TRY(list_append(tensors, ivalue_tensor(tensor_retain(p->weight))));
  TRY(list_from_doubles(NULL, 0, &numbers));
  call_set(c, 2, ivalue_list(numbers));
  TRY(list_from_ints(&bits, 1, &integers));
  call_set(c, 3, ivalue_list(integers));
  return OK;
}
static Status kernel_setstate(Call *c) {
  const Tuple *t = call_value(c, 1).tag == TAG_TUPLE ? call_value(c, 1).tuple : NULL;
  NativeValue *value;
  if (!t || t->length != 4 || t->values[1].tag != TAG_LIST || t->values[1].list->kind != LIST_VALUES ||
      t->values[1].list->length != 1 || t->values[1].list->values[0].tag != TAG_TENSOR)
    return status_new(ERROR_DATA, "the state of packed embeddings is no weight");
  TRY(new_params(t->values[1].list->values[0].tensor, &value));
  return native_object_set(call_value(c, 0), value);
}

/* (self, indices): the numbers of those rows, (count, columns). */
static Status kernel_rows(Call *c) {
  const EmbeddingParams *p;
  const Tensor *given = call_tensor(c, 1);
  Tensor *wide, *indices, *out;
  TRY(params_of(c, &p));
  if (!dtype_is_integral((DType)given->dtype))
    return status_new(ERROR_RUNTIME, "expected integer indices of embeddings, got %s", dtype_name((DType)given->dtype));
  int64_t rows = p->weight->sizes[0], sizes[2] = {given->numel, p->weight->sizes[1]};
  TRY(tensor_to_dtype(given, DTYPE_INT64, &wide));
  Status status = tensor_contiguous(wide, &indices);
  tensor_release(wide);
  TRY(status);
  const int64_t *at = tensor_data(indices);
  for (int64_t i = 0; !status && i < given->numel; i++)
    if (at[i] < 0 || at[i] >= rows)
      status = status_new(ERROR_RUNTIME, "the index %lld of an embedding of %lld rows is out of range",
                          (long long)at[i], (long long)rows);
  if (!status) status = tensor_empty(DTYPE_FLOAT32, 2, sizes, &out);
  if (!status) {
    const Quantizer *q = tensor_quantizer(p->weight);
    const float *scales = tensor_data(q->scales), *zeros = tensor_data(q->zero_points);
    for (int64_t i = 0; i < given->numel; i++) {
      const uint8_t *from = (const uint8_t *)tensor_data(p->integers) + at[i] * sizes[1];
      float *to = (float *)tensor_data(out) + i * sizes[1], scale = scales[at[i]], bias = -scale * zeros[at[i]];
      if (p->weight->dtype == DTYPE_QUINT4X2) { /* these are kept in half precision */
        scale = half_to_float(half_from_float(scale));
        bias = half_to_float(half_from_float(bias));
      }
      for (int64_t k = 0; k < sizes[1]; k++) to[k] = (float)from[k] * scale + bias;
    }
    call_set_tensor(c, 0, out);
  }
  tensor_release(indices);
  return status;
}

/* ---- rows of bytes ---- */

static Status float_rows(const Tensor *t, Tensor **out) {
  if (t->flags & TENSOR_UNUSUAL || !dtype_is_floating((DType)t->dtype) || t->ndim < 1)
    return status_new(ERROR_RUNTIME, "expected a matrix of numbers as the weight of an embedding");
  Tensor *numbers;
  TRY(tensor_to_dtype(t, DTYPE_FLOAT32, &numbers));
  Status status = tensor_contiguous(numbers, out);
  tensor_release(numbers);
  return status;
}

static void range_of(const float *x, int64_t n, float *least, float *most) {
  *least = *most = n ? x[0] : 0;
  for (int64_t i = 1; i < n; i++) {
    *least = x[i] < *least ? x[i] : *least;
    *most = x[i] > *most ? x[i] : *most;
  }
}

static float to_half(float x) {
  return half_to_float(half_from_float(x));
}

/* The error of numbers rounded to a grid of 2^bits points between least and most. */
static float grid_error(const float *x, int64_t n, float least, float most, int bits, int64_t *done) {
  enum { PART = 4096 };
  assert(bits >= 1 && bits <= 8);
  least = to_half(least);
  float range = most - least, top = (float)((1 << bits) - 1);
  float scale = range == 0 ? 1.0f : to_half(range / top), inverse = scale == 0 ? 1.0f : 1.0f / scale, norm = 0;
  for (int64_t first = 0; first < n; first += PART) {
    int64_t end = n - first < PART ? n : first + PART;
    if (work_is_over_after(done, 4 * (end - first) + 32)) break;
    for (int64_t i = first; i < end; i++) {
      float q = nearbyintf((x[i] - least) * inverse);
      q = q < 0 ? 0 : q > top ? top : q;
      float error = x[i] - (q * scale + least);
      norm += error * error;
    }
  }
  return sqrtf(norm);
}

/* Greedy search for a narrower range with less error: H. Guan et al., "Post-Training 4-bit Quantization on Embedding
 * Tables" (2019). */
static void optimize_range(const float *x, int64_t n, int64_t bins, float ratio, int bits, int64_t *done, float *least,
                           float *most) {
  float low = *least, high = *most, step = (high - low) / (float)bins;
  float kept = truncf((float)bins * (1.0f - ratio)) * step;
  float current = grid_error(x, n, low, high, bits, done), best = current;
  while (step > 0 && low + kept < high && !work_is_over_after(done, 1)) {
    float left = grid_error(x, n, low + step, high, bits, done), right = grid_error(x, n, low, high - step, bits, done);
    if (current < left && current < right && current < best) {
      best = current;
      *least = low;
      *most = high;
    }
    float before = left < right ? low : high;
    if (left < right) {
      low += step;
      current = left;
    } else {
      high -= step;
      current = right;
    }
    if (before == (left < right ? low : high)) break; /* rounding undid the step, and would each time */
  }
}

static void pack_bytes(const float *x, int64_t n, uint8_t *to) {
  float least, most;
  range_of(x, n, &least, &most);
  float range = most - least, parameters[2] = {range / 255.0f, least}, inverse = 255.0f / (range + 1e-8f);
  for (int64_t i = 0; i < n; i++) {
    long q = lrintf((x[i] - least) * inverse);
    to[i] = (uint8_t)(q < 0 ? 0 : q > 255 ? 255 : q);
  }
  memcpy(to + n, parameters, sizeof parameters);
}

static void pack_bits(const float *x, int64_t n, int bits, float least, float most, uint8_t *to) {
  assert(bits == 2 || bits == 4);
  int each = 8 / bits;
  long top = (1 << bits) - 1;
  least = to_half(least);
  float range = most - least, scale = range == 0 ? 1.0f : to_half(range / (float)top);
  if (scale == 0) scale = 1.0f;
  float inverse = 1.0f / scale;
  if (isinf(inverse)) scale = inverse = 1.0f;
  int64_t bytes = (n + each - 1) / each;
  memset(to, 0, (size_t)bytes);
  for (int64_t i = 0; i < n; i++) {
    long q = lrintf((x[i] - least) * inverse);
    q = q < 0 ? 0 : q > top ? top : q;
    to[i / each] |= (uint8_t)(q << (i % each * bits));
  }
  uint16_t parameters[2] = {half_from_float(scale), half_from_float(least)};
  memcpy(to + bytes, parameters, sizeof parameters);
}

typedef struct BitsOptions {
  bool optimized;
  int64_t bins;
  float ratio;
} BitsOptions;

/* (weight, how to choose the range of numbers in fewer bits than 8) */
static Status kernel_pack_rows(Call *c) {
  int bits = (int)call_param(c);
  BitsOptions how = {0};
  if (bits < 8) how = (BitsOptions){call_bool(c, 1), call_int(c, 2), (float)call_double(c, 3)};
  Tensor *numbers, *out;
  TRY(float_rows(call_tensor(c, 0), &numbers));
  int64_t sizes[TENSOR_MAX_DIMS], n = numbers->sizes[numbers->ndim - 1], rows = n ? numbers->numel / n : 0;
  memcpy(sizes, numbers->sizes, (size_t)numbers->ndim * sizeof *sizes);
  int each = 8 / bits;
  int64_t width = (n + each - 1) / each + (bits == 8 ? 8 : 4);
  sizes[numbers->ndim - 1] = width;
  Status status = how.optimized && how.bins < 1 ? status_new(ERROR_RUNTIME, "nbins must be positive") : OK;
  if (!status) status = tensor_empty(DTYPE_UINT8, numbers->ndim, sizes, &out);
  for (int64_t r = 0, done = 0; !status && r < rows && !work_is_over_after(&done, n); r++) {
    const float *x = (const float *)tensor_data(numbers) + r * n;
    uint8_t *to = (uint8_t *)tensor_data(out) + r * width;
    float least, most;
    range_of(x, n, &least, &most);
    if (how.optimized) optimize_range(x, n, how.bins, how.ratio, bits, &done, &least, &most);
    if (bits == 8)
      pack_bytes(x, n, to);
    else
      pack_bits(x, n, bits, least, most, to);
  }
  tensor_release(numbers);
  if (!status) call_set_tensor(c, 0, out);
  return status;
}
static Status kernel_unpack_rows(Call *c) {
  int bits = (int)call_param(c);
  const Tensor *given = call_tensor(c, 0);
  Tensor *bytes, *out;
  int64_t sizes[TENSOR_MAX_DIMS];
  int each = 8 / bits, tail = bits == 8 ? 8 : 4;
  if (given->dtype != DTYPE_UINT8 || given->ndim < 1 || given->sizes[given->ndim - 1] < tail)
    return status_new(ERROR_RUNTIME, "expected rows of packed bytes as the weight of an embedding, got %s of sizes %s",
                      dtype_name((DType)given->dtype), SIZES_TEXT(given->ndim, given->sizes));
  TRY(tensor_contiguous(given, &bytes));
  int64_t width = bytes->sizes[bytes->ndim - 1], n = (width - tail) * each, rows = bytes->numel / width;
  memcpy(sizes, bytes->sizes, (size_t)bytes->ndim * sizeof *sizes);
  sizes[bytes->ndim - 1] = n;
  Status status = tensor_empty(DTYPE_FLOAT32, bytes->ndim, sizes, &out);
  for (int64_t r = 0; !status && r < rows; r++) {
    const uint8_t *from = (const uint8_t *)tensor_data(bytes) + r * width;
    float *to = (float *)tensor_data(out) + r * n, parameters[2];
    uint16_t halves[2];
    if (bits == 8) {
      memcpy(parameters, from + width - tail, sizeof parameters);
    } else {
      memcpy(halves, from + width - tail, sizeof halves);
      for (int i = 0; i < 2; i++) parameters[i] = half_to_float(halves[i]);
    }
    for (int64_t i = 0; i < n; i++)
      to[i] = (float)(from[i / each] >> (i % each * bits) & ((1 << bits) - 1)) * parameters[0] + parameters[1];
  }
  tensor_release(bytes);
  if (!status) call_set_tensor(c, 0, out);
  return status;
}

static Status kernel_choose_qparams_optimized(Call *c) { /* (input, numel, n_bins, ratio, bit_width) -> (most, least) */
  Tensor *numbers;
  int64_t count = call_int(c, 1), one = 1, bits = call_int(c, 4);
  if (count < 0 || count > call_tensor(c, 0)->numel || call_int(c, 2) < 1 || bits < 1 || bits > 8)
    return status_new(ERROR_RUNTIME, "choose_qparams_optimized: numel, n_bins or bit_width out of range");
  TRY(float_rows(call_tensor(c, 0), &numbers));
  float least, most;
  range_of(tensor_data(numbers), count, &least, &most);
  int64_t done = 0;
  optimize_range(tensor_data(numbers), count, call_int(c, 2), (float)call_double(c, 3), (int)bits, &done, &least,
                 &most);
  tensor_release(numbers);
  float both[2] = {most, least};
  for (uint32_t i = 0; i < 2; i++) {
    Tensor *out;
    TRY(tensor_empty(DTYPE_FLOAT32, 1, &one, &out));
    memcpy(tensor_data(out), &both[i], sizeof(float));
    call_set_tensor(c, i, out);
  }
  return OK;
}

#define PARAMS_ROW(text, ...) \
  { .schema = text, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED, .kernel = __VA_ARGS__ }
#define BAG                                                                                                       \
  "Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, "  \
  "Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> " \
  "Tensor"
#define PACKED_BAG(bits)                                                                                      \
  {                                                                                                           \
    .schema = "quantized::embedding_bag_" bits "(" EMBEDDING_PARAMS " weight, " BAG,                          \
    .body =                                                                                                   \
        "found, kept = embedding_indices(indices, pruned_weights, compressed_indices_mapping)\n"              \
        "rows = torch.ops.classes.EmbeddingPackedParamsBase_rows(weight, found)\n"                            \
        "return embedding_bag_of_rows(rows, kept, indices, offsets, per_sample_weights, include_last_offset)" \
  }
#define ROWWISE_BAG(bits)                                                                                     \
  {                                                                                                           \
    .schema = "quantized::embedding_bag_" bits "_rowwise_offsets(Tensor weight, " BAG,                        \
    .body =                                                                                                   \
        "found, kept = embedding_indices(indices, pruned_weights, compressed_indices_mapping)\n"              \
        "rows = torch.ops.quantized.embedding_bag_" bits                                                      \
        "_unpack(weight.index_select(0, found))\n"                                                            \
        "return embedding_bag_of_rows(rows, kept, indices, offsets, per_sample_weights, include_last_offset)" \
  }
#define LOOKUP(bits)                                                                             \
  {                                                                                              \
    .schema = "quantized::embedding_" bits "(" EMBEDDING_PARAMS                                  \
              " weight, Tensor indices, bool pruned_weights=False) -> Tensor",                   \
    .body =                                                                                      \
        "rows = torch.ops.classes.EmbeddingPackedParamsBase_rows(weight, indices.reshape(-1))\n" \
        "return rows.reshape(list(indices.size()) + [rows.size(1)])"                             \
  }

static const OpRow rows[] = {
    PARAMS_ROW("quantized::embedding_bag_prepack(Tensor weight) -> " EMBEDDING_PARAMS " W_prepack", kernel_prepack),
    PARAMS_ROW("quantized::embedding_bag_unpack(" EMBEDDING_PARAMS " W_prepack) -> Tensor W_origin", kernel_unpack),
    PARAMS_ROW("quantized::embedding_bag_byte_prepack(Tensor weight) -> Tensor", kernel_pack_rows, .param = 8),
    PARAMS_ROW("quantized::embedding_bag_byte_unpack(Tensor weight) -> Tensor", kernel_unpack_rows, .param = 8),
    PARAMS_ROW(
        "quantized::embedding_bag_4bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, float "
        "ratio=0.16) -> Tensor",
        kernel_pack_rows, .param = 4),
    PARAMS_ROW("quantized::embedding_bag_4bit_unpack(Tensor weight) -> Tensor", kernel_unpack_rows, .param = 4),
    PARAMS_ROW(
        "quantized::embedding_bag_2bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, float "
        "ratio=0.16) -> Tensor",
        kernel_pack_rows, .param = 2),
    PARAMS_ROW("quantized::embedding_bag_2bit_unpack(Tensor weight) -> Tensor", kernel_unpack_rows, .param = 2),
    PARAMS_ROW("aten::choose_qparams_optimized(Tensor input, int numel, int n_bins, float ratio, int bit_width) -> "
               "(Tensor, Tensor)",
               kernel_choose_qparams_optimized),
    PACKED_BAG("byte"),
    PACKED_BAG("4bit"),
    ROWWISE_BAG("byte"),
    ROWWISE_BAG("4bit"),
    ROWWISE_BAG("2bit"),
    LOOKUP("byte"),
    LOOKUP("4bit"),
    PARAMS_ROW("classes::EmbeddingPackedParamsBase_getstate(" EMBEDDING_PARAMS
               " self) -> (int, Tensor[], float[], int[])",
               kernel_getstate),
    PARAMS_ROW("classes::EmbeddingPackedParamsBase_setstate(" EMBEDDING_PARAMS
               "(a!) self, (int, Tensor[], float[], int[]) state) -> ()",
               kernel_setstate),
    PARAMS_ROW("classes::EmbeddingPackedParamsBase_bit_rate(" EMBEDDING_PARAMS " self) -> int", kernel_bit_rate),
    PARAMS_ROW("classes::EmbeddingPackedParamsBase_version(" EMBEDDING_PARAMS " self) -> int", kernel_version),
    PARAMS_ROW("classes::EmbeddingPackedParamsBase_rows(" EMBEDDING_PARAMS " self, Tensor indices) -> Tensor",
               kernel_rows),
};
OP_TABLE(op_table_quantized_embedding, rows);

static const NativeMethod methods[] = {
    {"__getstate__", "classes::EmbeddingPackedParamsBase_getstate"},
    {"__setstate__", "classes::EmbeddingPackedParamsBase_setstate"},
    {"bit_rate", "classes::EmbeddingPackedParamsBase_bit_rate"},
    {"version", "classes::EmbeddingPackedParamsBase_version"},
};
const NativeClass native_embedding_params = {"quantized.EmbeddingPackedParamsBase", methods,
                                             sizeof methods / sizeof *methods};
