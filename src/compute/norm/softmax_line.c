/* Lines of softmax for every processor, and which form this one takes. */
#define NAME softmax_line_portable
#define FUSED 0
#include "compute/norm/softmax_line_body.h"

SoftmaxLine *softmax_line(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return softmax_line_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return softmax_line_avx2;
#endif
  return softmax_line_portable;
}
