/* Flat convolution in vectors of 4, as the compiler has them. */
#include "compute/conv/flat_tile.h"

typedef float V __attribute__((vector_size(16)));
enum { LANES = 4, STEP = 4, TALL = 4, PATCH = 6 };
#define FUSED 0
#define VECTORS 2
#define DOT_TALL 4
#define KERNELS flat_kernels_portable
static inline V multiply_add(V a, V b, V c) {
  return a * b + c;
}
#include "compute/conv/flat_tile_four.h"
#include "compute/conv/flat_tile_body.h"
