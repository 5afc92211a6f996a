/* Sums of float32 with NEON. */
#define ELEMENT float
#define SUM line_sum_f32_neon
#define SQUARES line_squares_f32_neon
#include "tile/line_sum_body.h"
