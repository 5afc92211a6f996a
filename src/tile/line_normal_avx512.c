/* Moments and normalization of a line with 512-bit vectors. */
#define NAME line_normal_avx512
#include "tile/line_normal_body.h"
