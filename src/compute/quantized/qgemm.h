/* Products of unsigned bytes with signed bytes, summed exactly in int32: what linear layers and convolutions of
 * quantized tensors are made of. The right side is packed once: blocks of QGEMM_BLOCK rows (output channels), within
 * one, four consecutive depths of each row after the other, so that a 512-bit dot product takes 16 rows at a time. */
#pragma once

#include "base/status.h"

enum { QGEMM_BLOCK = 16, QGEMM_DEPTH = 4 };

typedef struct QMatrix {
  int64_t rows;
  int64_t blocks, quads; /* rows / QGEMM_BLOCK, rounded up, and quads of all taps; what is missing is zero */
  int8_t *data;          /* blocks * quads * 64 bytes, aligned to 64; owned */
  void *memory;
} QMatrix;

/* Row r's tap t holds `depth` numbers from from[(r * taps + t) * depth] on; each tap is packed to whole quads. A plain
 * matrix has one tap. */
Status qmatrix_pack(const int8_t *from, int64_t rows, int64_t taps, int64_t depth, QMatrix *out) MUST_CHECK;
void qmatrix_dispose(QMatrix *matrix);

/* The left side: row m's tap t is quads * QGEMM_DEPTH bytes at bases[m] + offsets[t], those beyond the depth anything
 * (zeros for layers with zero points, which sum them, too). So a convolution multiplies its input where it lies.
 * taps * quads are the matrix's quads; neighboring taps may count as one. */
typedef struct QRows {
  const uint8_t *const *bases;
  const int64_t *offsets;
  int64_t taps, quads;
} QRows;

/* out[m * ld_out + n] = the product of row m with row n of the matrix, for m < count, n < blocks * QGEMM_BLOCK: rows of
 * `out` hold whole blocks. */
typedef void QGemm(const QMatrix *matrix, int64_t count, const QRows *rows, int32_t *out, int64_t ld_out);
/* For this processor. is_small: no byte of the left side is above 127, so that the sum of two products fits 16 bits. */
QGemm *qgemm(bool is_small);
bool qgemm_gains_of_small(void); /* whether is_small makes a difference */
QGemm qgemm_portable, qgemm_avx2, qgemm_avx2_small, qgemm_avx512;

/* How sums become integers of the output: rint((sum + int_bias[n] + float_bias[n]) * multiplier[n] + offset), between
 * low and high, plus zero. The engines differ in which bias there is, and in whether the zero point is added before
 * rounding (offset) or after (zero). */
typedef struct Requantization {
  const int32_t *int_bias;
  const float *float_bias;
  const float *multiplier;
  float offset, low, high;
  int32_t zero;
} Requantization;
/* One row of n sums. row_correction, of the row's bytes, is multiplied by weight_zero[n] and taken off (NULL: no zero
 * points). What is read, but for `out`, goes on to a multiple of QGEMM_BLOCK. */
typedef void RequantizeRow(const Requantization *r, int64_t n, const int32_t *sums, int32_t row_correction,
                           const int32_t *weight_zero, uint8_t *out);
/* float: (sum + int_bias[n]) * multiplier[n] + float_bias[n]. */
typedef void ScaleRow(const Requantization *r, int64_t n, const int32_t *sums, int32_t row_correction,
                      const int32_t *weight_zero, float *out);
/* rint((a * scale_a + shift_a + b * scale_b + shift_b) * inverse) + zero of bytes; both products fused. */
typedef struct QuantizedSum {
  float scale_a, scale_b, shift_a, shift_b, inverse;
  float low, high; /* before `zero` is added */
  int32_t zero;
  bool relu; /* of the sum */
} QuantizedSum;
typedef struct QuantizedLoops {
  RequantizeRow *requantize;
  ScaleRow *scale;
  /* Depthwise: sums[c] = from[c] plus, over taps t, x[offsets[t] + c] * w[t * n + c]. */
  void (*depthwise)(int64_t n, int64_t taps, const uint8_t *x, const int64_t *offsets, const int16_t *w,
                    const int32_t *from, int32_t *sums);
  int32_t (*sum_bytes)(int64_t n, const uint8_t *x);
  uint8_t (*join_bytes)(int64_t n, const uint8_t *x); /* all of them, or-ed */
  /* q = clamp(rint(x * inverse) + zero) of floats, to bytes 0..255 */
  void (*quantize)(int64_t n, const float *x, float inverse, int32_t zero, uint8_t *out);
  /* q = clamp(rint(fma(x, inverse, zero))), rounded once before it is an integer */
  void (*quantize_fused)(int64_t n, const float *x, float inverse, int32_t zero, uint8_t *out);
  void (*min_max)(int64_t n, const float *x, float *least, float *most);
  void (*add_uint8)(const QuantizedSum *s, int64_t n, const uint8_t *a, const uint8_t *b, uint8_t *out);
  void (*add_int8)(const QuantizedSum *s, int64_t n, const int8_t *a, const int8_t *b, int8_t *out);
} QuantizedLoops;
const QuantizedLoops *quantized_loops(void);
extern const QuantizedLoops quantized_loops_portable, quantized_loops_avx2, quantized_loops_avx512;
