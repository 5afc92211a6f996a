/* The vectorized loops with NEON, and fused multiplication and addition. */
#define TILE_LOOPS tile_loops_neon
#define FORM(name) name##_neon
#define FUSED 1
#include "tile/loops_body.h"
