/* Sums of float32 with NEON. */
#define NAME reduce_sum_f32_neon
#include "compute/reduce/reduce_sum_body.h"
