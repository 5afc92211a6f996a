/* The packed matrix products without special instructions. */
#include "compute/gemm/gemm.h"

#define VECTOR 16
#define WIDE 2
#define FMA(a, b, c) ((a) * (b) + (c))
#define T float
#define NAME(x) x##_f32
#define WITH_PANELS
#define CHOOSE(mask, a, b) \
  ((Vec_f32)(((__typeof__(mask))(a) & (mask)) | ((__typeof__(mask))(b) & ~(mask)))) /* a where the mask is set */
#define MOST(a, b) CHOOSE((a) > (b), a, b)
#define LEAST(a, b) CHOOSE((a) < (b), a, b)
#include "compute/gemm/gemm_template.h"
#undef WITH_PANELS
#undef T
#undef NAME
#define T double
#define NAME(x) x##_f64
#include "compute/gemm/gemm_template.h"

const GemmKernels gemm_kernels_portable = {gemm_f32, gemm_f64, panels_f32, 8};
