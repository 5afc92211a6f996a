/* Sums of float32: chooses the instruction set. */
#define NAME reduce_sum_f32_portable
#include "compute/reduce/reduce_sum_body.h"

double reduce_sum_f32(int64_t n, const float *x) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return reduce_sum_f32_avx2(n, x);
#endif
  return reduce_sum_f32_portable(n, x);
}
