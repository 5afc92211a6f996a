/* Flat convolution in vectors of 4 with NEON: 24 sums, three inputs and a weight in 32 registers. */
#include <arm_neon.h>

#include "compute/conv/flat_tile.h"

typedef float32x4_t V;
enum { LANES = 4, STEP = 8, TALL = 4, PATCH = 14 };
#define FUSED 1
#define VECTORS 3
#define DOT_TALL 8
#define KERNELS flat_kernels_neon
static inline V multiply_add(V a, V b, V c) {
  return vfmaq_f32(c, a, b);
}
#include "compute/conv/flat_tile_four.h"
#include "compute/conv/flat_tile_body.h"
