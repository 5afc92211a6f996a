/* Weights of quantized layers, packed, and how sums of products become the layer's output. */
#pragma once

#include "compute/quantized/qgemm.h"
#include "op/quantized/quantized.h"

/* `outputs` rows of `depth` signed bytes, in `groups` of equal size, with a scale and a zero point each. */
typedef struct LayerWeights {
  int64_t outputs, depth;
  int groups;
  QMatrix *matrices; /* one for each group */
  float *scales;
  int32_t *zeros, *sums; /* of each row: zero point, sum of its bytes */
  float *bias;           /* zeros where there is none */
  bool has_zeros, has_bias;
} LayerWeights;

/* `rows` holds outputs * depth bytes. How they are quantized says `weight`, per tensor or along `axis`, which must be
 * `outputs` channels then; bias may be NULL. Scales must be positive numbers. */
Status layer_pack(const int8_t *rows, int64_t outputs, int64_t depth, int groups, const Tensor *weight, int64_t axis,
                  const Tensor *bias, LayerWeights *out) MUST_CHECK;
void layer_dispose(LayerWeights *weights);
/* A signed-byte weight whose quantizer layer_pack can take, and a bias of `outputs` floats or none. */
Status layer_check(const Tensor *weight, int ndim, int64_t axis, int64_t outputs, const Tensor *bias) MUST_CHECK;

/* What a layer computes from: unsigned bytes, row-major in the order that was asked for. */
typedef struct LayerInput {
  Tensor *bytes; /* owned */
  double scale;
  int32_t zero;
} LayerInput;
/* Of a quint8 or qint8 tensor per tensor; `order` (NULL: as it is) permutes dimensions before. */
Status layer_input(const Call *call, const Tensor *x, const int64_t *order, LayerInput *out) MUST_CHECK;
/* The same of numbers, quantized by their range: what dynamic layers do. */
Status layer_input_dynamic(const Call *call, const Tensor *x, bool reduce_range, const int64_t *order,
                           LayerInput *out) MUST_CHECK;
void layer_input_dispose(LayerInput *input);

/* Sums to outputs: integers of (dtype, scale, zero), or numbers. */
typedef struct LayerOutput {
  Requantization how;
  void *memory;
  bool is_float, relu;
} LayerOutput;
/* corrected: the sums are already free of the zero points. */
Status layer_output_integers(const Call *call, const LayerWeights *weights, const LayerInput *input, DType dtype,
                             double scale, int64_t zero, bool relu, bool corrected, LayerOutput *out) MUST_CHECK;
Status layer_output_numbers(const LayerWeights *weights, const LayerInput *input, bool relu,
                            LayerOutput *out) MUST_CHECK;
void layer_output_dispose(LayerOutput *output);
/* Writes n outputs from `first` on for one row of sums; `to` is bytes or floats. row_sum: of the row's input bytes. */
void layer_output_row(const LayerOutput *output, const LayerWeights *weights, int64_t first, int64_t n,
                      const int32_t *sums, int32_t row_sum, void *to);

/* to[m * ld_to + n] for `count` rows of bytes, ld_a apart, each with quads * 4 readable bytes; the product with group's
 * matrix. Runs on up to `threads`. */
Status layer_run(const LayerWeights *weights, const LayerOutput *output, int group, int64_t count, const uint8_t *a,
                 int64_t ld_a, void *to, int64_t ld_to, int threads) MUST_CHECK;
/* The same on this thread, with room for layer_scratch_ints sums. */
void layer_run_here(const LayerWeights *weights, const LayerOutput *output, int group, int64_t count, const uint8_t *a,
                    int64_t ld_a, void *to, int64_t ld_to, int32_t *scratch);
enum { LAYER_ROWS = 48, LAYER_BLOCKS = 16, LAYER_SCRATCH = LAYER_ROWS * LAYER_BLOCKS * QGEMM_BLOCK };
