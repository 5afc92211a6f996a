/* Moments and normalization of a line with 256-bit vectors. */
#define NAME line_normal_avx2
#include "tile/line_normal_body.h"
