/* Lines of softmax with 512-bit vectors. */
#if defined(__x86_64__)
#define NAME softmax_line_avx512
#define FUSED 1
#include "compute/norm/softmax_line_body.h"
#else
typedef int softmax_line_avx512_has_nothing_to_compile;
#endif
