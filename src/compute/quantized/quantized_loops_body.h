/* The loops around products of bytes, for one instruction set: NAME is the table. No contraction: (x + b) * m rounds
 * twice everywhere. */
#include <math.h>

#include "compute/quantized/qgemm.h"

static inline uint8_t requantized(float x, float multiplier, const Requantization *r) {
  float y = rintf(x * multiplier + r->offset);
  y = y > r->low ? y : r->low;
  y = y < r->high ? y : r->high;
  return (uint8_t)((int32_t)y + r->zero);
}

static void requantize_row(const Requantization *r, int64_t n, const int32_t *restrict sums, int32_t row_correction,
                           const int32_t *weight_zero, uint8_t *restrict out) {
  const int32_t *restrict int_bias = r->int_bias;
  const float *restrict float_bias = r->float_bias, *restrict multiplier = r->multiplier;
  const Requantization how = *r;
  if (weight_zero)
    for (int64_t i = 0; i < n; i++)
      out[i] = requantized((float)(int32_t)((uint32_t)sums[i] + (uint32_t)int_bias[i] -
                                            (uint32_t)row_correction * (uint32_t)weight_zero[i]) +
                               float_bias[i],
                           multiplier[i], &how);
  else
    for (int64_t i = 0; i < n; i++)
      out[i] =
          requantized((float)(int32_t)((uint32_t)sums[i] + (uint32_t)int_bias[i]) + float_bias[i], multiplier[i], &how);
}

static void scale_row(const Requantization *r, int64_t n, const int32_t *restrict sums, int32_t row_correction,
                      const int32_t *weight_zero, float *restrict out) {
  const int32_t *restrict int_bias = r->int_bias;
  const float *restrict float_bias = r->float_bias, *restrict multiplier = r->multiplier;
  if (weight_zero)
    for (int64_t i = 0; i < n; i++)
      out[i] = (float)(int32_t)((uint32_t)sums[i] + (uint32_t)int_bias[i] -
                                (uint32_t)row_correction * (uint32_t)weight_zero[i]) *
                   multiplier[i] +
               float_bias[i];
  else
    for (int64_t i = 0; i < n; i++)
      out[i] = (float)(int32_t)((uint32_t)sums[i] + (uint32_t)int_bias[i]) * multiplier[i] + float_bias[i];
}

static void multiply_add(int64_t n, int32_t *restrict sums, const uint8_t *restrict x, int32_t x_zero,
                         const int16_t *restrict w) {
  for (int64_t i = 0; i < n; i++) sums[i] += ((int32_t)x[i] - x_zero) * w[i];
}

static int32_t sum_bytes(int64_t n, const uint8_t *restrict x) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

static void quantize(int64_t n, const float *restrict x, float inverse, int32_t zero, uint8_t *restrict out) {
  float low = (float)-zero, high = (float)(255 - zero);
  for (int64_t i = 0; i < n; i++) {
    float y = rintf(x[i] * inverse);
    y = y > low ? y : low;
    y = y < high ? y : high;
    out[i] = (uint8_t)((int32_t)y + zero);
  }
}

static void min_max(int64_t n, const float *restrict x, float *least, float *most) {
  enum { LANES = 16 };
  float low[LANES], high[LANES];
  for (int k = 0; k < LANES; k++) low[k] = *least, high[k] = *most;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int k = 0; k < LANES; k++) {
      low[k] = x[i + k] < low[k] ? x[i + k] : low[k];
      high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
    }
  for (; i < n; i++) {
    low[0] = x[i] < low[0] ? x[i] : low[0];
    high[0] = x[i] > high[0] ? x[i] : high[0];
  }
  for (int k = 0; k < LANES; k++) {
    *least = low[k] < *least ? low[k] : *least;
    *most = high[k] > *most ? high[k] : *most;
  }
}

#define ADD(type)                                                                                                    \
  static void add_##type(const QuantizedSum *sum, int64_t n, const type##_t *restrict a, const type##_t *restrict b, \
                         type##_t *restrict out) {                                                                   \
    const QuantizedSum s = *sum;                                                                                     \
    float least = s.relu ? 0 : -INFINITY;                                                                            \
    for (int64_t i = 0; i < n; i++) {                                                                                \
      float x = fmaf((float)a[i], s.scale_a, s.shift_a) + fmaf((float)b[i], s.scale_b, s.shift_b);                   \
      x = x > least ? x : least;                                                                                     \
      float y = rintf(x * s.inverse);                                                                                \
      y = y > s.low ? y : s.low;                                                                                     \
      y = y < s.high ? y : s.high;                                                                                   \
      out[i] = (type##_t)((int32_t)y + s.zero);                                                                      \
    }                                                                                                                \
  }
ADD(uint8)
ADD(int8)

const QuantizedLoops NAME = {requantize_row, scale_row, multiply_add, sum_bytes,
                             quantize,       min_max,   add_uint8,    add_int8};
