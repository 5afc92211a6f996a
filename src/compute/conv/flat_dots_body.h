/* Products of lines, over one type of vectors (flat_tile_body.h): a block of them in registers, a vector of partial
 * sums for each; of few lines several, so that enough sums are under way. */

enum { DOT_SUMS = DOT_TALL * DOT_COLUMNS };

/* The sums of `count` vectors' lanes; there is room for LANES more than that. */
static __attribute__((noinline)) void sum_lanes(int count, const float *vectors, float *sums) {
  for (int first = 0; first < count; first += LANES) {
    V lines[LANES];
    UNROLLED_LANES for (int i = 0; i < LANES; i++) lines[i] = load(vectors + (first + i) * LANES);
    transpose(lines);
    UNROLLED for (int half = LANES / 2; half; half /= 2) UNROLLED for (int i = 0; i < half; i++) lines[i] =
        plus(lines[i], lines[i + half]);
    store(sums + first, lines[0]);
  }
}

static inline __attribute__((always_inline)) void dots_of(int rows, int columns, int64_t n, const float *row,
                                                          int64_t row_stride, const float *const *column, float *sums,
                                                          int64_t stride) {
  const int parts = rows == 1 ? 4 : rows == 2 ? 2 : 1;
  V partial[DOT_SUMS + 4 * DOT_COLUMNS];
  float lanes[(DOT_SUMS + LANES) * LANES], whole[DOT_SUMS + LANES];
  UNROLLED_DOTS for (int i = 0; i < parts * rows * columns; i++) partial[i] = splat(0);
  for (int64_t at = 0; at < n;) UNROLLED for (int part = 0; part < parts; part++, at += LANES) {
      V *block = partial + part * rows * columns, x[DOT_COLUMNS];
      UNROLLED for (int c = 0; c < columns; c++) x[c] = load(column[c] + at);
      UNROLLED for (int r = 0; r < rows; r++) {
        V g = load(row + r * row_stride + at);
        UNROLLED for (int c = 0; c < columns; c++) block[r * columns + c] =
            multiply_add(g, x[c], block[r * columns + c]);
      }
    }
  UNROLLED for (int part = parts / 2; part; part /= 2) UNROLLED_DOTS for (int i = 0; i < part * rows * columns; i++)
      partial[i] = plus(partial[i], partial[part * rows * columns + i]);
  UNROLLED_DOTS for (int i = 0; i < rows * columns; i++) store(lanes + i * LANES, partial[i]);
  for (int i = rows * columns * LANES; i % (LANES * LANES); i++) lanes[i] = 0;
  sum_lanes(rows * columns, lanes, whole);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) sums[r * stride + c] += whole[r * columns + c];
}

/* Functions of their own, so that each has all registers. */
#define DOTS(rows, columns)                                                                                       \
  static __attribute__((noinline)) void dots_##rows##_##columns(                                                  \
      int64_t n, const float *row, int64_t row_stride, const float *const *column, float *sums, int64_t stride) { \
    dots_of(rows, columns, n, row, row_stride, column, sums, stride);                                             \
  }
#if DOT_TALL > 4
#define DOTS_OF_COLUMNS(columns) DOTS(1, columns) DOTS(2, columns) DOTS(4, columns) DOTS(8, columns)
#define DOTS_BY_ROWS(columns) \
  { dots_1_##columns, dots_2_##columns, dots_4_##columns, dots_8_##columns }
#else
#define DOTS_OF_COLUMNS(columns) DOTS(1, columns) DOTS(2, columns) DOTS(4, columns)
#define DOTS_BY_ROWS(columns) \
  { dots_1_##columns, dots_2_##columns, dots_4_##columns }
#endif
DOTS_OF_COLUMNS(1)
DOTS_OF_COLUMNS(2)
DOTS_OF_COLUMNS(3)
#undef DOTS

static void dots(int rows, int columns, int64_t n, const float *row, int64_t row_stride, const float *const *column,
                 float *sums, int64_t stride) {
  typedef void Dots(int64_t n, const float *row, int64_t row_stride, const float *const *column, float *sums,
                    int64_t stride);
  static Dots *const of[][DOT_TALL > 4 ? 4 : 3] = {DOTS_BY_ROWS(1), DOTS_BY_ROWS(2), DOTS_BY_ROWS(3)};
  assert(columns > 0 && columns <= DOT_COLUMNS && n % (DOT_STEP * LANES) == 0);
  while (rows > 0) {
    int log = rows >= DOT_TALL ? DOT_TALL > 4 ? 3 : 2 : rows >= 4 ? 2 : rows >= 2 ? 1 : 0;
    of[columns - 1][log](n, row, row_stride, column, sums, stride);
    row += row_stride << log;
    sums += stride << log;
    rows -= 1 << log;
  }
}
#undef DOTS_OF_COLUMNS
#undef DOTS_BY_ROWS
