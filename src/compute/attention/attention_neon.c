/* Attention with NEON. */
#include "compute/gemm/gemm_transpose_neon.h"

#define ATTENTION attention_neon
#define FUSED 1
#define VECTOR 16
#define WIDE 4
#define FMA(a, b, c) ((Vec_f32)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define TRANSPOSE_4(to, to_stride, from, from_stride) gemm_transpose_4(to, to_stride, from, from_stride)
#include "compute/attention/attention_body.h"
