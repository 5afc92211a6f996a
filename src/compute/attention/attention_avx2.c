/* Attention for AVX2 with fused multiply-add. */
#include "compute/gemm/gemm_transpose.h"

#define ATTENTION attention_avx2
#define FUSED 1
#define VECTOR 32
#define WIDE 2
#define FMA(a, b, c) ((Vec_f32)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define TRANSPOSE_4(to, to_stride, from, from_stride) gemm_transpose_4(to, to_stride, from, from_stride)
#include "compute/attention/attention_body.h"
