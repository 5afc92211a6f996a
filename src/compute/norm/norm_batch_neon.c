/* Batch normalization with NEON. */
#define NAME norm_batch_neon
#include "compute/norm/norm_batch_body.h"
