/* The packed matrix product for one element type and instruction set. The including file defines T, VECTOR (bytes of a
 * vector), FMA(a, b, c) on vectors of T, and NAME(x), which gives the functions their names. No include guard: included
 * once for each type.
 *
 * After K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): panels of A and B are
 * packed so that the innermost kernel reads them in order; it keeps ROWS x COLUMNS results in registers. */

typedef T NAME(Vec) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));
#define LANES ((int64_t)(VECTOR / sizeof(T)))
#define ROWS 6
#define COLUMNS (2 * LANES)

/* m rows of A (m is constant where this is inlined), each contiguous, against columns of B as they lie: C += alpha A B.
 */
static inline __attribute__((always_inline)) void NAME(thin_across)(const int m, const int wide, int64_t n, int64_t k,
                                                                    T alpha, const T *const *rows, const T *b,
                                                                    int64_t b_stride, T *c, int64_t c_row,
                                                                    int64_t c_step, int64_t *done) {
  int64_t j = *done;
  for (; j + wide * LANES <= n; j += wide * LANES) {
    NAME(Vec) acc[4][4] = {0};
    for (int64_t p = 0; p < k; p++) {
      const NAME(Vec) *from = (const NAME(Vec) *)(b + p * b_stride + j);
      for (int i = 0; i < m; i++) {
        NAME(Vec) x = rows[i][p] - (NAME(Vec)){0};
        for (int v = 0; v < wide; v++) acc[i][v] = FMA(x, from[v], acc[i][v]);
      }
    }
    for (int i = 0; i < m; i++)
      for (int v = 0; v < wide; v++)
        for (int64_t l = 0; l < LANES; l++) c[i * c_row + (j + v * LANES + l) * c_step] += alpha * acc[i][v][l];
  }
  *done = j;
}

/* Products of m rows with one column; two sums of each run at once. */
static inline __attribute__((always_inline)) void NAME(thin_dot)(const int m, int64_t k, T alpha, const T *const *rows,
                                                                 const T *column, int64_t stride, T *c, int64_t c_row) {
  NAME(Vec) acc[4][2] = {0};
  T sums[4] = {0};
  int64_t p = 0;
  if (stride == 1)
    for (; p + 2 * LANES <= k; p += 2 * LANES) {
      NAME(Vec) first = *(const NAME(Vec) *)(column + p), second = *(const NAME(Vec) *)(column + p + LANES);
      for (int i = 0; i < m; i++) {
        acc[i][0] = FMA(*(const NAME(Vec) *)(rows[i] + p), first, acc[i][0]);
        acc[i][1] = FMA(*(const NAME(Vec) *)(rows[i] + p + LANES), second, acc[i][1]);
      }
    }
  for (; p < k; p++)
    for (int i = 0; i < m; i++) sums[i] += rows[i][p] * column[p * stride];
  for (int i = 0; i < m; i++) {
    NAME(Vec) both = acc[i][0] + acc[i][1];
    for (int64_t l = 0; l < LANES; l++) sums[i] += both[l];
    c[i * c_row] += alpha * sums[i];
  }
}

/* The same for one row, with four sums. */
static inline void NAME(thin_dot_one)(int64_t k, T alpha, const T *row, const T *column, T *c) {
  NAME(Vec) acc[4] = {0};
  T sum = 0;
  int64_t p = 0;
  for (; p + 4 * LANES <= k; p += 4 * LANES) {
    const NAME(Vec) *x = (const NAME(Vec) *)(row + p), *y = (const NAME(Vec) *)(column + p);
    acc[0] = FMA(x[0], y[0], acc[0]);
    acc[1] = FMA(x[1], y[1], acc[1]);
    acc[2] = FMA(x[2], y[2], acc[2]);
    acc[3] = FMA(x[3], y[3], acc[3]);
  }
  for (; p < k; p++) sum += row[p] * column[p];
  NAME(Vec) all = (acc[0] + acc[1]) + (acc[2] + acc[3]);
  for (int64_t l = 0; l < LANES; l++) sum += all[l];
  *c += alpha * sum;
}

static inline __attribute__((always_inline)) void NAME(thin_rows)(const int m, const int wide, int64_t n, int64_t k,
                                                                  T alpha, const T *const *rows, GemmMatrix bm, T *c,
                                                                  int64_t c_row, int64_t c_step) {
  const T *b = bm.data;
  int64_t j = 0;
  if (bm.col_stride == 1) {
    NAME(thin_across)(m, wide, n, k, alpha, rows, b, bm.row_stride, c, c_row, c_step, &j);
    NAME(thin_across)(m, 1, n, k, alpha, rows, b, bm.row_stride, c, c_row, c_step, &j);
  }
  if (m == 1 && bm.row_stride == 1)
    for (; j < n; j++) NAME(thin_dot_one)(k, alpha, rows[0], b + j * bm.col_stride, c + j * c_step);
  for (; j < n; j++) NAME(thin_dot)(m, k, alpha, rows, b + j * bm.col_stride, bm.row_stride, c + j * c_step, c_row);
}

/* Up to four rows of A against B as it lies, unpacked: what small products (one sample, one step) need. Rows with gaps
 * are copied, a piece of k at a time. */
static void NAME(thin)(int64_t m, int64_t n, int64_t k, T alpha, GemmMatrix am, GemmMatrix bm, T *c, int64_t c_row,
                       int64_t c_step) {
  enum { PIECE = 2048 };
  T copies[4][PIECE];
  const T *rows[4];
  for (int64_t from = 0; from < k; from += PIECE) {
    int64_t length = k - from < PIECE ? k - from : PIECE;
    for (int64_t i = 0; i < m; i++) {
      rows[i] = (const T *)am.data + i * am.row_stride + from * am.col_stride;
      if (am.col_stride == 1) continue;
      for (int64_t p = 0; p < length; p++) copies[i][p] = rows[i][p * am.col_stride];
      rows[i] = copies[i];
    }
    GemmMatrix b = bm;
    b.data = (const T *)bm.data + from * bm.row_stride;
    switch (m) {
      case 1:
        NAME(thin_rows)(1, 4, n, length, alpha, rows, b, c, c_row, c_step);
        break;
      case 2:
        NAME(thin_rows)(2, 4, n, length, alpha, rows, b, c, c_row, c_step);
        break;
      case 3:
        NAME(thin_rows)(3, 2, n, length, alpha, rows, b, c, c_row, c_step);
        break;
      default:
        NAME(thin_rows)(4, 2, n, length, alpha, rows, b, c, c_row, c_step);
        break;
    }
  }
}

static void NAME(kernel)(int64_t k, const T *a, const T *b, T alpha, T *c, int64_t ldc, int64_t rows, int64_t columns) {
  NAME(Vec) acc[ROWS][2] = {0};
  for (int64_t p = 0; p < k; p++, a += ROWS, b += COLUMNS) {
    NAME(Vec) b0 = *(const NAME(Vec) *)b, b1 = *(const NAME(Vec) *)(b + LANES);
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++) {
      NAME(Vec) x = a[i] - (NAME(Vec)){0};
      acc[i][0] = FMA(x, b0, acc[i][0]);
      acc[i][1] = FMA(x, b1, acc[i][1]);
    }
  }
  NAME(Vec) scale = alpha - (NAME(Vec)){0};
  if (rows == ROWS && columns == COLUMNS) {
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++) {
      NAME(Vec) *out = (NAME(Vec) *)(c + i * ldc);
      out[0] = FMA(scale, acc[i][0], out[0]);
      out[1] = FMA(scale, acc[i][1], out[1]);
    }
    return;
  }
  T tile[ROWS][COLUMNS];
  memcpy(tile, acc, sizeof tile);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) c[i * ldc + j] += alpha * tile[i][j];
}

/* `count` rows (or columns) starting at `from`, in groups of `width`, padded with zeros. */
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

/* C += alpha A B */
static void NAME(gemm)(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix am, GemmMatrix bm, T *c, int64_t ldc,
                       void *scratch) {
  if (m <= 4) {
    NAME(thin)(m, n, k, (T)alpha, am, bm, c, ldc, 1);
    return;
  }
  if (n <= 4) { /* the transposed product has few rows */
    GemmMatrix at = {am.data, am.col_stride, am.row_stride}, bt = {bm.data, bm.col_stride, bm.row_stride};
    NAME(thin)(n, m, k, (T)alpha, bt, at, c, 1, ldc);
    return;
  }
  T *packed_a = (T *)(((uintptr_t)scratch + GEMM_PAD - 1) & ~(uintptr_t)(GEMM_PAD - 1));
  const T *a = am.data, *b = bm.data;
  int64_t kc_max = k < GEMM_KC ? k : GEMM_KC;
  T *packed_b = packed_a + ((m < GEMM_MC ? m : GEMM_MC) + ROWS) * kc_max;
  packed_b = (T *)(((uintptr_t)packed_b + GEMM_PAD - 1) & ~(uintptr_t)(GEMM_PAD - 1));
  for (int64_t jc = 0; jc < n; jc += GEMM_NC) {
    int64_t nc = n - jc < GEMM_NC ? n - jc : GEMM_NC;
    for (int64_t pc = 0; pc < k; pc += GEMM_KC) {
      int64_t kc = k - pc < GEMM_KC ? k - pc : GEMM_KC;
      NAME(pack)(packed_b, b + pc * bm.row_stride + jc * bm.col_stride, bm.col_stride, bm.row_stride, nc, kc, COLUMNS);
      for (int64_t ic = 0; ic < m; ic += GEMM_MC) {
        int64_t mc = m - ic < GEMM_MC ? m - ic : GEMM_MC;
        NAME(pack)(packed_a, a + ic * am.row_stride + pc * am.col_stride, am.row_stride, am.col_stride, mc, kc, ROWS);
        for (int64_t j = 0; j < nc; j += COLUMNS)
          for (int64_t i = 0; i < mc; i += ROWS) NAME(kernel)
        (kc, packed_a + i * kc, packed_b + j * kc, (T)alpha, c + (ic + i) * ldc + jc + j, ldc,
         mc - i < ROWS ? mc - i : ROWS, nc - j < COLUMNS ? nc - j : COLUMNS);
      }
    }
  }
}

#undef LANES
#undef ROWS
#undef COLUMNS
