/* The loops around products of bytes, for one instruction set: NAME is the table. No contraction: (x + b) * m rounds
 * twice everywhere. */
#include <math.h>

#include "compute/quantized/qgemm.h"
#include "compute/quantized/quantized_lanes.h"

INLINE Words requantized(const Requantization *r, int64_t i, Words sums) {
  Floats x = __builtin_convertvector((Ints)(sums + words_at(r->int_bias + i)), Floats) + floats_at(r->float_bias + i);
  Ints nearest =
      limited_integers(x * floats_at(r->multiplier + i) + r->offset, r->low - (Floats){0}, r->high - (Floats){0});
  return (Words)nearest + (uint32_t)r->zero;
}

static void requantize_row(const Requantization *r, int64_t n, const int32_t *restrict sums, int32_t row_correction,
                           const int32_t *weight_zero, uint8_t *restrict out) {
  const Requantization how = *r;
  for (int64_t i = 0; i < n; i += LANES) {
    Words some = words_at(sums + i);
    if (weight_zero) some -= (uint32_t)row_correction * words_at(weight_zero + i);
    store_bytes(out + i, n - i, requantized(&how, i, some));
  }
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

/* Sums of some channels stay in registers over all taps. */
static void depthwise(int64_t n, int64_t taps, const uint8_t *restrict x, const int64_t *restrict offsets,
                      const int16_t *restrict w, const int32_t *restrict from, int32_t *restrict sums) {
  int64_t c = 0;
  for (; c + LANES <= n; c += LANES) {
    Words some = words_at(from + c);
    for (int64_t t = 0; t < taps; t++) some += bytes_at(x + offsets[t] + c) * shorts_at(w + t * n + c);
    memcpy(sums + c, &some, sizeof some);
  }
  for (; c < n; c++) {
    uint32_t sum = (uint32_t)from[c];
    for (int64_t t = 0; t < taps; t++) sum += (uint32_t)(x[offsets[t] + c] * w[t * n + c]);
    sums[c] = (int32_t)sum;
  }
}

static int32_t sum_bytes(int64_t n, const uint8_t *restrict x) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

static uint8_t join_bytes(int64_t n, const uint8_t *restrict x) {
  uint8_t all = 0;
  for (int64_t i = 0; i < n; i++) all |= x[i];
  return all;
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

static void quantize_fused(int64_t n, const float *restrict x, float inverse, int32_t zero, uint8_t *restrict out) {
  for (int64_t i = 0; i < n; i++) {
    float y = rintf(fmaf(x[i], inverse, (float)zero));
    y = y > 0 ? y : 0;
    y = y < 255 ? y : 255;
    out[i] = (uint8_t)y;
  }
}

static void min_max(int64_t n, const float *restrict x, float *least, float *most) {
  enum { APART = 16 };
  float low[APART], high[APART];
  for (int k = 0; k < APART; k++) low[k] = *least, high[k] = *most;
  int64_t i = 0;
  for (; i + APART <= n; i += APART)
    for (int k = 0; k < APART; k++) {
      low[k] = x[i + k] < low[k] ? x[i + k] : low[k];
      high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
    }
  for (; i < n; i++) {
    low[0] = x[i] < low[0] ? x[i] : low[0];
    high[0] = x[i] > high[0] ? x[i] : high[0];
  }
  for (int k = 0; k < APART; k++) {
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

const QuantizedLoops NAME = {requantize_row, scale_row,      depthwise, sum_bytes, join_bytes,
                             quantize,       quantize_fused, min_max,   add_uint8, add_int8};
