/* half.h with F16C. */
#include "tensor/half.h"

#include <immintrin.h>

void floats_from_halves_avx2(int64_t n, float *to, const uint16_t *from) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
  for (; i < n; i++) to[i] = _cvtsh_ss(from[i]);
}
void halves_from_floats_avx2(int64_t n, uint16_t *to, const float *from) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) to[i] = _cvtss_sh(from[i], _MM_FROUND_TO_NEAREST_INT);
}
