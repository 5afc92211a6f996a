/* Rows of float32 with 256-bit vectors. */
#define FORM(name) name##_avx2
#define FUSED 1
#include "compute/reduce/reduce_float32_body.h"
