/* The vectorised loops for the instructions that every processor of the architecture has. */
#define TILE_LOOPS tile_loops_portable
#define FUSED 0
#define HALF_TO_FLOAT(x) half_to_float(x)
#define HALF_FROM_FLOAT(x) half_from_float(x)
#include "tile/loops_body.h"
