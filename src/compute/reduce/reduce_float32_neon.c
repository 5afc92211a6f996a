/* Rows of float32 with NEON. */
#define FORM(name) name##_neon
#define FUSED 1
#include "compute/reduce/reduce_float32_body.h"
