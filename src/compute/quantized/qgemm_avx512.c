/* Products of bytes with the dot products of AVX-512 VNNI: four depths of 16 rows in an instruction. */
#if defined(__x86_64__)
#include "compute/quantized/qgemm.h"

#include <immintrin.h>
#include <string.h>

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"), always_inline)) static inline
enum { ROW_TILE = 6, BLOCK_TILE = 4, LINE_TILE = 8, QUAD_BYTES = QGEMM_BLOCK * QGEMM_DEPTH };

/* `rows` rows times `blocks` blocks; both are constants where this is inlined, so the sums stay in registers. */
VNNI void tile(const int8_t *w, int64_t block_bytes, const QRows *from, int64_t first, int32_t *out, int64_t ld_out,
               const int rows, const int blocks) {
  __m512i sums[ROW_TILE][LINE_TILE];
#pragma GCC unroll 8
  for (int m = 0; m < rows; m++)
#pragma GCC unroll 8
    for (int b = 0; b < blocks; b++) sums[m][b] = _mm512_setzero_si512();
  for (int64_t t = 0; t < from->taps; t++) {
    const uint8_t *x[ROW_TILE];
#pragma GCC unroll 8
    for (int m = 0; m < rows; m++) x[m] = from->bases[first + m] + from->offsets[t];
    for (int64_t q = 0; q < from->quads; q++, w += QUAD_BYTES) {
      __m512i weights[LINE_TILE];
#pragma GCC unroll 8
      for (int b = 0; b < blocks; b++) weights[b] = _mm512_load_si512((const void *)(w + b * block_bytes));
#pragma GCC unroll 8
      for (int m = 0; m < rows; m++) {
        int32_t four;
        memcpy(&four, x[m] + q * QGEMM_DEPTH, sizeof four);
        __m512i all = _mm512_set1_epi32(four);
#pragma GCC unroll 8
        for (int b = 0; b < blocks; b++) sums[m][b] = _mm512_dpbusd_epi32(sums[m][b], all, weights[b]);
      }
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < rows; m++)
#pragma GCC unroll 8
    for (int b = 0; b < blocks; b++)
      _mm512_storeu_si512((void *)(out + (first + m) * ld_out + b * QGEMM_BLOCK), sums[m][b]);
}

typedef void Tile(const int8_t *w, int64_t block_bytes, const QRows *from, int64_t first, int32_t *out, int64_t ld_out);
#define TILE(rows, blocks)                                                                                    \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))) static void tile_##rows##_##blocks(         \
      const int8_t *w, int64_t block_bytes, const QRows *from, int64_t first, int32_t *out, int64_t ld_out) { \
    tile(w, block_bytes, from, first, out, ld_out, rows, blocks);                                             \
  }
#define TILES(blocks) TILE(1, blocks) TILE(2, blocks) TILE(3, blocks) TILE(4, blocks) TILE(5, blocks) TILE(6, blocks)
TILES(1)
TILES(2)
TILES(3)
TILES(4)
TILE(1, 8)
#define TILE_NAMES(blocks) \
  { tile_1_##blocks, tile_2_##blocks, tile_3_##blocks, tile_4_##blocks, tile_5_##blocks, tile_6_##blocks }
static Tile *const tiles[BLOCK_TILE][ROW_TILE] = {TILE_NAMES(1), TILE_NAMES(2), TILE_NAMES(3), TILE_NAMES(4)};

void qgemm_avx512(const QMatrix *matrix, int64_t count, const QRows *rows, int32_t *out, int64_t ld_out) {
  int64_t block_bytes = matrix->quads * QUAD_BYTES, b = 0;
  if (count == 1)
    for (; b + LINE_TILE <= matrix->blocks; b += LINE_TILE)
      tile_1_8(matrix->data + b * block_bytes, block_bytes, rows, 0, out + b * QGEMM_BLOCK, ld_out);
  for (; b < matrix->blocks; b += BLOCK_TILE) {
    int64_t blocks = matrix->blocks - b < BLOCK_TILE ? matrix->blocks - b : BLOCK_TILE;
    for (int64_t m = 0; m < count; m += ROW_TILE) {
      int64_t more = count - m < ROW_TILE ? count - m : ROW_TILE;
      tiles[blocks - 1][more - 1](matrix->data + b * block_bytes, block_bytes, rows, m, out + b * QGEMM_BLOCK, ld_out);
    }
  }
}
#else
typedef int qgemm_avx512_has_nothing_to_compile;
#endif
