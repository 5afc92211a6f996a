/* Scaling and shifting: chooses the instruction set. */
#define NAME norm_affine_baseline
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "compute/norm/norm_affine_body.h"

void norm_affine(int64_t n, const float *x, float *y, const float *scale, const float *shift, int64_t step) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    norm_affine_avx2(n, x, y, scale, shift, step);
    return;
  }
#endif
  norm_affine_baseline(n, x, y, scale, shift, step);
}
