/* Sums of float64, in the order of those of float32: what such a line gives when it is converted first. */
#define ELEMENT double
#define SUM line_sum_f64
#define SQUARES line_squares_f64
#include "tile/line_sum_body.h"
