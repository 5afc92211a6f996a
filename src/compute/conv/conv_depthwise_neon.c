/* Depthwise convolution's inner loop with NEON. */
#include <arm_neon.h>
#define NAME conv_depthwise_run_neon
#define LANES 4
#define MULTIPLY_ADD(a, b, c) vfmaq_n_f32((c), (a), (b))
#include "compute/conv/conv_depthwise_body.h"
