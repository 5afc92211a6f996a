/* Sums of float32 with 256-bit vectors. */
#define NAME line_sum_f32_avx2
#include "tile/line_sum_body.h"
