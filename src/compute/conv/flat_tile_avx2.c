/* Flat convolution in vectors of 8: 12 sums, three inputs and a weight in 16 registers. */
#include <immintrin.h>

#include "compute/conv/flat_tile.h"

typedef __m256 V;
typedef struct Mask {
  int n; /* lanes */
} Mask;
enum { LANES = 8, STEP = 4, TALL = 8, PATCH = 6 };
#define FUSED 1
#define VECTORS 3
#define DOT_TALL 4
#define KERNELS flat_kernels_avx2
static inline Mask mask_of(int n) {
  return (Mask){n};
}
static inline V load(const float *p) {
  return _mm256_loadu_ps(p);
}
static inline __m256i lanes_below(int n) {
  static const int32_t bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const __m256i *)(bits + 8 - n));
}
static inline V load_masked(const float *p, Mask m) {
  return m.n == LANES ? load(p) : _mm256_maskload_ps(p, lanes_below(m.n));
}
static inline void store(float *p, V x) {
  _mm256_storeu_ps(p, x);
}
/* In pieces: on AMD's processors a masked store takes as long as ten others. */
static inline __attribute__((always_inline)) void store_masked(float *p, Mask m, V x) {
  if (m.n == LANES) {
    _mm256_storeu_ps(p, x);
    return;
  }
  __m128 part = _mm256_castps256_ps128(x);
  if (m.n & 4) {
    _mm_storeu_ps(p, part);
    part = _mm256_extractf128_ps(x, 1);
    p += 4;
  }
  if (m.n & 2) {
    _mm_storel_pi((__m64 *)p, part);
    part = _mm_movehl_ps(part, part);
    p += 2;
  }
  if (m.n & 1) _mm_store_ss(p, part);
}
static inline V splat(float x) {
  return _mm256_set1_ps(x);
}
static inline V multiply_add(V a, V b, V c) {
  return _mm256_fmadd_ps(a, b, c);
}
static inline V plus(V a, V b) {
  return _mm256_add_ps(a, b);
}
static inline V minus(V a, V b) {
  return _mm256_sub_ps(a, b);
}
static inline V multiply(V a, V b) {
  return _mm256_mul_ps(a, b);
}
static inline V divide(V a, V b) {
  return _mm256_div_ps(a, b);
}
/* Minimum and maximum give their second operand where one is NaN, so NaN stays. */
static inline V clamp(V x, V low, V high) {
  return _mm256_min_ps(high, _mm256_max_ps(low, x));
}
static inline V greater(V x, V y) {
  return _mm256_blendv_ps(_mm256_max_ps(x, y), x,
                          _mm256_cmp_ps(x, x, _CMP_UNORD_Q)); /* the maximum is y where y is NaN */
}
/* The low bits of each lane in the place of an exponent. */
static inline V exponents(V x) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23));
}
/* x[0] y[0] x[1] y[1] ... */
static inline void interleave(V x, V y, V *first, V *second) {
  V low = _mm256_unpacklo_ps(x, y), high = _mm256_unpackhi_ps(x, y);
  *first = _mm256_permute2f128_ps(low, high, 0x20);
  *second = _mm256_permute2f128_ps(low, high, 0x31);
}
/* The way back. */
static inline void deinterleave(V low, V high, V *x, V *y) {
  __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0x88)),
          odd = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0xdd));
  *x = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
  *y = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}
/* p[0], p[2], ... of which n are wanted; nothing is read beyond the last of them. */
static inline V evens(const float *p, int n) {
  if (n == LANES) {
    __m256d both = _mm256_castps_pd(_mm256_shuffle_ps(load(p), load(p + 7), _MM_SHUFFLE(3, 1, 2, 0)));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(both, 0xd8));
  }
  V low = load_masked(p, mask_of(n <= 4 ? 2 * n - 1 : 8)), high = splat(0);
  if (n > 4) high = load_masked(p + 8, mask_of(2 * n - 9));
  __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0x88));
  return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xd8));
}
static inline __attribute__((always_inline)) void transpose(V *x) {
  V t[LANES], u[LANES];
  _Pragma("GCC unroll 8") for (int i = 0; i < LANES; i += 2) {
    t[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
  _Pragma("GCC unroll 8") for (int i = 0; i < LANES; i += 4) {
    for (int h = 0; h < 2; h++) {
      u[i + 2 * h] = _mm256_shuffle_ps(t[i + h], t[i + 2 + h], 0x44);
      u[i + 2 * h + 1] = _mm256_shuffle_ps(t[i + h], t[i + 2 + h], 0xee);
    }
  }
  _Pragma("GCC unroll 8") for (int i = 0; i < 4; i++) {
    x[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    x[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}
#include "compute/conv/flat_exp_body.h"
#include "compute/conv/flat_tile_body.h"
