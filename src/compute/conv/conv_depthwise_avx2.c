/* Depthwise convolution's inner loop with AVX2. */
#include <immintrin.h>
#define NAME conv_depthwise_run_avx2
#define LANES 8
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps((a), _mm256_set1_ps(b), (c))
#include "compute/conv/conv_depthwise_body.h"
