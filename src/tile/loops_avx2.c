/* The vectorized loops with 256-bit vectors, and fused multiplication and addition. */
#define TILE_LOOPS tile_loops_avx2
#define FORM(name) name##_avx2
#define FUSED 1
#include "tile/loops_body.h"
