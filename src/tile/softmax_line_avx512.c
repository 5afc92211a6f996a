/* Lines of softmax with 512-bit vectors. */
#define NAME softmax_line_avx512
#define FUSED 1
#include "tile/softmax_line_body.h"
