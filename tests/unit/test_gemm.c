/* The packed products of every instruction set against plain sums: edges of tiles, any strides, scratch of just the
 * size that is asked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/processor.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products_of_every_form)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
