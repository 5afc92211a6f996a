/* Weights of quantized layers, packed, and how sums of products become the layer's output. */
#pragma once

#include "call/call.h"
#include "compute/quantized/qgemm.h"

/* `outputs` rows of taps * depth signed bytes, in `groups` of equal size, with a scale and a zero point each. */
typedef struct LayerWeights {
  int64_t outputs, taps, depth;
  int groups;
  QMatrix *matrices; /* one for each group */
  float *scales;
  int32_t *zeros, *sums; /* of each row: zero point, sum of its bytes */
  float *bias;           /* zeros where there is none */
  bool has_zeros, has_bias;
} LayerWeights;

/* `rows` holds outputs * taps * depth bytes; how they are quantized says `weight`, which layer_check took; bias may be
 * NULL. Scales must be positive numbers. */
Status layer_pack(const int8_t *rows, int64_t outputs, int64_t taps, int64_t depth, int groups, const Tensor *weight,
                  const Tensor *bias, LayerWeights *out) MUST_CHECK;
void layer_dispose(LayerWeights *weights);
/* A signed-byte weight whose quantizer layer_pack can take, and a bias of `outputs` floats or none. */
Status layer_check(const Tensor *weight, int ndim, int64_t axis, int64_t outputs, const Tensor *bias) MUST_CHECK;

/* What a layer computes from: bytes, unsigned once `flip` is applied to them by exclusive or. */
typedef struct LayerInput {
  Tensor *bytes; /* owned */
  double scale;
  int32_t zero; /* of the unsigned bytes */
  uint8_t flip; /* 0, or 0x80: signed bytes plus 128 are unsigned ones with another zero point */
} LayerInput;
/* Of a quint8 or qint8 tensor per tensor: the tensor as it lies. */
Status layer_input(const Call *call, const Tensor *x, LayerInput *out) MUST_CHECK;
/* Of numbers, quantized by their range, what dynamic layers do: row-major and unsigned. `fused`: with one rounding. */
Status layer_input_dynamic(const Call *call, const Tensor *x, bool reduce_range, bool fused,
                           LayerInput *out) MUST_CHECK;
/* Row-major and unsigned from now on. */
Status layer_input_settle(LayerInput *input) MUST_CHECK;
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

/* to[m * ld_to + n] for `count` rows of bytes, ld_a apart, each of whole quads (QGEMM_DEPTH), of a layer of one group
 * and one tap. Runs on up to `threads`. */
Status layer_run(const LayerWeights *weights, const LayerOutput *output, int64_t count, const uint8_t *a, int64_t ld_a,
                 void *to, int64_t ld_to, int threads) MUST_CHECK;

/* A part of the product: some blocks of a group's matrix with up to LAYER_ROWS rows. */
typedef struct LayerTile {
  int group;
  int64_t block, blocks; /* up to LAYER_BLOCKS */
  bool is_small;         /* no byte is above 127 */
} LayerTile;
enum { LAYER_ROWS = 48, LAYER_BLOCKS = 8, LAYER_SCRATCH = LAYER_ROWS * LAYER_BLOCKS * QGEMM_BLOCK };
/* Rows start at `to`, with the layer's first output. scratch: LAYER_SCRATCH sums. */
void layer_run_tile(const LayerWeights *weights, const LayerOutput *output, LayerTile tile, int64_t count,
                    const QRows *rows, void *to, int64_t ld_to, int32_t *scratch);
/* How many columns of LAYER_BLOCKS a group has, and the tile of one. */
int64_t layer_columns(const LayerWeights *weights);
LayerTile layer_column(const LayerWeights *weights, int group, int64_t column, bool is_small);
/* Rows that a tile takes, so that `count` rows make tiles of nearly one size. */
int64_t layer_tile_rows(int64_t count);
/* Whether no byte is above 127, where the processor gains of it. */
bool layer_is_small(const uint8_t *bytes, int64_t count);
