/* The vectorized loops for the instructions that every processor of the architecture has. */
#define TILE_LOOPS tile_loops_portable
#define FORM(name) name##_portable
#define FUSED 0
#include "tile/loops_body.h"
