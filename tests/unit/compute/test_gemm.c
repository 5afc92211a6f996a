/* The packed products of every instruction set against plain sums: edges of tiles, any strides, scratch of just the
 * size that is asked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/processor.h"
#include "compute/conv/conv_weights.h"
#include "compute/gemm/gemm.h"

typedef void ProductF32(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b, float *c,
                        int64_t c_row_stride, void *scratch);

static void check(ProductF32 *product, int64_t m, int64_t n, int64_t k, bool a_rows, bool b_rows, int64_t gap) {
  int64_t a_outer = (a_rows ? k : m) + gap, b_outer = (b_rows ? n : k) + gap, ldc = n + gap;
  size_t a_count = (size_t)(a_outer * (a_rows ? m : k)), b_count = (size_t)(b_outer * (b_rows ? k : n));
  float *a = mem_alloc(a_count * sizeof *a), *b = mem_alloc(b_count * sizeof *b),
        *c = mem_alloc((size_t)(m * ldc) * sizeof *c);
  void *scratch = mem_alloc(gemm_scratch_bytes(m, n, k));
  for (size_t i = 0; i < a_count; i++) a[i] = (float)((int)(i * 7 % 19) - 9);
  for (size_t i = 0; i < b_count; i++) b[i] = (float)((int)(i * 5 % 17) - 8);
  for (int64_t i = 0; i < m * ldc; i++) c[i] = 3;
  GemmMatrix am = {a, a_rows ? a_outer : 1, a_rows ? 1 : a_outer}, bm = {b, b_rows ? b_outer : 1, b_rows ? 1 : b_outer};
  product(m, n, k, 0.5, am, bm, c, ldc, scratch);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < ldc; j++) {
      double sum = 0; /* small whole numbers: every order gives the same bits */
      for (int64_t p = 0; p < k && j < n; p++)
        sum += (double)a[i * am.row_stride + p * am.col_stride] * b[p * bm.row_stride + j * bm.col_stride];
      if ((double)c[i * ldc + j] != 3 + 0.5 * sum)
        fail_msg("%lld x %lld x %lld at %lld, %lld: %g, not %g", (long long)m, (long long)n, (long long)k, (long long)i,
                 (long long)j, (double)c[i * ldc + j], 3 + 0.5 * sum);
    }
  mem_free(a), mem_free(b), mem_free(c), mem_free(scratch);
}

static void products_of_every_form(void **state) {
  (void)state;
  const GemmKernels *const kernels[] = {PROCESSOR_FORMS(gemm_kernels)};
  ProductF32 *forms[3];
  int count = 0;
  for (; count < PROCESSOR_FORM_COUNT; count++) forms[count] = kernels[count]->f32;
  if (PROCESSOR_HAS_AVX512) forms[count++] = gemm_block_avx512;
  static const int64_t sizes[][3] = {{5, 5, 1},    {6, 16, 3},   {7, 17, 16},   {13, 33, 18},  {12, 48, 21},
                                     {97, 64, 64}, {30, 65, 70}, {9, 127, 257}, {100, 530, 9}, {6, 79, 515}};
  for (int form = 0; form < count; form++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (int layout = 0; layout < 8; layout++)
        check(forms[form], sizes[s][0], sizes[s][1], sizes[s][2], layout & 1, layout & 2, layout & 4 ? 3 : 0);
}

/* A linear layer's product by the form's panels, packed by hand and as the weight lies; rows and panels in parts. */
static void check_panels(GemmPanelKernel *kernel, int64_t width, int64_t m, int64_t n, int64_t k, bool is_packed,
                         bool has_bias) {
  enum { GAP = 3 };
  int64_t count = (n + width - 1) / width, half = count / 2;
  float *a = mem_alloc((size_t)(m * (k + GAP)) * sizeof *a), *w = mem_alloc((size_t)(n * k) * sizeof *w),
        *panels = mem_calloc((size_t)(count * width * k), sizeof *panels),
        *c = mem_alloc((size_t)(m * (n + GAP)) * sizeof *c), *bias = mem_alloc((size_t)n * sizeof *bias);
  void *scratch = mem_alloc(gemm_panel_scratch_bytes(width));
  for (int64_t i = 0; i < m * (k + GAP); i++) a[i] = (float)((int)(i * 7 % 19) - 9);
  for (int64_t i = 0; i < n * k; i++) w[i] = (float)((int)(i * 5 % 17) - 8);
  for (int64_t j = 0; j < n; j++) bias[j] = (float)(j % 11);
  for (int64_t i = 0; i < m * (n + GAP); i++) c[i] = -7;
  for (int64_t j = 0; j < n; j++)
    for (int64_t p = 0; p < k; p++) panels[(j / width * k + p) * width + j % width] = w[j * k + p];
  GemmPanels g = {.m = m, .n = n, .k = k, .a = a, .a_stride = k + GAP, .weight = w, .weight_stride = k, .c = c};
  g.ldc = n + GAP;
  g.panels = is_packed ? panels : NULL;
  g.bias = has_bias ? bias : NULL;
  kernel(&g, 0, m, 0, half, scratch);
  if (m > 1) kernel(&g, 0, m / 2, half, count, scratch);
  kernel(&g, m / 2, m, half, count, scratch);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n + GAP; j++) {
      double sum = j >= n     ? -7
                   : has_bias ? (double)bias[j]
                              : 0; /* small whole numbers: any order gives the same bits */
      for (int64_t p = 0; p < k && j < n; p++) sum += (double)a[i * (k + GAP) + p] * w[j * k + p];
      if ((double)c[i * (n + GAP) + j] != sum)
        fail_msg("%lld x %lld x %lld at %lld, %lld: %g, not %g", (long long)m, (long long)n, (long long)k, (long long)i,
                 (long long)j, (double)c[i * (n + GAP) + j], sum);
    }
  mem_free(a), mem_free(w), mem_free(panels), mem_free(c), mem_free(bias), mem_free(scratch);
}

static void panels_of_every_form(void **state) {
  (void)state;
  const GemmKernels *const kernels[] = {PROCESSOR_FORMS(gemm_kernels)};
  static const int64_t sizes[][3] = {{1, 5, 1}, {6, 16, 3}, {7, 17, 16}, {13, 129, 383}, {12, 64, 384}, {50, 71, 770}};
  for (int form = 0; form <= PROCESSOR_FORM_COUNT; form++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (int how = 0; how < 4; how++) {
        if (form < PROCESSOR_FORM_COUNT)
          check_panels(kernels[form]->panels, kernels[form]->panel_columns, sizes[s][0], sizes[s][1], sizes[s][2],
                       how & 1, how & 2);
        else if (PROCESSOR_HAS_AVX512)
          check_panels(gemm_panels_avx512, GEMM_AVX512_COLUMNS, sizes[s][0], sizes[s][1], sizes[s][2], how & 1,
                       how & 2);
      }
}

/* A weight in the layout of gemm_panels_layout. */
static float *pack_by_hand(const float *w, int64_t n, int64_t k) {
  WeightLayout layout;
  gemm_panels_layout(n, k, &layout);
  int64_t width = layout.blocks[0];
  float *panels = mem_calloc(1, layout.bytes + 1);
  for (int64_t j = 0; j < n; j++)
    for (int64_t p = 0; p < k; p++) panels[(j / width * k + p) * width + j % width] = w[j * k + p];
  return panels;
}

/* Kept panels, panels made on the way, and any number of threads: the same bits. */
static void panels_shared_out(void **state) {
  (void)state;
  enum { M = 500, N = 130, K = 400 };
  static float a[M * K], w[N * K], bias[N], c[3][M * N];
  for (int i = 0; i < M * K; i++) a[i] = sinf((float)i);
  for (int i = 0; i < N * K; i++) w[i] = cosf((float)i);
  float *panels = pack_by_hand(w, N, K);
  for (int i = 0; i < 3; i++) {
    Work work = {.threads = i < 2 ? 1 : 3};
    GemmPanels g = {.m = M, .n = N, .k = K, .a = a, .a_stride = K, .weight = w, .weight_stride = K, .bias = bias};
    g.c = c[i];
    g.ldc = N;
    g.panels = i == 1 ? NULL : panels;
    assert_null(gemm_panels(&work, &g));
  }
  assert_memory_equal(c[0], c[1], sizeof c[0]);
  assert_memory_equal(c[0], c[2], sizeof c[0]);
  mem_free(panels);
}

/* Products of one A, packed and not, shared out together: the bits of each by itself. */
static void joined_panels(void **state) {
  (void)state;
  enum { M = 500, N = 200, K = 400, COUNT = 4 };
  static const int64_t rows[] = {0, 1, 37, 240, 241, M}, columns[COUNT] = {N, 3, 0, 130}, depths[COUNT] = {K, K, 7, 33};
  static float a[M * K], w[N * K], bias[N], apart[COUNT][M * N], joined[COUNT][M * N];
  for (int i = 0; i < M * K; i++) a[i] = sinf((float)i);
  for (int i = 0; i < N * K; i++) w[i] = cosf((float)i);
  for (int i = 0; i < N; i++) bias[i] = (float)i;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    for (int packed = 0; packed < 1 << COUNT; packed += 5) {
      Work work = {.threads = 1};
      GemmPanels products[COUNT];
      float *panels[COUNT];
      for (int p = 0; p < COUNT; p++) {
        int64_t n = columns[p], k = depths[p];
        panels[p] = packed >> p & 1 ? pack_by_hand(w, n, k) : NULL;
        products[p] =
            (GemmPanels){.m = rows[r], .n = n, .k = k, .a = a, .a_stride = K, .weight = w, .weight_stride = k};
        products[p].panels = panels[p];
        products[p].bias = p % 2 ? bias : NULL;
        products[p].ldc = N;
        products[p].c = apart[p];
        assert_null(gemm_panels(&work, &products[p]));
        products[p].c = joined[p];
      }
      for (work.threads = 1; work.threads <= 3; work.threads++) {
        memset(joined, 0, sizeof joined);
        assert_null(gemm_panels_joined(&work, COUNT, products));
        for (int p = 0; p < COUNT; p++)
          for (int64_t i = 0; i < rows[r]; i++)
            assert_memory_equal(joined[p] + i * N, apart[p] + i * N, (size_t)columns[p] * sizeof(float));
      }
      for (int p = 0; p < COUNT; p++) mem_free(panels[p]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products_of_every_form), cmocka_unit_test(panels_of_every_form),
                                     cmocka_unit_test(panels_shared_out), cmocka_unit_test(joined_panels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
