/* The innermost loops of packed matrix products for one element type and instruction set: tiles of results in
 * registers and the panels of B that they read. The including file defines T, VECTOR (bytes of a vector), WIDE (vectors
 * beside each other in a tile), FMA(a, b, c) on vectors of T, and NAME(x), which gives the functions their names; where
 * it can, TRANSPOSE_4(to, to_stride, from, from_stride), which writes a transposed block of 4 x 4 elements; WITH_PANELS
 * where tiles have an `end`, which is NULL elsewhere, and with it MOST(a, b) and LEAST(a, b), which give b where that
 * is NaN. No include guard: included once for each type. */

typedef T NAME(Vec) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));
#define LANES ((int64_t)(VECTOR / sizeof(T)))
#define ROWS 6
#define COLUMNS (WIDE * LANES)

#ifdef WITH_PANELS
static inline __attribute__((always_inline)) void NAME(finish)(const int height, const int wide, NAME(Vec) (*acc)[WIDE],
                                                               const GemmEnd *end) {
  if (end->term)
#pragma GCC unroll 6
    for (int i = 0; i < height; i++)
#pragma GCC unroll 4
      for (int v = 0; v < wide; v++) acc[i][v] += *(const NAME(Vec) *)(end->term + i * end->term_stride + v * LANES);
  if (!end->limits) return;
  NAME(Vec) low = end->low - (NAME(Vec)){0}, high = end->high - (NAME(Vec)){0};
#pragma GCC unroll 6
  for (int i = 0; i < height; i++)
#pragma GCC unroll 4
    for (int v = 0; v < wide; v++) {
      acc[i][v] = MOST(low, acc[i][v]);
      acc[i][v] = LEAST(high, acc[i][v]);
    }
}
#endif

/* `height` rows by `wide` vectors (both constant where this is inlined) of A B, added to what `start` has (NULL: 0); k
 * is at least 1, a_step in bytes. In memory, by a loop that is always entered and whose step is no number of elements:
 * else GCC makes several loops of it, and copies the sums around inside them. */
static inline __attribute__((always_inline)) void NAME(tile)(const int height, const int wide, int64_t k,
                                                             const char *const *row, int64_t a_step, const T *b,
                                                             int64_t b_step, const T *start, int64_t start_stride,
                                                             T *out, int64_t out_stride, const GemmEnd *end) {
  NAME(Vec) acc[ROWS][WIDE] = {0};
  int64_t at = 0;
  do {
    NAME(Vec) from[WIDE];
#pragma GCC unroll 4
    for (int v = 0; v < wide; v++) from[v] = *(const NAME(Vec) *)(b + v * LANES);
#pragma GCC unroll 6
    for (int i = 0; i < height; i++) {
      NAME(Vec) x = *(const T *)(row[i] + at) - (NAME(Vec)){0};
#pragma GCC unroll 4
      for (int v = 0; v < wide; v++) acc[i][v] = FMA(x, from[v], acc[i][v]);
    }
    b += b_step;
    at += a_step;
  } while (--k);
  if (start)
#pragma GCC unroll 6
    for (int i = 0; i < height; i++)
#pragma GCC unroll 4
      for (int v = 0; v < wide; v++) acc[i][v] += *(const NAME(Vec) *)(start + i * start_stride + v * LANES);
#ifdef WITH_PANELS
  if (end) NAME(finish)(height, wide, acc, end);
#else
  (void)end;
#endif
#pragma GCC unroll 6
  for (int i = 0; i < height; i++)
#pragma GCC unroll 4
    for (int v = 0; v < wide; v++) *(NAME(Vec) *)(out + i * out_stride + v * LANES) = acc[i][v];
}
typedef void NAME(Tile)(int64_t k, const char *const *row, int64_t a_step, const T *b, int64_t b_step, const T *start,
                        int64_t start_stride, T *out, int64_t out_stride, const GemmEnd *end);
#define TILE_OF(height, wide)                                                                        \
  static __attribute__((noinline)) void NAME(tile_##height##_##wide)(                                \
      int64_t k, const char *const *row, int64_t a_step, const T *b, int64_t b_step, const T *start, \
      int64_t start_stride, T *out, int64_t out_stride, const GemmEnd *end) {                        \
    NAME(tile)(height, wide, k, row, a_step, b, b_step, start, start_stride, out, out_stride, end);  \
  }
TILE_OF(6, 1)
TILE_OF(6, 2)
#if WIDE > 2
TILE_OF(6, 3)
TILE_OF(6, 4)
TILE_OF(1, 4)
TILE_OF(2, 4)
TILE_OF(3, 4)
TILE_OF(4, 4)
TILE_OF(5, 4)
#else
TILE_OF(1, 2)
TILE_OF(2, 2)
TILE_OF(3, 2)
TILE_OF(4, 2)
TILE_OF(5, 2)
#endif
#undef TILE_OF
/* Those of ROWS rows by the number of vectors, those of WIDE vectors by the number of rows, each less one. */
static NAME(Tile) *const NAME(tiles)[] = {
    NAME(tile_6_1),
    NAME(tile_6_2),
#if WIDE > 2
    NAME(tile_6_3),
    NAME(tile_6_4),
#endif
};
static NAME(Tile) *const NAME(low_tiles)[] = {
#if WIDE > 2
    NAME(tile_1_4), NAME(tile_2_4), NAME(tile_3_4), NAME(tile_4_4), NAME(tile_5_4), NAME(tile_6_4),
#else
    NAME(tile_1_2), NAME(tile_2_2), NAME(tile_3_2), NAME(tile_4_2), NAME(tile_5_2), NAME(tile_6_2),
#endif
};

/* Up to ROWS rows of A, a_row and a_step elements apart, by `columns` (up to COLUMNS) of a packed B, added to what
 * `start` has (NULL: 0), and finished by `end`, whose term begins where the tile does (NULL: not). What lies after the
 * columns and rows in `out` stays. */
static void NAME(tile_of)(int64_t rows, int64_t columns, int64_t k, const T *a, int64_t a_row, int64_t a_step,
                          const T *b, int64_t b_step, const T *start, int64_t start_stride, T *out, int64_t out_stride,
                          const GemmEnd *end) {
  int64_t step = a_step * (int64_t)sizeof(T);
  const char *row[ROWS];
  for (int i = 0; i < ROWS; i++) row[i] = (const char *)(i < rows ? a + i * a_row : a);
  if (columns == COLUMNS) {
    NAME(low_tiles)[rows - 1](k, row, step, b, b_step, start, start_stride, out, out_stride, end);
    return;
  }
  NAME(Tile) *tile = NAME(tiles)[(columns - 1) / LANES];
  if (rows == ROWS && columns % LANES == 0) {
    tile(k, row, step, b, b_step, start, start_stride, out, out_stride, end);
    return;
  }
  _Alignas(64) T whole[ROWS][COLUMNS];
  tile(k, row, step, b, b_step, NULL, 0, whole[0], COLUMNS, NULL);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      T sum = start ? start[i * start_stride + j] + whole[i][j] : whole[i][j];
#ifdef WITH_PANELS
      if (end) sum = gemm_ended(end, i, j, sum);
#endif
      out[i * out_stride + j] = sum;
    }
}

/* `count` rows (or columns) starting at `from`, in groups of `width`, the last padded with zeros. */
static void NAME(pack)(T *to, const T *from, int64_t across, int64_t along, int64_t count, int64_t k, int64_t width) {
  for (int64_t i = 0; i < count; i += width) {
    int64_t n = count - i < width ? count - i : width;
    const T *base = from + i * across;
    if (across == 1 && n == width) {
      for (int64_t p = 0; p < k; p++, to += width) memcpy(to, base + p * along, (size_t)width * sizeof(T));
      continue;
    }
    for (int64_t p = 0; p < k; p++, to += width) {
      for (int64_t j = 0; j < n; j++) to[j] = base[p * along + j * across];
      for (int64_t j = n; j < width; j++) to[j] = 0;
    }
  }
}

/* A panel of B: n columns, padded with zeros to `width`. */
static void NAME(pack_panel)(T *to, const T *from, int64_t across, int64_t along, int64_t n, int64_t k, int64_t width) {
#ifdef TRANSPOSE_4
  if (along == 1) { /* columns lie in memory: block by block, so that every line of cache is read and written at once */
    for (int64_t j0 = 0; j0 < n; j0 += 16)
      for (int64_t p0 = 0; p0 < k; p0 += 16)
        for (int64_t j = j0; j < j0 + 16 && j < n; j += 4)
          for (int64_t p = p0; p < p0 + 16 && p < k; p += 4) {
            const T *block = from + j * across + p;
            if (j + 4 <= n && p + 4 <= k) {
              TRANSPOSE_4(to + p * width + j, width, block, across);
              continue;
            }
            for (int64_t q = p; q < p + 4 && q < k; q++)
              for (int64_t l = j; l < j + 4 && l < n; l++) to[q * width + l] = from[l * across + q];
          }
    for (int64_t p = 0; p < k && n < width; p++) memset(to + p * width + n, 0, (size_t)(width - n) * sizeof(T));
    return;
  }
#endif
  NAME(pack)(to, from, across, along, n, k, width);
}
