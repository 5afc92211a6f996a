/* Depthwise planes with AVX2. */
#define NAME conv_depthwise_plane_avx2
#include "op/conv_depthwise_body.h"
