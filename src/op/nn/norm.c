/* Normalizations: batch, layer and group norm. Statistics are summed in double, but for those of bfloat16. */
#include "op/nn/norm.h"

#include <assert.h>
#include <math.h>

#include "base/parallel.h"
#include "call/row_extras.h"
#include "compute/norm/norm_affine.h"
#include "compute/norm/norm_batch.h"
#include "compute/norm/norm_bfloat16.h"
#include "tensor/layout.h"
#include "tile/line.h"
#include "tile/loops.h"

/* A walk over x and y in rows of `length` equal-strided elements. */
typedef struct Rows {
  const char *x;
  char *y;
  DType dtype, stat_dtype; /* of x and y; of weight, bias and statistics */
  int64_t count, length;
  int64_t channels, inner, group; /* row r, element i: channel as each operator says */
  const Tensor *weight, *bias;
  Tensor *mean, *invstd; /* float32 or float64, one for each row; may be NULL */
  double eps;
  bool rounds;                 /* bfloat16 after every step, as PyTorch 1.13 does */
  const double *scale, *shift; /* batch norm: for each channel */
} Rows;

static double number_at(const Tensor *t, int64_t i, double fallback) {
  if (!t) return fallback;
  if (t->dtype == DTYPE_FLOAT32) return (double)((const float *)tensor_data(t))[i * t->strides[0]];
  double v;
  dtype_convert(DTYPE_FLOAT64, &v, 1, (DType)t->dtype,
                (const char *)tensor_data(t) + i * t->strides[0] * (int64_t)dtype_size((DType)t->dtype), 1, 1);
  return v;
}
static void put_number(Tensor *t, int64_t i, double v) {
  if (t)
    dtype_convert((DType)t->dtype, (char *)tensor_data(t) + i * (int64_t)dtype_size((DType)t->dtype), 1, DTYPE_FLOAT64,
                  &v, 1, 1);
}

static bool rounds(const Call *call, const Tensor *t) {
  return t->dtype == DTYPE_BFLOAT16 && !work_is_torch2(&call->exec->work);
}

static Status optional_contiguous(const Tensor *t, Tensor **out) {
  return t ? tensor_contiguous(t, out) : OK;
}

/* Mean and 1 / sqrt(variance + eps) of a row. */
static void statistics(const Rows *r, const char *x, double *out_mean, double *out_invstd) {
  if (r->rounds) {
    float mean, invstd;
    bfloat16_statistics((const uint16_t *)x, r->length, r->eps, &mean, &invstd);
    *out_mean = mean;
    *out_invstd = invstd;
    return;
  }
  line_statistics(r->dtype, x, r->length, r->eps, out_mean, out_invstd);
}

/* norm_affine of any dtype. */
static void affine(DType dtype, const char *x, char *y, int64_t n, NormScaling by, int64_t step) {
  assert(step == 0 || step == 1);
  if (dtype == DTYPE_FLOAT32) {
    norm_affine(n, (const float *)x, (float *)y, by, step);
    return;
  }
  int64_t item = (int64_t)dtype_size(dtype);
  for (int64_t i = 0; i < n; i++) {
    double v;
    dtype_convert(DTYPE_FLOAT64, &v, 1, dtype, x + i * item, 1, 1);
    double center = by.center ? (double)*by.center : 0;
    v = (v - center) * (double)by.scale[i * step] + (double)by.shift[i * step];
    dtype_convert(dtype, y + i * item, 1, DTYPE_FLOAT64, &v, 1, 1);
  }
}

/* ---- layer norm: each row has its statistics, each column its weight and bias ---- */
static void layer_row_bfloat16(const Rows *r, const uint16_t *x, uint16_t *y, float mean, float invstd) {
  float shift = bfloat16_round(-mean * invstd);
  for (int64_t i = 0; i < r->length; i++) {
    float w = (float)number_at(r->weight, i, 1), b = (float)number_at(r->bias, i, 0);
    y[i] = bfloat16_from_float((bfloat16_to_float(x[i]) * invstd + shift) * w + b);
  }
}
static void layer_rows(void *argument, int64_t begin, int64_t end) {
  const Rows *r = argument;
  int64_t item = (int64_t)dtype_size(r->dtype);
  TileLoop *multiply = tile_loop(KERNEL_MUL, TILE_F32), *add = tile_loop(KERNEL_ADD, TILE_F32);
  for (int64_t row = begin; row < end; row++) {
    const char *x = r->x + row * r->length * item;
    char *y = r->y + row * r->length * item;
    double mean, invstd;
    statistics(r, x, &mean, &invstd);
    put_number(r->mean, row, mean);
    put_number(r->invstd, row, invstd);
    if (r->dtype == DTYPE_FLOAT32) {
      line_normalize(r->length, (float *)y, (const float *)x, mean, invstd);
      if (r->weight) multiply(r->length, y, y, tensor_data(r->weight), NULL);
      if (r->bias) add(r->length, y, y, tensor_data(r->bias), NULL);
      continue;
    }
    if (r->dtype == DTYPE_FLOAT64) {
      line_normalize_f64(r->length, (double *)y, (const double *)x, mean, invstd);
      if (r->weight) tile_loop(KERNEL_MUL, TILE_F64)(r->length, y, y, tensor_data(r->weight), NULL);
      if (r->bias) tile_loop(KERNEL_ADD, TILE_F64)(r->length, y, y, tensor_data(r->bias), NULL);
      continue;
    }
    if (r->rounds) {
      layer_row_bfloat16(r, (const uint16_t *)x, (uint16_t *)y, (float)mean, (float)invstd);
      continue;
    }
    for (int64_t i = 0; i < r->length; i++) {
      double v;
      dtype_convert(DTYPE_FLOAT64, &v, 1, r->dtype, x + i * item, 1, 1);
      v = (v - mean) * invstd;
      if (r->weight) v *= number_at(r->weight, i, 1);
      if (r->bias) v += number_at(r->bias, i, 0);
      dtype_convert(r->dtype, y + i * item, 1, DTYPE_FLOAT64, &v, 1, 1);
    }
  }
}

static Status shape_layer_norm(Call *call, TensorSpec *specs) {
  const Tensor *input = call_tensor(call, 0), *weight = call_tensor_or_null(call, 2),
               *bias = call_tensor_or_null(call, 3);
  size_t n;
  const int64_t *shape = call_ints(call, 1, &n);
  if (n == 0)
    return status_new(ERROR_RUNTIME,
                      "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                      "but got normalized_shape = []");
  bool fits = (size_t)input->ndim >= n;
  for (size_t d = 0; fits && d < n; d++) fits = input->sizes[(size_t)input->ndim - n + d] == shape[d];
  if (!fits)
    return status_new(ERROR_RUNTIME,
                      "Given normalized_shape=%s, expected input with shape [*, %s, but got input of size%s",
                      SIZES_TEXT((int)n, shape), SIZES_TEXT((int)n, shape) + 1, SIZES_TEXT(input->ndim, input->sizes));
  for (int k = 0; k < 2; k++) {
    const Tensor *t = k ? bias : weight;
    bool same = !t || (size_t)t->ndim == n;
    for (size_t d = 0; same && t && d < n; d++) same = t->sizes[d] == shape[d];
    if (!same)
      return status_new(ERROR_RUNTIME,
                        "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and "
                        "normalized_shape = %s",
                        k ? "bias" : "weight", k ? "bias" : "weight", SIZES_TEXT(t->ndim, t->sizes),
                        SIZES_TEXT((int)n, shape));
    if (t && t->dtype != input->dtype)
      return status_new(ERROR_RUNTIME, "expected scalar type %s but found %s", dtype_scalar_name((DType)input->dtype),
                        dtype_scalar_name((DType)t->dtype));
  }
  if (!dtype_is_floating((DType)input->dtype)) return call_unsupported_dtype(call, (DType)input->dtype);
  memset(specs, 0, offsetof(TensorSpec, sizes));
  specs->dtype = (DType)input->dtype;
  specs->device = tensor_device(input);
  specs->ndim = input->ndim;
  memcpy(specs->sizes, input->sizes, (size_t)input->ndim * sizeof(int64_t));
  for (uint32_t k = 1; k < call->output_count; k++) {
    specs[k] = specs[0];
    for (int d = input->ndim - (int)n; d < input->ndim; d++) specs[k].sizes[d] = 1;
  }
  return OK;
}
static Status kernel_layer_norm(Call *call) {
  const Tensor *input = call_tensor(call, 0);
  Tensor *out = call_out(call, 0), *x = NULL, *y = NULL, *w = NULL, *b = NULL;
  size_t n;
  const int64_t *shape = call_ints(call, 1, &n);
  Status status;
  Rows r = {.dtype = (DType)input->dtype, .length = 1, .eps = call_double(call, 4), .rounds = rounds(call, input)};
  for (size_t d = 0; d < n; d++) r.length *= shape[d];
  TRY_GOTO(tensor_contiguous(input, &x), done);
  TRY_GOTO(optional_contiguous(call_tensor_or_null(call, 2), &w), done);
  TRY_GOTO(optional_contiguous(call_tensor_or_null(call, 3), &b), done);
  /* weights of several dimensions are read as one line */
  for (int k = 0; k < 2; k++) {
    Tensor **t = k ? &b : &w, *flat;
    if (!*t || (*t)->ndim == 1) continue;
    TRY_GOTO(tensor_view_sizes(*t, 1, (const int64_t[]){r.length}, &flat), done);
    tensor_release(*t);
    *t = flat;
  }
  TRY_GOTO(tensor_is_contiguous(out) ? (y = tensor_retain(out), OK) : tensor_empty(r.dtype, out->ndim, out->sizes, &y),
           done);
  r.x = tensor_data(x);
  r.y = tensor_data(y);
  r.weight = w;
  r.bias = b;
  if (call->output_count > 1) {
    r.mean = call_out(call, 1);
    r.invstd = call_out(call, 2);
  }
  if (r.length > 0)
    parallel_for(call->exec->work.threads, input->numel / r.length, 1 + 16384 / r.length, layer_rows, &r);
  if (y != out) status = tensor_copy(out, y, call->exec->work.threads);
done:
  tensor_release(x);
  tensor_release(y);
  tensor_release(w);
  tensor_release(b);
  return status;
}

/* ---- group norm: rows are groups of channels; weight and bias for each channel ---- */
static void group_channel_bfloat16(const Rows *r, int64_t channel, const uint16_t *x, uint16_t *y, float mean,
                                   float invstd) {
  assert(channel >= 0 && channel < r->channels);
  float scale = bfloat16_round(invstd * (float)number_at(r->weight, channel, 1));
  float shift = bfloat16_round(bfloat16_round(-scale * mean) + (float)number_at(r->bias, channel, 0));
  for (int64_t i = 0; i < r->inner; i++) {
    float v = bfloat16_to_float(x[i]);
    v = r->weight || r->bias ? bfloat16_round(v * scale) + shift : bfloat16_round(v - mean) * invstd;
    y[i] = bfloat16_from_float(v);
  }
}
static void group_rows(void *argument, int64_t begin, int64_t end) {
  const Rows *r = argument;
  int64_t item = (int64_t)dtype_size(r->dtype), per_group = r->channels / r->group;
  for (int64_t row = begin; row < end; row++) {
    double mean, invstd;
    const char *x = r->x + row * r->length * item;
    statistics(r, x, &mean, &invstd);
    put_number(r->mean, row, mean);
    put_number(r->invstd, row, invstd);
    for (int64_t c = 0; c < per_group; c++) {
      int64_t channel = row % r->group * per_group + c;
      double w = number_at(r->weight, channel, 1);
      float center = (float)mean, scale = (float)(invstd * w);
      float shift = norm_shift(mean, invstd * w, number_at(r->bias, channel, 0));
      int64_t at = (row * r->length + c * r->inner) * item;
      if (r->dtype == DTYPE_FLOAT64) {
        const double *from = (const double *)(r->x + at);
        double *to = (double *)(r->y + at), b = number_at(r->bias, channel, 0);
        for (int64_t i = 0; i < r->inner; i++) to[i] = (from[i] - mean) * invstd * w + b;
      } else if (r->rounds) {
        group_channel_bfloat16(r, channel, (const uint16_t *)(r->x + at), (uint16_t *)(r->y + at), (float)mean,
                               (float)invstd);
      } else {
        affine(r->dtype, r->x + at, r->y + at, r->inner, (NormScaling){&center, &scale, &shift}, 0);
      }
    }
  }
}
static Status shape_group_norm(Call *call, TensorSpec *specs) {
  const Tensor *input = call_tensor(call, 0);
  int64_t n = call_int(call, 3), channels = call_int(call, 4), inner = call_int(call, 5), groups = call_int(call, 6),
          expected;
  if (n < 0 || channels < 0 || inner < 0 || !int64_mul(n, channels, &expected) ||
      !int64_mul(expected, inner, &expected) || expected != input->numel)
    return status_new(ERROR_RUNTIME, "group_norm: N, C and HxW do not make up the input's %lld elements",
                      (long long)input->numel);
  if (work_is_torch2(&call->exec->work) && (!channels || !inner))
    return status_new(ERROR_RUNTIME, "Expected %s to be greater than 0, got 0",
                      channels ? "HxW" : "number of channels");
  if (groups <= 0 || channels % groups)
    return status_new(ERROR_RUNTIME,
                      "Expected number of channels in input to be divisible by num_groups, but got num_groups=%lld",
                      (long long)groups);
  for (uint32_t k = 1; k < 3; k++) {
    const Tensor *t = call_tensor_or_null(call, k);
    if (t && (t->ndim != 1 || t->numel != channels))
      return status_new(ERROR_RUNTIME, "Expected %s to be a vector of size equal to the number of channels in input",
                        k == 1 ? "weight" : "bias");
  }
  if (!dtype_is_floating((DType)input->dtype)) return call_unsupported_dtype(call, (DType)input->dtype);
  memset(specs, 0, offsetof(TensorSpec, sizes));
  specs->dtype = (DType)input->dtype;
  specs->device = tensor_device(input);
  specs[1] = specs[0];
  specs->ndim = input->ndim;
  memcpy(specs->sizes, input->sizes, (size_t)input->ndim * sizeof(int64_t));
  layout_suggested(input, specs);
  specs[1].ndim = 2;
  specs[1].sizes[0] = n;
  specs[1].sizes[1] = groups;
  specs[2] = specs[1];
  return OK;
}
static Status kernel_group_norm(Call *call) {
  const Tensor *input = call_tensor(call, 0);
  Tensor *x, *y = NULL, *out = call_out(call, 0);
  Rows r = {.dtype = (DType)input->dtype,
            .channels = call_int(call, 4),
            .inner = call_int(call, 5),
            .group = call_int(call, 6),
            .eps = call_double(call, 7),
            .rounds = rounds(call, input),
            .weight = call_tensor_or_null(call, 1),
            .bias = call_tensor_or_null(call, 2),
            .mean = call_out(call, 1),
            .invstd = call_out(call, 2)};
  if (input->numel == 0) return OK;
  bool in_rows = tensor_is_contiguous(out);
  TRY(tensor_contiguous(input, &x));
  Status status = in_rows ? OK : tensor_empty(r.dtype, out->ndim, out->sizes, &y);
  if (status) goto done;
  r.length = r.channels / r.group * r.inner;
  r.x = tensor_data(x);
  r.y = tensor_data(in_rows ? out : y);
  parallel_for(call->exec->work.threads, call_int(call, 3) * r.group, 1 + 16384 / r.length, group_rows, &r);
  if (!in_rows) status = tensor_copy(out, y, call->exec->work.threads);
done:
  tensor_release(x);
  tensor_release(y);
  return status;
}

/* ---- batch norm: each channel has its statistics ---- */
typedef struct BatchNorm {
  const char *x;
  char *y;
  DType dtype;
  int64_t batch, channels, inner; /* row-major (batch, channels, inner); channels-last: inner is 1 */
  float *scale, *shift;           /* for each channel */
  double *mean, *variance;        /* training */
} BatchNorm;

static void sum_channels(void *argument, int64_t begin, int64_t end) {
  const BatchNorm *b = argument;
  int64_t item = (int64_t)dtype_size(b->dtype), count = b->batch * b->inner;
  double block[256];
  for (int64_t c = begin; c < end; c++) {
    double sum = 0, squares = 0, first = 0;
    bool any = false;
    for (int64_t n = 0; n < b->batch; n++) {
      const char *x = b->x + (n * b->channels + c) * b->inner * item;
      for (int64_t i = 0; i < b->inner; i += 256) {
        int64_t m = b->inner - i < 256 ? b->inner - i : 256;
        dtype_convert(DTYPE_FLOAT64, block, 1, b->dtype, x + i * item, 1, m);
        if (!any) first = block[0];
        any = true;
        for (int64_t k = 0; k < m; k++) {
          double d = block[k] - first;
          sum += d;
          squares += d * d;
        }
      }
    }
    b->mean[c] = count ? first + sum / (double)count : 0;
    double variance = count ? (squares - sum * sum / (double)count) / (double)count : 0;
    b->variance[c] = variance < 0 ? 0 : variance;
  }
}
static Status batch_statistics(int threads, const BatchNorm *b) {
  NormBatch n = {.dtype = b->dtype, .batch = b->batch, .channels = b->channels, .inner = b->inner, .x = b->x};
  if (b->dtype == DTYPE_FLOAT32 || b->dtype == DTYPE_FLOAT64)
    return norm_batch_statistics(threads, &n, b->mean, b->variance);
  parallel_for(threads, b->channels, 1 + 16384 / (b->batch * b->inner + 1), sum_channels, (void *)b);
  return OK;
}
static void batch_planes(void *argument, int64_t begin, int64_t end) {
  const BatchNorm *b = argument;
  int64_t item = (int64_t)dtype_size(b->dtype);
  if (b->inner == 1) { /* whole rows of channels */
    for (int64_t n = begin; n < end; n++)
      affine(b->dtype, b->x + n * b->channels * item, b->y + n * b->channels * item, b->channels,
             (NormScaling){NULL, b->scale, b->shift}, 1);
    return;
  }
  for (int64_t p = begin; p < end; p++)
    affine(b->dtype, b->x + p * b->inner * item, b->y + p * b->inner * item, b->inner,
           (NormScaling){NULL, b->scale + p % b->channels, b->shift + p % b->channels}, 0);
}

/* Numbers of channels as floats that lie one after the other: where they are, or in `block`. */
static const float *floats_at(const Tensor *t, int64_t first, int64_t n, double fallback, float *block) {
  if (t && t->dtype == DTYPE_FLOAT32 && (t->strides[0] == 1 || n == 1)) return (const float *)tensor_data(t) + first;
  for (int64_t c = 0; c < n; c++) block[c] = (float)number_at(t, first + c, fallback);
  return block;
}

void norm_fold_stored(const StoredNorm *norm, int64_t channels, float *scale, float *shift) {
  enum { BLOCK = 256 };
  float blocks[4][BLOCK];
  assert(norm->mean && norm->variance);
  for (int64_t c = 0; c < channels; c += BLOCK) {
    int64_t n = channels - c < BLOCK ? channels - c : BLOCK;
    NormStored stored = {floats_at(norm->weight, c, n, 1, blocks[0]), floats_at(norm->bias, c, n, 0, blocks[1]),
                         floats_at(norm->mean, c, n, 0, blocks[2]), floats_at(norm->variance, c, n, 1, blocks[3]),
                         (float)norm->eps};
    norm_fold(n, &stored, scale + c, shift + c);
  }
}

static Status shape_batch_norm(Call *call, TensorSpec *specs) {
  const Tensor *input = call_tensor(call, 0);
  if (input->ndim < 2 && input->numel)
    return status_new(ERROR_RUNTIME, "batch_norm: expected at least 2 dimensions, got %d", input->ndim);
  int64_t channels = input->ndim < 2 ? 0 : input->sizes[1];
  static const char *const names[] = {"weight", "bias", "running_mean", "running_var"};
  bool is_nothing = call->output_count == 1 && !input->numel; /* then PyTorch looks at no other argument */
  for (uint32_t k = 1; k <= 4 && !is_nothing; k++) {
    const Tensor *t = call_tensor_or_null(call, k);
    if (t && t->numel != channels)
      return status_new(ERROR_RUNTIME, "%s should contain %lld elements not %lld", names[k - 1], (long long)channels,
                        (long long)t->numel);
    if (t && t->ndim != 1) return status_new(ERROR_RUNTIME, "%s should be one-dimensional", names[k - 1]);
  }
  bool training = call_bool(call, 5);
  if (!is_nothing && !training && (!call_tensor_or_null(call, 3) || !call_tensor_or_null(call, 4)))
    return status_new(ERROR_RUNTIME, "Expected running_mean and running_var to be defined when training is False");
  if (!is_nothing && !dtype_is_floating((DType)input->dtype)) return call_unsupported_dtype(call, (DType)input->dtype);
  TRY(shape_rows_of_first(call, specs));
  bool plain =
      tensor_is_contiguous(input) || tensor_is_channels_last(input); /* whatever the strides of size 1 suggest */
  for (uint32_t k = 1; k <= 4; k++) {
    const Tensor *t = call_tensor_or_null(call, k);
    if (t && !tensor_is_contiguous(t)) plain = false;
  }
  if (!input->numel)
    layout_preserve(input, specs);
  else if (!plain)
    layout_suggested(input, specs);
  else if (!tensor_is_contiguous(input)) {
    specs->has_strides = true;
    strides_channels_last(specs->ndim, specs->sizes, specs->strides);
  }
  for (uint32_t k = 1; k < call->output_count; k++) {
    memset(&specs[k], 0, offsetof(TensorSpec, sizes));
    specs[k].dtype = call_tensor_or_null(call, 1) ? (DType)call_tensor(call, 1)->dtype : (DType)input->dtype;
    specs[k].device = tensor_device(input);
    specs[k].ndim = 1;
    specs[k].sizes[0] = training ? channels : 0;
  }
  return OK;
}

/* Without a new version: gradients of training don't read these, and a module may run twice before backward. */
static void update_running(Tensor *running, const double *now, int64_t channels, double momentum, double factor) {
  assert(!running || running->numel == channels);
  if (!running) return;
  for (int64_t c = 0; c < channels; c++) {
    double v = (1 - momentum) * number_at(running, c, 0) + momentum * now[c] * factor;
    dtype_convert((DType)running->dtype,
                  (char *)tensor_data(running) + c * running->strides[0] * (int64_t)dtype_size((DType)running->dtype),
                  1, DTYPE_FLOAT64, &v, 1, 1);
  }
}

static Status kernel_batch_norm(Call *call) {
  const Tensor *input = call_tensor(call, 0), *weight = call_tensor_or_null(call, 1),
               *bias = call_tensor_or_null(call, 2);
  Tensor *mean = call_tensor_or_null(call, 3), *var = call_tensor_or_null(call, 4), *out = call_out(call, 0), *x = NULL,
         *y = NULL;
  bool training = call_bool(call, 5), is_folded = input->dtype == DTYPE_FLOAT32 && !training;
  double eps = call_double(call, 7), momentum = call_double(call, 6);
  if (input->ndim < 2 || (call->output_count == 1 && !input->numel)) return OK; /* empty */
  int64_t channels = input->sizes[1];
  Status status = OK;
  if (training && input->numel == channels && channels)
    return status_exception("ValueError", "Expected more than 1 value per channel when training, got input size");
  BatchNorm b = {.dtype = (DType)input->dtype, .channels = channels};
  DType statistics_dtype = weight ? (DType)weight->dtype : b.dtype;
  bool last = tensor_is_channels_last(input) && !tensor_is_contiguous(input) && tensor_is_channels_last(out) &&
              (!training || b.dtype == DTYPE_FLOAT32);
  size_t bytes;
  if (!size_mul((size_t)channels + 1, 2 * (sizeof(double) + sizeof(float)), &bytes)) return status_out_of_memory();
  double *numbers = mem_alloc(bytes);
  if (!numbers) return status_out_of_memory();
  b.mean = numbers;
  b.variance = numbers + channels;
  b.scale = (float *)(numbers + 2 * channels);
  b.shift = b.scale + channels;
  if (last)
    x = tensor_retain(input);
  else
    TRY_GOTO(tensor_contiguous(input, &x), done);
  if (last || tensor_is_contiguous(out))
    y = tensor_retain(out);
  else
    TRY_GOTO(tensor_empty(b.dtype, out->ndim, out->sizes, &y), done);
  b.x = tensor_data(x);
  b.y = tensor_data(y);
  b.inner = last || channels == 0 || input->sizes[0] == 0 ? 1 : input->numel / channels / input->sizes[0];
  b.batch = channels ? input->numel / channels / (b.inner ? b.inner : 1) : 0;
  if (training) {
    TRY_GOTO(batch_statistics(call->exec->work.threads, &b), done);
    double count = (double)(b.batch * b.inner);
    update_running(mean, b.mean, channels, momentum, 1);
    update_running(var, b.variance, channels, momentum, count / (count - 1));
  } else if (is_folded) {
    norm_fold_stored(&(StoredNorm){weight, bias, mean, var, eps}, channels, b.scale, b.shift);
  } else {
    for (int64_t c = 0; c < channels; c++) {
      b.mean[c] = number_at(mean, c, 0);
      b.variance[c] = number_at(var, c, 1);
    }
  }
  for (int64_t c = 0; c < channels && !is_folded; c++) {
    double invstd = 1 / sqrt(b.variance[c] + eps), w = number_at(weight, c, 1);
    double center = b.mean[c];
    if (training && statistics_dtype == DTYPE_BFLOAT16) { /* 1.13 keeps the sums in it, and uses what it saves */
      float count = (float)(b.batch * b.inner), squares = bfloat16_round((float)b.variance[c] * count);
      center = bfloat16_round((float)center);
      invstd = bfloat16_round((float)(1 / sqrt(bfloat16_round(squares / bfloat16_round(count)) + eps)));
    }
    b.scale[c] = (float)invstd * (float)w;
    b.shift[c] = fmaf(-(float)center, b.scale[c], (float)number_at(bias, c, 0));
    if (training && call->output_count > 1) {
      put_number(call_out(call, 1), c, b.mean[c]);
      put_number(call_out(call, 2), c, invstd);
    }
  }
  if (b.dtype == DTYPE_FLOAT64) {
    const double *from = tensor_data(x);
    double *to = tensor_data(y);
    for (int64_t i = 0; i < input->numel; i++) {
      int64_t c = i / b.inner % channels;
      to[i] = (from[i] - b.mean[c]) / sqrt(b.variance[c] + eps) * number_at(weight, c, 1) + number_at(bias, c, 0);
    }
  } else if (input->numel) {
    parallel_for(call->exec->work.threads, b.inner == 1 ? b.batch : b.batch * channels,
                 1 + 16384 / (b.inner == 1 ? channels : b.inner), batch_planes, &b);
  }
  if (y != out) status = tensor_copy(out, y, call->exec->work.threads);
done:
  mem_free(numbers);
  tensor_release(x);
  tensor_release(y);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
               "eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
     .dtypes = "LayerNormKernelImpl: floating",
     .cast = CAST_FULL,
     .line = LINE_NORMALIZE,
     .shape = shape_layer_norm,
     .kernel = kernel_layer_norm,
     .grad = "input, weight, bias: layer_norm_backward(grad, input, normalized_shape, weight, bias, eps)"},
    {.schema = "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float "
               "eps) -> (Tensor, Tensor, Tensor)",
     .dtypes = "LayerNormKernelImpl: floating",
     .cast = CAST_FULL,
     .shape = shape_layer_norm,
     .kernel = kernel_layer_norm,
     .grad = "input, weight, bias: layer_norm_backward(grads[0], input, normalized_shape, weight, bias, eps)"},
    {.schema = "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
               "int group, float eps) -> (Tensor, Tensor, Tensor)",
     .dtypes = "GroupNormKernelImpl: floating",
     .shape = shape_group_norm,
     .kernel = kernel_group_norm,
     .grad = "input, weight, bias: group_norm_all_backward(grads, input, weight, bias, results[1], results[2], N, C, "
             "HxW, group, eps)"},
    {.schema = "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
               "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
     .cast = CAST_FULL,
     .body = "if num_groups <= 0 or input.size(1) % num_groups != 0:\n"
             "    raise RuntimeError('Expected number of channels in input to be divisible by num_groups, but got "
             "input of shape {} and num_groups={}'.format(input.size(), num_groups))\n"
             "n = input.size(0)\n"
             "c = input.size(1)\n"
             "inner = 1\n"
             "for d in range(2, input.dim()):\n"
             "    inner = inner * input.size(d)\n"
             "return torch.native_group_norm(input, weight, bias, n, c, inner, num_groups, eps)[0]",
     .grad = "input, weight, bias: group_norm_first_backward(grad, input, weight, bias, num_groups, eps)",
     .flags = OP_EAGER_ONLY},
    {.schema = "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
     .writes = 1 << 3 | 1 << 4,
     .shape = shape_batch_norm,
     .kernel = kernel_batch_norm,
     .extras = &(const RowExtras){.anchor = &norm_anchor},
     .grad = "input, weight, bias: batch_norm_backward(grad, input, weight, bias, running_mean, running_var, training, "
             "eps)"},
    {.schema = "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     .out = "out: out save_mean save_invstd",
     .writes = 1 << 3 | 1 << 4,
     .shape = shape_batch_norm,
     .kernel = kernel_batch_norm,
     .extras = &(const RowExtras){.anchor = &norm_anchor},
     .grad = "input, weight, bias: batch_norm_backward(grads[0], input, weight, bias, running_mean, running_var, "
             "training, eps)"},
    {.schema = "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
     .writes = 1 << 3 | 1 << 4, /* also the mean of equal ones */
     .body =
         "if not use_input_stats and (running_mean is None or running_var is None):\n"
         "    raise RuntimeError('Expected running_mean and running_var to be defined when use_input_stats is false')\n"
         "n = input.size(0)\n"
         "c = input.size(1)\n"
         "shape = list(input.size())\n"
         "shape[0] = 1\n"
         "shape[1] = n * c\n"
         "w = weight.repeat([n]) if weight is not None else None\n"
         "b = bias.repeat([n]) if bias is not None else None\n"
         "mean = running_mean.repeat([n]) if running_mean is not None else None\n"
         "var = running_var.repeat([n]) if running_var is not None else None\n"
         "result = torch.batch_norm(input.contiguous().view(shape), w, b, mean, var, use_input_stats, momentum, eps, "
         "cudnn_enabled)\n"
         "if running_mean is not None and mean is not None:\n"
         "    running_mean.copy_(mean.view([n, c]).mean([0], False))\n"
         "if running_var is not None and var is not None:\n"
         "    running_var.copy_(var.view([n, c]).mean([0], False))\n"
         "return result.view(input.size())"},
};
OP_TABLE(op_table_norm, rows);
