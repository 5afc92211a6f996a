/* Batch normalization with AVX2. */
#define NAME norm_batch_avx2
#include "compute/norm/norm_batch_body.h"
