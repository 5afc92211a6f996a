/* Products of unsigned bytes with signed bytes, summed exactly in int32: what linear layers and convolutions of
 * quantized tensors are made of. The right side is packed once: blocks of QGEMM_BLOCK rows (output channels), within
 * one, four consecutive depths of each row after the other, so that a 512-bit dot product takes 16 rows at a time. */
#pragma once

#include "base/memory.h"

enum { QGEMM_BLOCK = 16, QGEMM_DEPTH = 4 };

typedef struct QMatrix {
  int64_t rows, depth;   /* as given */
  int64_t blocks, quads; /* rows / QGEMM_BLOCK and depth / QGEMM_DEPTH, rounded up; what is missing is zero */
  int8_t *data;          /* blocks * quads * 64 bytes, aligned to 64; owned */
  void *memory;
} QMatrix;

/* Row r's depth k is at from[r * row_stride + k]. */
Status qmatrix_pack(const int8_t *from, int64_t rows, int64_t depth, int64_t row_stride, QMatrix *out) MUST_CHECK;
void qmatrix_dispose(QMatrix *matrix);

/* out[m * ld_out + n] = sum over k of a[m * ld_a + k] * matrix(n, k) for m < count, n < blocks * QGEMM_BLOCK. Rows of
 * `a` hold quads * QGEMM_DEPTH bytes (behind the depth anything); rows of `out` all blocks. */
typedef void QGemm(const QMatrix *matrix, int64_t count, const uint8_t *a, int64_t ld_a, int32_t *out, int64_t ld_out);
QGemm *qgemm(void); /* for this processor */
QGemm qgemm_portable, qgemm_avx2, qgemm_avx512;

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
/* One row of n sums. row_correction is multiplied by weight_zero[n] and taken off (NULL: no zero points). */
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
  /* Depthwise: sums[c] += (x[c] - x_zero) * (w[c] - w_zero[c]); w_zero NULL: zero. */
  void (*multiply_add)(int64_t n, int32_t *sums, const uint8_t *x, int32_t x_zero, const int16_t *w);
  int32_t (*sum_bytes)(int64_t n, const uint8_t *x);
  /* q = clamp(rint(x * inverse) + zero) of floats, to bytes 0..255 */
  void (*quantize)(int64_t n, const float *x, float inverse, int32_t zero, uint8_t *out);
  void (*min_max)(int64_t n, const float *x, float *least, float *most);
  void (*add_uint8)(const QuantizedSum *s, int64_t n, const uint8_t *a, const uint8_t *b, uint8_t *out);
  void (*add_int8)(const QuantizedSum *s, int64_t n, const int8_t *a, const int8_t *b, int8_t *out);
} QuantizedLoops;
const QuantizedLoops *quantized_loops(void);
extern const QuantizedLoops quantized_loops_portable, quantized_loops_avx2, quantized_loops_avx512;
