/* Sums of float32 with 256-bit vectors. */
#define NAME reduce_sum_f32_avx2
#include "compute/reduce/reduce_sum_body.h"
