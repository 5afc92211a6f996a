/* Attention with 512-bit vectors. */
#include "compute/gemm/gemm_transpose.h"

#define ATTENTION attention_avx512
#define FUSED 1
#define VECTOR 64
#define WIDE 4
#define FMA(a, b, c) ((Vec_f32)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define TRANSPOSE_4(to, to_stride, from, from_stride) gemm_transpose_4(to, to_stride, from, from_stride)
#include "compute/attention/attention_body.h"
