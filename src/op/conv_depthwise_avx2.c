/* Depthwise planes with AVX2. */
#define NAME conv_depthwise_plane_avx2
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#include "op/conv_depthwise_body.h"
