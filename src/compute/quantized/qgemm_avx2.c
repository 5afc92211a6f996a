/* Products of bytes with AVX2. Of any bytes: widened to 16 bits, so that the pairwise sums of madd are exact. Of bytes
 * up to 127: maddubs multiplies them as they are, for 2 * 127 * 128 fits 16 bits and nothing saturates. */
#if defined(__x86_64__)
#include "compute/quantized/qgemm.h"

#include <immintrin.h>
#include <string.h>

enum { ROW_TILE = 3, QUAD_BYTES = QGEMM_BLOCK * QGEMM_DEPTH, PARTS = 4 /* of a block: four rows each */ };
#define INLINE static inline __attribute__((always_inline))

/* Four bytes, again and again. */
INLINE __m256i quads_at(const uint8_t *x) {
  int32_t four;
  memcpy(&four, x, sizeof four);
  return _mm256_set1_epi32(four);
}

/* Each sum is of two halves side by side until the end: (r0 a, r0 b, r1 a, r1 b | r2 a, r2 b, r3 a, r3 b). */
INLINE void tile(const int8_t *w, const QRows *from, int64_t first, int32_t *out, int64_t ld_out, const int rows) {
  __m256i sums[ROW_TILE][PARTS];
  const __m256i widen =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1, 1, -1, 2, -1, 3, -1, 0, -1, 1, -1, 2, -1, 3, -1));
  for (int m = 0; m < rows; m++)
    for (int p = 0; p < PARTS; p++) sums[m][p] = _mm256_setzero_si256();
  for (int64_t t = 0; t < from->taps; t++) {
    const uint8_t *x[ROW_TILE];
    for (int m = 0; m < rows; m++) x[m] = from->bases[first + m] + from->offsets[t];
    for (int64_t q = 0; q < from->quads; q++, w += QUAD_BYTES) {
      __m256i fours[ROW_TILE];
      for (int m = 0; m < rows; m++) fours[m] = _mm256_shuffle_epi8(quads_at(x[m] + q * QGEMM_DEPTH), widen);
      for (int p = 0; p < PARTS; p++) {
        __m256i weights = _mm256_cvtepi8_epi16(_mm_load_si128((const __m128i *)(w + p * 16)));
        for (int m = 0; m < rows; m++) sums[m][p] = _mm256_add_epi32(sums[m][p], _mm256_madd_epi16(fours[m], weights));
      }
    }
  }
  for (int m = 0; m < rows; m++)
    for (int p = 0; p < PARTS; p += 2) {
      __m256i both = _mm256_hadd_epi32(sums[m][p], sums[m][p + 1]); /* (p: 0 1, p+1: 0 1 | p: 2 3, p+1: 2 3) */
      _mm256_storeu_si256((__m256i *)(out + (first + m) * ld_out + p * 4),
                          _mm256_permute4x64_epi64(both, _MM_SHUFFLE(3, 1, 2, 0)));
    }
}

void qgemm_avx2(const QMatrix *matrix, int64_t count, const QRows *rows, int32_t *out, int64_t ld_out) {
  for (int64_t b = 0; b < matrix->blocks; b++) {
    const int8_t *w = matrix->data + b * matrix->quads * QUAD_BYTES;
    int32_t *to = out + b * QGEMM_BLOCK;
    int64_t m = 0;
    for (; m + ROW_TILE <= count; m += ROW_TILE) tile(w, rows, m, to, ld_out, ROW_TILE);
    for (; m < count; m++) tile(w, rows, m, to, ld_out, 1);
  }
}

/* ---- bytes up to 127 ---- */

enum { SMALL_ROWS = 3, SMALL_BLOCKS = 2, HALVES = 2 /* of a block: eight rows each */ };

INLINE void small_tile(const int8_t *w, int64_t block_bytes, const QRows *from, int64_t first, int32_t *out,
                       int64_t ld_out, const int rows, const int blocks) {
  __m256i sums[SMALL_ROWS][SMALL_BLOCKS * HALVES];
  const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 4
  for (int m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (int h = 0; h < blocks * HALVES; h++) sums[m][h] = _mm256_setzero_si256();
  for (int64_t t = 0; t < from->taps; t++) {
    const uint8_t *x[SMALL_ROWS];
#pragma GCC unroll 4
    for (int m = 0; m < rows; m++) x[m] = from->bases[first + m] + from->offsets[t];
    for (int64_t q = 0; q < from->quads; q++, w += QUAD_BYTES)
#pragma GCC unroll 4
      for (int m = 0; m < rows; m++) {
        __m256i four = quads_at(x[m] + q * QGEMM_DEPTH);
#pragma GCC unroll 4
        for (int h = 0; h < blocks * HALVES; h++) {
          const __m256i *weights = (const __m256i *)(w + h / HALVES * block_bytes + h % HALVES * 32);
          __m256i pairs = _mm256_maddubs_epi16(four, _mm256_load_si256(weights));
          sums[m][h] = _mm256_add_epi32(sums[m][h], _mm256_madd_epi16(pairs, ones));
        }
      }
  }
#pragma GCC unroll 4
  for (int m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (int h = 0; h < blocks * HALVES; h++)
      _mm256_storeu_si256((__m256i *)(out + (first + m) * ld_out + h * 8), sums[m][h]);
}

INLINE void small_blocks(const QMatrix *matrix, int64_t block, int64_t count, const QRows *rows, int32_t *out,
                         int64_t ld_out, const int blocks) {
  int64_t block_bytes = matrix->quads * QUAD_BYTES, m = 0;
  const int8_t *w = matrix->data + block * block_bytes;
  int32_t *to = out + block * QGEMM_BLOCK;
  for (; m + SMALL_ROWS <= count; m += SMALL_ROWS) small_tile(w, block_bytes, rows, m, to, ld_out, SMALL_ROWS, blocks);
  for (; m < count; m++) small_tile(w, block_bytes, rows, m, to, ld_out, 1, blocks);
}

void qgemm_avx2_small(const QMatrix *matrix, int64_t count, const QRows *rows, int32_t *out, int64_t ld_out) {
  int64_t b = 0;
  for (; b + SMALL_BLOCKS <= matrix->blocks; b += SMALL_BLOCKS)
    small_blocks(matrix, b, count, rows, out, ld_out, SMALL_BLOCKS);
  for (; b < matrix->blocks; b++) small_blocks(matrix, b, count, rows, out, ld_out, 1);
}
#else
typedef int qgemm_avx2_has_nothing_to_compile;
#endif
