/* Blocks of float32 for gemm_template.h's packing, with vectors of x86. */
#pragma once

#include <immintrin.h>
#include <stdint.h>

static inline void gemm_transpose_4(float *to, int64_t to_stride, const float *from, int64_t from_stride) {
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_stride), c = _mm_loadu_ps(from + 2 * from_stride),
         d = _mm_loadu_ps(from + 3 * from_stride);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + to_stride, b);
  _mm_storeu_ps(to + 2 * to_stride, c);
  _mm_storeu_ps(to + 3 * to_stride, d);
}
