/* Depthwise convolution's inner loop with what every processor has. */
#define NAME conv_depthwise_run_portable
#define LANES 8
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "compute/conv/conv_depthwise_body.h"
