/* Quantized layers: sum over k of (x - x_zero) * (w - w_zero) in int32, then a scale for each output. With the bytes as
 * they are, sum(x w) - x_zero sum(w) - w_zero sum(x) + depth x_zero w_zero: the second and last term are one number for
 * each output, the third is there only when weights have zero points. */
#include <assert.h>
#include <math.h>

#include "base/parallel.h"
#include "call/operator.h"
#include "call/quantized_engine.h"
#include "op/quantized/packed.h"
#include "op/quantized/quantized.h"
#include "tensor/quantizer.h"

/* ---- weights ---- */

Status layer_check(const Tensor *weight, int ndim, int64_t axis, int64_t outputs, const Tensor *bias) {
  if (!tensor_is_defined(weight) || !tensor_is_quantized(weight) || weight->dtype != DTYPE_QINT8)
    return status_new(ERROR_RUNTIME, "the weight of a quantized layer must be a qint8 tensor");
  if (weight->ndim != ndim)
    return status_new(ERROR_RUNTIME, "the weight of this quantized layer has %d dimensions, got %d", ndim,
                      weight->ndim);
  const Quantizer *q = tensor_quantizer(weight);
  TRY(quantizer_check_fits(q, DTYPE_QINT8, weight->ndim, weight->sizes));
  if (q->scheme == QSCHEME_PER_CHANNEL_AFFINE_FLOAT_QPARAMS)
    return status_new(ERROR_RUNTIME, "the weight of a quantized layer has float qparams");
  if (!quantizer_is_per_tensor(q) && (q->axis != axis || q->scales->numel != outputs))
    return status_new(ERROR_RUNTIME, "the weight of this quantized layer is quantized along dimension %lld, not %lld",
                      (long long)q->axis, (long long)axis);
  if (!bias) return OK;
  if (bias->flags & TENSOR_UNUSUAL || !dtype_is_floating((DType)bias->dtype))
    return status_new(ERROR_RUNTIME, "the bias of a quantized layer must be a float tensor");
  if (bias->ndim != 1 || bias->numel != outputs)
    return status_new(ERROR_RUNTIME, "the bias of a quantized layer has sizes %s, expected %lld numbers",
                      SIZES_TEXT(bias->ndim, bias->sizes), (long long)outputs);
  return OK;
}

static Status read_quantizer(const Quantizer *q, LayerWeights *w) {
  bool single = quantizer_is_per_tensor(q);
  for (int64_t i = 0; i < w->outputs; i++) {
    double scale = single ? q->scale : ((const double *)tensor_data(q->scales))[i];
    int64_t zero = single ? q->zero_point : ((const int64_t *)tensor_data(q->zero_points))[i];
    if (!(scale > 0) || !isfinite((float)scale))
      return status_new(ERROR_RUNTIME, "the scale %g of a weight is no positive number", scale);
    if (zero < INT8_MIN || zero > INT8_MAX)
      return status_new(ERROR_RUNTIME, "the zero point %lld of a weight is out of range", (long long)zero);
    w->scales[i] = (float)scale;
    w->zeros[i] = (int32_t)zero;
    w->has_zeros |= zero != 0;
  }
  return OK;
}

static Status read_bias(const Tensor *bias, LayerWeights *w) {
  Tensor *plain;
  if (!bias) return OK;
  TRY(tensor_empty(DTYPE_FLOAT32, 1, &w->outputs, &plain));
  Status status = tensor_copy(plain, bias, 1);
  if (!status && w->outputs) memcpy(w->bias, tensor_data(plain), (size_t)w->outputs * sizeof *w->bias);
  tensor_release(plain);
  w->has_bias = true;
  return status;
}

Status layer_pack(const int8_t *rows, int64_t outputs, int64_t taps, int64_t depth, int groups, const Tensor *weight,
                  const Tensor *bias, LayerWeights *out) {
  *out = (LayerWeights){.outputs = outputs, .taps = taps, .depth = depth, .groups = groups};
  size_t count = (size_t)outputs + 64; /* so that no pointer is NULL */
  int64_t row = taps * depth;
  Status status = OK;
  out->scales = mem_calloc(count, sizeof *out->scales);
  out->zeros = mem_calloc(count, sizeof *out->zeros);
  out->sums = mem_calloc(count, sizeof *out->sums);
  out->bias = mem_calloc(count, sizeof *out->bias);
  out->matrices = mem_calloc((size_t)groups, sizeof *out->matrices);
  if (!out->scales || !out->zeros || !out->sums || !out->bias || !out->matrices) status = status_out_of_memory();
  if (!status) status = read_quantizer(tensor_quantizer(weight), out);
  if (!status) status = read_bias(bias, out);
  for (int64_t i = 0; !status && i < outputs; i++)
    for (int64_t k = 0; k < row; k++) out->sums[i] += rows[i * row + k];
  int64_t each = outputs / groups;
  for (int g = 0; !status && g < groups; g++)
    status = qmatrix_pack(rows + g * each * row, each, taps, depth, &out->matrices[g]);
  if (status) layer_dispose(out);
  return status;
}

void layer_dispose(LayerWeights *w) {
  for (int g = 0; w->matrices && g < w->groups; g++) qmatrix_dispose(&w->matrices[g]);
  mem_free(w->matrices);
  mem_free(w->scales);
  mem_free(w->zeros);
  mem_free(w->sums);
  mem_free(w->bias);
  *w = (LayerWeights){0};
}

Status set_packed_bias(Call *c, uint32_t i, const Tensor *bias, const LayerWeights *layer) {
  Tensor *zeros;
  bool qnnpack = quantized_engine(c->exec) == ENGINE_QNNPACK || layer->has_zeros;
  if (bias || !qnnpack || !layer->outputs) {
    call_set(c, i, bias ? ivalue_tensor(tensor_retain(bias)) : IVALUE_NONE);
    return OK;
  }
  TRY(tensor_empty(DTYPE_FLOAT32, 1, &layer->outputs, &zeros));
  tensor_fill_zero(zeros);
  call_set_tensor(c, i, zeros);
  return OK;
}

/* ---- inputs ---- */

Status layer_input(const Call *call, const Tensor *x, LayerInput *out) {
  *out = (LayerInput){0};
  TRY(expect_per_tensor(call, x));
  if (x->dtype != DTYPE_QUINT8 && x->dtype != DTYPE_QINT8)
    return status_new(ERROR_RUNTIME, STR_FMT ": expected a quint8 or qint8 input, got %s", STR_ARG(call->op->name),
                      dtype_name((DType)x->dtype));
  const Quantizer *q = tensor_quantizer(x);
  if (!(q->scale > 0) || !isfinite(q->scale) || q->zero_point < dtype_quantized_min((DType)x->dtype) ||
      q->zero_point > dtype_quantized_max((DType)x->dtype))
    return status_new(ERROR_RUNTIME, STR_FMT ": the input is quantized with scale %g and zero point %lld",
                      STR_ARG(call->op->name), q->scale, (long long)q->zero_point);
  bool is_signed = x->dtype == DTYPE_QINT8;
  out->scale = q->scale;
  out->zero = (int32_t)q->zero_point + (is_signed ? 128 : 0);
  out->flip = is_signed ? 0x80 : 0;
  out->bytes = tensor_retain(x);
  return OK;
}

Status layer_input_settle(LayerInput *input) {
  Tensor *plain, *shifted;
  TRY(tensor_contiguous(input->bytes, &plain));
  tensor_release(input->bytes);
  input->bytes = plain;
  if (!input->flip) return OK;
  TRY(tensor_empty(DTYPE_UINT8, plain->ndim, plain->sizes, &shifted));
  const uint8_t *from = tensor_data(plain);
  uint8_t *to = tensor_data(shifted);
  for (int64_t i = 0; i < shifted->numel; i++) to[i] = from[i] ^ input->flip;
  tensor_release(plain);
  input->bytes = shifted;
  input->flip = 0;
  return OK;
}

Status layer_input_dynamic(const Call *call, const Tensor *x, bool reduce_range, bool fused, LayerInput *out) {
  *out = (LayerInput){0};
  if (x->dtype != DTYPE_FLOAT32)
    return status_new(ERROR_RUNTIME, STR_FMT ": expected a float input, got %s", STR_ARG(call->op->name),
                      dtype_name((DType)x->dtype));
  Tensor *plain;
  const QuantizedLoops *loops = quantized_loops();
  TRY(tensor_contiguous(x, &plain));
  const float *numbers = tensor_data(plain);
  float least = 0, most = 0;
  double scale = 1;
  int64_t zero = 0;
  if (plain->numel) loops->min_max(plain->numel, numbers, &least, &most);
  choose_qparams(least, most, (QuantizedRange){0, 255, reduce_range, false}, &scale, &zero);
  Status status = tensor_empty(DTYPE_UINT8, plain->ndim, plain->sizes, &out->bytes);
  if (!status) {
    if (fused)
      loops->quantize_fused(plain->numel, numbers, (float)(1 / scale), (int32_t)zero, tensor_data(out->bytes));
    else
      loops->quantize(plain->numel, numbers, 1.0f / (float)scale, (int32_t)zero, tensor_data(out->bytes));
    out->scale = scale;
    out->zero = (int32_t)zero;
  }
  tensor_release(plain);
  return status;
}

void layer_input_dispose(LayerInput *input) {
  tensor_release(input->bytes);
  input->bytes = NULL;
}

/* ---- outputs ---- */

typedef struct Arrays {
  int32_t *int_bias;
  float *float_bias, *multiplier;
} Arrays;

static Status make_arrays(const LayerWeights *w, LayerOutput *out, Arrays *arrays) {
  size_t count = (size_t)w->outputs + 16;
  out->memory = mem_alloc(3 * count * sizeof(float));
  if (!out->memory) return status_out_of_memory();
  arrays->int_bias = out->memory;
  arrays->float_bias = (float *)out->memory + count;
  arrays->multiplier = (float *)out->memory + 2 * count;
  out->how.int_bias = arrays->int_bias;
  out->how.float_bias = arrays->float_bias;
  out->how.multiplier = arrays->multiplier;
  return OK;
}

/* Of the sum of the bytes as they are. */
static int32_t zero_correction(const LayerWeights *w, const LayerInput *input, int64_t i) {
  return (int32_t)((uint32_t)input->zero *
                   ((uint32_t)w->taps * (uint32_t)w->depth * (uint32_t)w->zeros[i] - (uint32_t)w->sums[i]));
}

static int32_t int_from_float(float x) {
  return x >= 0x1p31f ? INT32_MAX : x > -0x1p31f ? (int32_t)x : INT32_MIN;
}

Status layer_output_integers(const Call *call, const LayerWeights *w, const LayerInput *input, DType dtype,
                             double scale, int64_t zero, bool relu, bool corrected, LayerOutput *out) {
  Arrays arrays;
  *out = (LayerOutput){.relu = relu};
  TRY(quantizer_check_scale(dtype, scale, zero));
  if (!(scale > 0) || !isfinite(scale))
    return status_new(ERROR_RUNTIME, STR_FMT ": the output's scale %g is no positive number", STR_ARG(call->op->name),
                      scale);
  TRY(make_arrays(w, out, &arrays));
  /* oneDNN has no weights with zero points: these are QNNPACK's, whatever the engine */
  bool rounds_bias = quantized_engine(call->exec) == ENGINE_QNNPACK || w->has_zeros;
  float in = (float)input->scale, to = (float)scale;
  for (int64_t i = 0; i < w->outputs; i++) {
    float product = in * w->scales[i];
    float bias =
        rounds_bias ? w->bias[i] * (1.0f / (float)(input->scale * (double)w->scales[i])) : w->bias[i] / product;
    int32_t correction = corrected ? 0 : zero_correction(w, input, i);
    arrays.multiplier[i] = rounds_bias ? product * (1.0f / to) : product / to;
    arrays.int_bias[i] =
        rounds_bias ? (int32_t)((uint32_t)correction + (uint32_t)int_from_float(rintf(bias))) : correction;
    arrays.float_bias[i] = rounds_bias ? 0 : bias;
  }
  int64_t least = relu && zero > dtype_quantized_min(dtype) ? zero : dtype_quantized_min(dtype);
  int64_t after = rounds_bias ? zero : 0; /* added after the rounding */
  out->how.offset = rounds_bias ? 0 : (float)zero;
  out->how.low = (float)(least - after);
  out->how.high = (float)(dtype_quantized_max(dtype) - after);
  out->how.zero = (int32_t)after;
  return OK;
}

Status layer_output_numbers(const LayerWeights *w, const LayerInput *input, bool relu, LayerOutput *out) {
  Arrays arrays;
  *out = (LayerOutput){.relu = relu, .is_float = true};
  TRY(make_arrays(w, out, &arrays));
  for (int64_t i = 0; i < w->outputs; i++) {
    arrays.multiplier[i] = (float)input->scale * w->scales[i];
    arrays.int_bias[i] = zero_correction(w, input, i);
    arrays.float_bias[i] = w->bias[i];
  }
  return OK;
}

void layer_output_dispose(LayerOutput *output) {
  mem_free(output->memory);
  output->memory = NULL;
}

void layer_output_row(const LayerOutput *output, const LayerWeights *w, int64_t first, int64_t n, const int32_t *sums,
                      int32_t row_sum, void *to) {
  assert(first >= 0 && first + n <= w->outputs);
  const QuantizedLoops *loops = quantized_loops();
  Requantization how = output->how;
  how.int_bias += first;
  how.float_bias += first;
  how.multiplier += first;
  const int32_t *zeros = w->has_zeros ? w->zeros + first : NULL;
  if (!output->is_float) {
    loops->requantize(&how, n, sums, row_sum, zeros, to);
    return;
  }
  float *numbers = to;
  loops->scale(&how, n, sums, row_sum, zeros, numbers);
  for (int64_t i = 0; output->relu && i < n; i++) numbers[i] = numbers[i] > 0 ? numbers[i] : 0;
}

/* ---- running ---- */

static int32_t row_sum(const QRows *rows, int64_t m) {
  const QuantizedLoops *loops = quantized_loops();
  uint32_t sum = 0;
  for (int64_t t = 0; t < rows->taps; t++)
    sum += (uint32_t)loops->sum_bytes(rows->quads * QGEMM_DEPTH, rows->bases[m] + rows->offsets[t]);
  return (int32_t)sum;
}

void layer_run_tile(const LayerWeights *w, const LayerOutput *output, LayerTile tile, int64_t count, const QRows *rows,
                    void *to, int64_t ld_to, int32_t *scratch) {
  assert(tile.group >= 0 && tile.group < w->groups && count >= 0);
  QMatrix part = w->matrices[tile.group];
  int64_t each = w->outputs / w->groups, start = tile.block * QGEMM_BLOCK, ld = tile.blocks * QGEMM_BLOCK;
  int64_t n = each - start < ld ? each - start : ld, first = tile.group * each + start;
  int64_t item = output->is_float ? sizeof(float) : 1;
  part.data += tile.block * part.quads * (QGEMM_BLOCK * QGEMM_DEPTH);
  part.blocks = tile.blocks;
  qgemm(tile.is_small)(&part, count, rows, scratch, ld);
  for (int64_t m = 0; m < count; m++)
    layer_output_row(output, w, first, n, scratch + m * ld, w->has_zeros ? row_sum(rows, m) : 0,
                     (char *)to + (m * ld_to + first) * item);
}

int64_t layer_columns(const LayerWeights *w) {
  return (w->matrices[0].blocks + LAYER_BLOCKS - 1) / LAYER_BLOCKS;
}
LayerTile layer_column(const LayerWeights *w, int group, int64_t column, bool is_small) {
  assert(group >= 0 && group < w->groups && column >= 0 && column < layer_columns(w));
  int64_t block = column * LAYER_BLOCKS, left = w->matrices[group].blocks - block;
  return (LayerTile){group, block, left < LAYER_BLOCKS ? left : LAYER_BLOCKS, is_small};
}

int64_t layer_tile_rows(int64_t count) {
  enum { STEP = 6 /* rows that the fastest product takes at once */ };
  int64_t tiles = (count + LAYER_ROWS - 1) / LAYER_ROWS;
  int64_t rows = tiles ? (count + tiles - 1) / tiles : 1;
  rows = (rows + STEP - 1) / STEP * STEP;
  return rows < LAYER_ROWS ? rows : LAYER_ROWS;
}

bool layer_is_small(const uint8_t *bytes, int64_t count) {
  return qgemm_gains_of_small() && quantized_loops()->join_bytes(count, bytes) < 0x80;
}

typedef struct Run {
  const LayerWeights *weights;
  const LayerOutput *output;
  int64_t count, ld_a, ld_to, rows, chunks; /* rows of a tile, tiles of a column */
  const uint8_t *a;
  char *to;
  bool is_small;
  _Atomic bool failed;
} Run;

static void run_some(void *argument, int64_t begin, int64_t end) {
  Run *run = argument;
  int32_t *scratch = mem_alloc(LAYER_SCRATCH * sizeof *scratch);
  if (!scratch) {
    atomic_store(&run->failed, true);
    return;
  }
  int64_t item = run->output->is_float ? sizeof(float) : 1;
  for (int64_t i = begin; i < end; i++) {
    const uint8_t *bases[LAYER_ROWS];
    int64_t m = i % run->chunks * run->rows, count = run->count - m < run->rows ? run->count - m : run->rows;
    for (int64_t k = 0; k < count; k++) bases[k] = run->a + (m + k) * run->ld_a;
    QRows rows = {bases, &(int64_t){0}, 1, run->weights->matrices[0].quads};
    layer_run_tile(run->weights, run->output, layer_column(run->weights, 0, i / run->chunks, run->is_small), count,
                   &rows, run->to + m * run->ld_to * item, run->ld_to, scratch);
  }
  mem_free(scratch);
}

Status layer_run(const LayerWeights *w, const LayerOutput *output, int64_t count, const uint8_t *a, int64_t ld_a,
                 void *to, int64_t ld_to, int threads) {
  assert(ld_a >= w->depth);
  int64_t rows = layer_tile_rows(count), chunks = (count + rows - 1) / rows;
  int64_t work = (count < rows ? count : rows) * LAYER_BLOCKS * QGEMM_BLOCK * (w->depth + 1);
  Run run = {w, output, count, ld_a, ld_to, rows, chunks, a, to, layer_is_small(a, count * ld_a), false};
  parallel_for(threads, chunks * layer_columns(w), 1 + (1 << 19) / (work + 1), run_some, &run);
  return atomic_load(&run.failed) ? status_out_of_memory() : OK;
}
