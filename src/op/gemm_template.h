/* The packed matrix product for one element type and instruction set. The including file defines T, VECTOR (bytes of a vector),
 * FMA(a, b, c) on vectors of T, and NAME(x), which gives the functions their names. No include guard: included once for each type.
 *
 * After K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): panels of A and B are packed so
 * that the innermost kernel reads them in order; it keeps ROWS x COLUMNS results in registers. */

typedef T NAME(Vec) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));
#define LANES ((int64_t)(VECTOR / sizeof(T)))
#define ROWS 6
#define COLUMNS (2 * LANES)

/* Up to four rows of A at a time against B as it lies: what small products (one sample, one step) need. */
static void NAME(thin)(int64_t m, int64_t n, int64_t k, T alpha, GemmMatrix am, GemmMatrix bm, T *c, int64_t ldc, int64_t c_step) {
  const T *a = am.data, *b = bm.data;
  for (int64_t i = 0; i < m; i++) {
    const T *row = a + i * am.row_stride;
    T *out = c + i * ldc;
    int64_t j = 0;
    if (bm.col_stride == 1) {
      for (; j + 4 * LANES <= n; j += 4 * LANES) {
        NAME(Vec) acc[4] = {0};
        for (int64_t p = 0; p < k; p++) {
          const NAME(Vec) *from = (const NAME(Vec) *)(b + p * bm.row_stride + j);
          NAME(Vec) x = row[p * am.col_stride] - (NAME(Vec)){0};
          for (int v = 0; v < 4; v++) acc[v] = FMA(x, from[v], acc[v]);
        }
        for (int64_t v = 0; v < 4 * LANES; v++) out[(j + v) * c_step] += alpha * ((T *)acc)[v];
      }
    }
    for (; j < n; j++) {
      const T *column = b + j * bm.col_stride;
      T sum = 0;
      int64_t p = 0;
      if (bm.row_stride == 1 && am.col_stride == 1) {
        NAME(Vec) acc[4] = {0};
        for (; p + 4 * LANES <= k; p += 4 * LANES)
          for (int v = 0; v < 4; v++)
            acc[v] = FMA(((const NAME(Vec) *)(row + p))[v], ((const NAME(Vec) *)(column + p))[v], acc[v]);
        NAME(Vec) all = (acc[0] + acc[1]) + (acc[2] + acc[3]);
        for (int64_t v = 0; v < LANES; v++) sum += all[v];
      }
      for (; p < k; p++) sum += row[p * am.col_stride] * column[p * bm.row_stride];
      out[j * c_step] += alpha * sum;
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
static void NAME(gemm)(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix am, GemmMatrix bm, T *c, int64_t ldc, void *scratch) {
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
          for (int64_t i = 0; i < mc; i += ROWS)
            NAME(kernel)(kc, packed_a + i * kc, packed_b + j * kc, (T)alpha, c + (ic + i) * ldc + jc + j, ldc,
                         mc - i < ROWS ? mc - i : ROWS, nc - j < COLUMNS ? nc - j : COLUMNS);
      }
    }
  }
}

#undef LANES
#undef ROWS
#undef COLUMNS
