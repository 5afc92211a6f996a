/* The packed matrix products for NEON: 24 of its 32 registers hold results. */
#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_transpose_neon.h"

#define VECTOR 16
#define WIDE 4
#define FMA(a, b, c) ((Vec_f32)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define T float
#define NAME(x) x##_f32
#define TRANSPOSE_4(to, to_stride, from, from_stride) gemm_transpose_4(to, to_stride, from, from_stride)
#define WITH_PANELS
#define MOST(a, b) ((Vec_f32)vmaxq_f32((float32x4_t)(a), (float32x4_t)(b)))
#define LEAST(a, b) ((Vec_f32)vminq_f32((float32x4_t)(a), (float32x4_t)(b)))
#include "compute/gemm/gemm_template.h"
#undef WITH_PANELS
#undef TRANSPOSE_4
#undef T
#undef NAME
#undef FMA
#define FMA(a, b, c) ((Vec_f64)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#define T double
#define NAME(x) x##_f64
#include "compute/gemm/gemm_template.h"

const GemmKernels gemm_kernels_neon = {gemm_f32, gemm_f64, panels_f32, 16};
