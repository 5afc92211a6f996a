/* Lines of softmax with 256-bit vectors and fused multiplication and addition. */
#if defined(__x86_64__)
#define NAME softmax_line_avx2
#define FUSED 1
#include "compute/norm/softmax_line_body.h"
#else
typedef int softmax_line_avx2_has_nothing_to_compile;
#endif
