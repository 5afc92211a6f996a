/* Sums of float32 with NEON. */
#define NAME line_sum_f32_neon
#include "tile/line_sum_body.h"
