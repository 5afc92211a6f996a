/* Flat convolution in vectors of 16: 24 sums, three inputs and a weight in 32 registers. */
#include <immintrin.h>

#include "compute/conv/flat_tile.h"

typedef __m512 V;
typedef __mmask16 Mask;
enum { LANES = 16, STEP = 8, TALL = 8, PATCH = 14 };
#define VECTORS 3
#define DOT_TALL 8
#define KERNELS flat_kernels_avx512
#define DIRECT direct
static inline Mask mask_of(int n) {
  return (Mask)((1u << n) - 1);
}
static inline V load(const float *p) {
  return _mm512_loadu_ps(p);
}
static inline V load_masked(const float *p, Mask m) {
  return _mm512_maskz_loadu_ps(m, p);
}
static inline void store(float *p, V x) {
  _mm512_storeu_ps(p, x);
}
static inline void store_masked(float *p, Mask m, V x) {
  _mm512_mask_storeu_ps(p, m, x);
}
static inline V splat(float x) {
  return _mm512_set1_ps(x);
}
static inline V multiply_add(V a, V b, V c) {
  return _mm512_fmadd_ps(a, b, c);
}
static inline V plus(V a, V b) {
  return _mm512_add_ps(a, b);
}
/* Half a vector holds all of a panel's rows. */
#define HALVES
typedef __m256 R;
enum { R_LANES = 8 };
static inline R load_rows(const float *p) {
  return _mm256_loadu_ps(p);
}
static inline void store_rows(float *p, R x) {
  _mm256_storeu_ps(p, x);
}
static inline R splat_rows(float x) {
  return _mm256_set1_ps(x);
}
static inline R multiply_add_rows(R a, R b, R c) {
  return _mm256_fmadd_ps(a, b, c);
}
static inline R plus_rows(R a, R b) {
  return _mm256_add_ps(a, b);
}
static inline V minus(V a, V b) {
  return _mm512_sub_ps(a, b);
}
static inline V multiply(V a, V b) {
  return _mm512_mul_ps(a, b);
}
static inline V divide(V a, V b) {
  return _mm512_div_ps(a, b);
}
/* Minimum and maximum give their second operand where one is NaN, so NaN stays. */
static inline V clamp(V x, V low, V high) {
  return _mm512_min_ps(high, _mm512_max_ps(low, x));
}
static inline V greater(V x, V y) {
  __mmask16 takes = _mm512_cmp_ps_mask(x, y, _CMP_GT_OQ) | _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_blend_ps(takes, y, x);
}
/* 1 + e^-x. With n the nearest integer to -x 16 / ln 2, e^-x is 2^(n / 16) times a cubic minimax fit to e^r for
 * |r| <= ln(2)/32. The power is one of 16 in a register, whose exponents are less by n / 16 of their own, plus n / 16
 * in the place of an exponent. Infinite for x below -88.71: what is divided by it is 0 there, and NaN for -infinity. */
static inline __attribute__((always_inline)) V one_and_exp_minus(V x) {
  static const uint32_t powers[LANES] = {0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532,
                                         0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c,
                                         0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d};
  const float round = 0x1.8p23f, sixteenths = 0x1.715476p+4f, ln2_hi = 0x1.62e4p-5f, ln2_lo = 0x1.7f7d1cp-24f;
  V t = clamp(x, splat(-88.74F), splat(87));
  V shifted = _mm512_fnmadd_ps(t, splat(sixteenths), splat(round)), n = minus(shifted, splat(round));
  __m512i bits = _mm512_castps_si512(shifted), power = _mm512_permutexvar_epi32(bits, _mm512_loadu_si512(powers));
  power = _mm512_add_epi32(power, _mm512_slli_epi32(bits, 19));
  V r = _mm512_fnmadd_ps(n, splat(ln2_lo), _mm512_fnmsub_ps(n, splat(ln2_hi), t));
  V p = multiply_add(multiply_add(multiply_add(splat(0.16667F), r, splat(0.5000162F)), r, splat(1)), r, splat(1));
  return multiply_add(_mm512_castsi512_ps(power), p, splat(1));
}
/* x[0] y[0] x[1] y[1] ... */
static inline void interleave(V x, V y, V *low, V *high) {
  __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
          second = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  *low = _mm512_permutex2var_ps(x, first, y);
  *high = _mm512_permutex2var_ps(x, second, y);
}
/* The way back. */
static inline void deinterleave(V low, V high, V *x, V *y) {
  __m512i first = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
          second = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  *x = _mm512_permutex2var_ps(low, first, high);
  *y = _mm512_permutex2var_ps(low, second, high);
}
/* p[0], p[2], ... of which n are wanted. */
static inline V evens(const float *p, int n) {
  __m512i places = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  V low = load_masked(p, mask_of(n <= 8 ? 2 * n - 1 : 16)), high = splat(0);
  if (n > 8) high = load_masked(p + 16, mask_of(2 * n - 17));
  return _mm512_permutex2var_ps(low, places, high);
}
static inline __attribute__((always_inline)) void transpose(V *x) {
  V t[LANES];
  _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i += 2) {
    t[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i += 4) {
    for (int h = 0; h < 2; h++) {
      __m512d a = _mm512_castps_pd(t[i + h]), b = _mm512_castps_pd(t[i + 2 + h]);
      x[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
      x[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
  }
  _Pragma("GCC unroll 16") for (int i = 0; i < 4; i++) {
    V a = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x88), b = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xdd),
      c = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x88), d = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xdd);
    x[i] = _mm512_shuffle_f32x4(a, c, 0x88);
    x[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
    x[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
    x[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}
#include "compute/conv/flat_tile_body.h"
