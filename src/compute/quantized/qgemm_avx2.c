/* Products of bytes with AVX2: widened to 16 bits, so that the pairwise sums of madd are exact. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "compute/quantized/qgemm.h"

enum { ROW_TILE = 2, QUAD_BYTES = QGEMM_BLOCK * QGEMM_DEPTH, PARTS = 4 /* of a block: four rows each */ };

/* Each sum is of two halves side by side until the end: (r0 a, r0 b, r1 a, r1 b | r2 a, r2 b, r3 a, r3 b). */
static inline __attribute__((always_inline)) void tile(const int8_t *w, int64_t quads, const uint8_t *a, int64_t ld_a,
                                                       int32_t *out, int64_t ld_out, const int rows) {
  __m256i sums[ROW_TILE][PARTS];
  for (int m = 0; m < rows; m++)
    for (int p = 0; p < PARTS; p++) sums[m][p] = _mm256_setzero_si256();
  for (int64_t q = 0; q < quads; q++) {
    __m256i weights[PARTS];
    for (int p = 0; p < PARTS; p++)
      weights[p] = _mm256_cvtepi8_epi16(_mm_load_si128((const __m128i *)(w + q * QUAD_BYTES + p * 16)));
    for (int m = 0; m < rows; m++) {
      int32_t four;
      memcpy(&four, a + m * ld_a + q * QGEMM_DEPTH, sizeof four);
      __m256i x = _mm256_broadcastq_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(four)));
      for (int p = 0; p < PARTS; p++) sums[m][p] = _mm256_add_epi32(sums[m][p], _mm256_madd_epi16(x, weights[p]));
    }
  }
  for (int m = 0; m < rows; m++)
    for (int p = 0; p < PARTS; p += 2) {
      __m256i both = _mm256_hadd_epi32(sums[m][p], sums[m][p + 1]); /* (p: 0 1, p+1: 0 1 | p: 2 3, p+1: 2 3) */
      _mm256_storeu_si256((__m256i *)(out + m * ld_out + p * 4),
                          _mm256_permute4x64_epi64(both, _MM_SHUFFLE(3, 1, 2, 0)));
    }
}

void qgemm_avx2(const QMatrix *matrix, int64_t count, const uint8_t *a, int64_t ld_a, int32_t *out, int64_t ld_out) {
  for (int64_t b = 0; b < matrix->blocks; b++) {
    const int8_t *w = matrix->data + b * matrix->quads * QUAD_BYTES;
    int64_t m = 0;
    for (; m + ROW_TILE <= count; m += ROW_TILE)
      tile(w, matrix->quads, a + m * ld_a, ld_a, out + m * ld_out + b * QGEMM_BLOCK, ld_out, ROW_TILE);
    for (; m < count; m++) tile(w, matrix->quads, a + m * ld_a, ld_a, out + m * ld_out + b * QGEMM_BLOCK, ld_out, 1);
  }
}
#else
typedef int qgemm_avx2_has_nothing_to_compile;
#endif
