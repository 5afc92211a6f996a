/* Sums of float32 with 256-bit vectors. */
#define ELEMENT float
#define SUM line_sum_f32_avx2
#define SQUARES line_squares_f32_avx2
#include "tile/line_sum_body.h"
