/* The packed matrix product for one element type and instruction set. The including file defines what
 * gemm_tile_body.h asks for, WITH_PANELS for linear layers' products too; WITHOUT_THIN leaves products of few rows to
 * others. No include guard: included once for each type.
 *
 * After K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): panels of B, and of A
 * where its rows have gaps, are packed so that the innermost kernel reads them in order; it keeps ROWS x COLUMNS
 * results in registers. */
#include "compute/gemm/gemm_tile_body.h"

#ifndef WITHOUT_THIN
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
    for (int i = 0; i < m; i++) {
      const T *sums = (const T *)acc[i];
#pragma GCC unroll 1
      for (int64_t l = 0; l < wide * LANES; l++) c[i * c_row + (j + l) * c_step] += alpha * sums[l];
    }
  }
  *done = j;
}

/* The sum of a vector: of its parts of 16 bytes, then of that part's elements. */
typedef T NAME(Part) __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
static inline __attribute__((always_inline)) T NAME(sum)(NAME(Vec) v) {
  NAME(Part) s = *(const NAME(Part) *)&v;
  for (int i = 1; i < VECTOR / 16; i++) s += ((const NAME(Part) *)&v)[i];
  T sum = s[0];
  for (int i = 1; i < 16 / (int)sizeof(T); i++) sum += s[i];
  return sum;
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
  for (int i = 0; i < m; i++) c[i * c_row] += alpha * (sums[i] + NAME(sum)(acc[i][0] + acc[i][1]));
}

/* The products of one row with `columns` columns beside each other, each of unit stride; two sums of each. A column's
 * bits do not depend on how many there are. */
static inline __attribute__((always_inline)) void NAME(thin_dots_one)(const int columns, int64_t k, T alpha,
                                                                      const T *row, const T *column, int64_t stride,
                                                                      T *c, int64_t c_step) {
  NAME(Vec) acc[4][2] = {0};
  T rest[4] = {0};
  int64_t p = 0;
  for (; p + 2 * LANES <= k; p += 2 * LANES) {
    NAME(Vec) first = *(const NAME(Vec) *)(row + p), second = *(const NAME(Vec) *)(row + p + LANES);
    for (int j = 0; j < columns; j++) {
      acc[j][0] = FMA(first, *(const NAME(Vec) *)(column + j * stride + p), acc[j][0]);
      acc[j][1] = FMA(second, *(const NAME(Vec) *)(column + j * stride + p + LANES), acc[j][1]);
    }
  }
  for (; p + LANES <= k; p += LANES)
    for (int j = 0; j < columns; j++)
      acc[j][0] = FMA(*(const NAME(Vec) *)(row + p), *(const NAME(Vec) *)(column + j * stride + p), acc[j][0]);
  for (; p < k; p++)
    for (int j = 0; j < columns; j++) rest[j] += row[p] * column[j * stride + p];
  for (int j = 0; j < columns; j++) c[j * c_step] += alpha * (rest[j] + NAME(sum)(acc[j][0] + acc[j][1]));
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
  if (m == 1 && bm.row_stride == 1) {
    enum { SHORT = 256 }; /* longer columns come from memory, where one run is fetched ahead faster than four */
    for (; j + 4 <= n && k <= SHORT; j += 4)
      NAME(thin_dots_one)(4, k, alpha, rows[0], b + j * bm.col_stride, bm.col_stride, c + j * c_step, c_step);
    for (; j < n; j++)
      NAME(thin_dots_one)(1, k, alpha, rows[0], b + j * bm.col_stride, bm.col_stride, c + j * c_step, c_step);
  }
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

#endif

/* C += alpha times a tile of the product. Elements of A are a_row and a_step apart. */
static void NAME(kernel)(int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b, int64_t b_step, T alpha,
                         T *c, int64_t ldc, int64_t rows, int64_t columns) {
  if (alpha == 1) {
    NAME(tile_of)(rows, columns, k, a, a_row, a_step, b, b_step, c, ldc, c, ldc, NULL);
    return;
  }
  _Alignas(64) T out[ROWS][COLUMNS];
  NAME(tile_of)(rows, columns, k, a, a_row, a_step, b, b_step, NULL, 0, out[0], COLUMNS, NULL);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) c[i * ldc + j] += alpha * out[i][j];
}

#ifdef WITH_PANELS
/* Results, and what is added to them, lie far away and are wanted all at once, when a tile's products are done. */
static inline void NAME(fetch)(int64_t rows, int64_t columns, const T *from, int64_t stride) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j += 64 / (int64_t)sizeof(T)) __builtin_prefetch(from + i * stride + j);
}

/* C = A B + bias, with the epilogue's term and limits, where B's columns lie in memory as `weight` has them, or in
 * whole panels of [k][COLUMNS]. The order of sums is the same. While the rows of A meet a panel the next one is
 * fetched, a piece for each tile. */
static void NAME(panels)(const GemmPanels *g, int64_t first_row, int64_t end_row, int64_t first_panel,
                         int64_t end_panel, void *scratch) {
  T *packed = (T *)(((uintptr_t)scratch + GEMM_PAD - 1) & ~(uintptr_t)(GEMM_PAD - 1));
  int64_t k = g->k, tiles = (end_row - first_row + ROWS - 1) / ROWS;
  GemmEnd end = g->epilogue ? g->epilogue->in_registers : (GemmEnd){0};
  for (int64_t pc = 0; pc < k; pc += GEMM_PANEL_K) {
    int64_t kc = k - pc < GEMM_PANEL_K ? k - pc : GEMM_PANEL_K, piece = (kc + tiles - 1) / tiles;
    bool ends = (end.term || end.limits) && pc + kc == k;
    for (int64_t panel = first_panel; panel < end_panel; panel++) {
      int64_t j = panel * COLUMNS, columns = g->n - j < COLUMNS ? g->n - j : COLUMNS;
      const T *b = packed, *next = NULL;
      if (g->panels) {
        b = (const T *)g->panels + j * k + pc * COLUMNS;
        next = panel + 1 < end_panel ? b + k * COLUMNS : NULL;
      } else {
        NAME(pack_panel)
        (packed, (const T *)g->weight + j * g->weight_stride + pc, g->weight_stride, 1, columns, kc, COLUMNS);
      }
      for (int64_t i = first_row, at = 0; i < end_row; i += ROWS) {
        int64_t rows = end_row - i < ROWS ? end_row - i : ROWS;
        for (int64_t end = at + piece < kc ? at + piece : kc; next && at < end; at++)
          for (int64_t l = 0; l < COLUMNS; l += 64 / (int64_t)sizeof(T))
            __builtin_prefetch(next + at * COLUMNS + l, 0, 2);
        T *c = (T *)g->c + i * g->ldc + j;
        const T *start = pc ? c : g->bias ? (const T *)g->bias + j : NULL;
        NAME(fetch)(rows, columns, c, g->ldc);
        if (ends && end.term) {
          end.term = g->epilogue->in_registers.term + i * end.term_stride + j;
          NAME(fetch)(rows, columns, (const T *)end.term, end.term_stride);
        }
        NAME(tile_of)
        (rows, columns, kc, (const T *)g->a + i * g->a_stride + pc, g->a_stride, 1, b, COLUMNS, start, pc ? g->ldc : 0,
         c, g->ldc, ends ? &end : NULL);
      }
    }
  }
}
#endif

/* C += alpha A B */
static void NAME(gemm)(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix am, GemmMatrix bm, T *c, int64_t ldc,
                       void *scratch) {
#ifndef WITHOUT_THIN
  if (m <= 4) {
    NAME(thin)(m, n, k, (T)alpha, am, bm, c, ldc, 1);
    return;
  }
  if (n <= 4) { /* the transposed product has few rows */
    GemmMatrix at = {am.data, am.col_stride, am.row_stride}, bt = {bm.data, bm.col_stride, bm.row_stride};
    NAME(thin)(n, m, k, (T)alpha, bt, at, c, 1, ldc);
    return;
  }
#endif
  T *packed_a = (T *)(((uintptr_t)scratch + GEMM_PAD - 1) & ~(uintptr_t)(GEMM_PAD - 1));
  const T *a = am.data, *b = bm.data;
  bool a_lies = am.col_stride == 1; /* its rows are read where they are; those of B if few rows of A meet them */
  bool b_lies = bm.col_stride == 1 && m <= GEMM_MC;
  int64_t kc_max = k < GEMM_KC ? k : GEMM_KC;
  T *packed_b = packed_a + ((m < GEMM_MC ? m : GEMM_MC) + ROWS) * kc_max;
  packed_b = (T *)(((uintptr_t)packed_b + GEMM_PAD - 1) & ~(uintptr_t)(GEMM_PAD - 1));
  for (int64_t jc = 0; jc < n; jc += GEMM_NC) {
    int64_t nc = n - jc < GEMM_NC ? n - jc : GEMM_NC, in_place = b_lies ? nc / LANES * LANES : 0;
    for (int64_t pc = 0; pc < k; pc += GEMM_KC) {
      int64_t kc = k - pc < GEMM_KC ? k - pc : GEMM_KC;
      const T *columns_of_b = b + pc * bm.row_stride + jc * bm.col_stride;
      for (int64_t j = in_place; j < nc; j += COLUMNS) {
        int64_t columns = nc - j < COLUMNS ? nc - j : COLUMNS;
        NAME(pack_panel)
        (packed_b + (j - in_place) * kc, columns_of_b + j * bm.col_stride, bm.col_stride, bm.row_stride, columns, kc,
         (columns + LANES - 1) / LANES * LANES);
      }
      for (int64_t ic = 0; ic < m; ic += GEMM_MC) {
        int64_t mc = m - ic < GEMM_MC ? m - ic : GEMM_MC;
        const T *rows = a + ic * am.row_stride + pc * am.col_stride;
        if (!a_lies) NAME(pack)(packed_a, rows, am.row_stride, am.col_stride, mc, kc, ROWS);
        for (int64_t j = 0, columns; j < nc; j += columns) {
          bool lies = j < in_place;
          columns = (lies ? in_place : nc) - j;
          if (columns > COLUMNS) columns = COLUMNS;
          const T *panel = lies ? columns_of_b + j : packed_b + (j - in_place) * kc;
          int64_t step = lies ? bm.row_stride : (columns + LANES - 1) / LANES * LANES;
          for (int64_t i = 0; i < mc; i += ROWS) NAME(kernel)
          (kc, a_lies ? rows + i * am.row_stride : packed_a + i * kc, a_lies ? am.row_stride : 1, a_lies ? 1 : ROWS,
           panel, step, (T)alpha, c + (ic + i) * ldc + jc + j, ldc, mc - i < ROWS ? mc - i : ROWS, columns);
        }
      }
    }
  }
}

#undef LANES
#undef ROWS
#undef COLUMNS
