/* Lines of softmax with 256-bit vectors and fused multiplication and addition. */
#define NAME softmax_line_avx2
#define FUSED 1
#include "tile/softmax_line_body.h"
