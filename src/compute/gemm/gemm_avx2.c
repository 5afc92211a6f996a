/* The packed matrix products for AVX2 with fused multiply-add. */
#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_transpose.h"

#define VECTOR 32
#define WIDE 2
#define FMA(a, b, c) ((Vec_f32)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define T float
#define NAME(x) x##_f32
#define TRANSPOSE_4(to, to_stride, from, from_stride) gemm_transpose_4(to, to_stride, from, from_stride)
#define WITH_PANELS
#define MOST(a, b) ((Vec_f32)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define LEAST(a, b) ((Vec_f32)_mm256_min_ps((__m256)(a), (__m256)(b)))
#include "compute/gemm/gemm_template.h"
#undef WITH_PANELS
#undef TRANSPOSE_4
#undef T
#undef NAME
#undef FMA
#define FMA(a, b, c) ((Vec_f64)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define T double
#define NAME(x) x##_f64
#include "compute/gemm/gemm_template.h"

const GemmKernels gemm_kernels_avx2 = {gemm_f32, gemm_f64, panels_f32, 16};
