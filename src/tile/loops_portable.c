/* The vectorized loops for the instructions that every processor of the architecture has. */
#define TILE_LOOPS tile_loops_portable
#define FUSED 0
#define HALF_LOOPS \
  UNARY(load_half, uint16_t, float, half_to_float(x)) UNARY(store_half, float, uint16_t, half_from_float(x))
#include "tile/loops_body.h"
