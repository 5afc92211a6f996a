/* The vectorized loops with 256-bit vectors, fused multiplication and addition, and half conversions. */
#include <immintrin.h>
#include <stdint.h>

#define TILE_LOOPS tile_loops_avx2
#define FUSED 1
/* Compilers don't vectorize these conversions by themselves. */
static void load_half(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  float *to = to_block;
  const uint16_t *a = a_block;
  int64_t i = 0;
  (void)b_block, (void)c_block;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(a + i))));
  for (; i < n; i++) to[i] = _cvtsh_ss(a[i]);
}
static void store_half(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  uint16_t *to = to_block;
  const float *a = a_block;
  int64_t i = 0;
  (void)b_block, (void)c_block;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(a + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) to[i] = _cvtss_sh(a[i], _MM_FROUND_TO_NEAREST_INT);
}
#define HALF_LOOPS
#include "tile/loops_body.h"
