/* The packed float32 product with 512-bit vectors. */
#include <assert.h>

#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_transpose.h"

#define VECTOR 64
#define WIDE 4
#define WITHOUT_THIN
#define WITH_PANELS
#define MOST(a, b) ((Vec_f32)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define LEAST(a, b) ((Vec_f32)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define FMA(a, b, c) ((Vec_f32)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define TRANSPOSE_4(to, to_stride, from, from_stride) gemm_transpose_4(to, to_stride, from, from_stride)
#define T float
#define NAME(x) x##_f32
#include "compute/gemm/gemm_template.h"

void gemm_block_avx512(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b, float *c,
                       int64_t c_row_stride, void *scratch) {
  gemm_f32(m, n, k, alpha, a, b, c, c_row_stride, scratch);
}

static_assert(WIDE * VECTOR == GEMM_AVX512_COLUMNS * sizeof(float), "gemm.h says how wide panels are");
void gemm_panels_avx512(const GemmPanels *product, int64_t first_row, int64_t end_row, int64_t first_panel,
                        int64_t end_panel, void *scratch) {
  panels_f32(product, first_row, end_row, first_panel, end_panel, scratch);
}
