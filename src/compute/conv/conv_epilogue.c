/* Names of activations, and those that are the loops of pointwise operators. */
#include "compute/conv/conv_epilogue.h"

#include "tile/loops.h"

static const char *const names[] = {
#define X(name, text) text,
    CONV_ACTIVATIONS(X)
#undef X
};

const char *conv_activation_name(ConvActivation activation) {
  return names[activation];
}

ConvActivation conv_activation_find(Str name) {
  for (int i = 0; i < CONV_ACTIVATION_COUNT; i++)
    if (str_is(name, names[i])) return (ConvActivation)i;
  return CONV_NONE;
}

void conv_gelu(int rows, int64_t stride, int64_t n, float *x) {
  TileLoop *gelu = tile_loop(KERNEL_GELU, TILE_F32);
  for (int r = 0; r < rows; r++, x += stride) gelu(n, x, x, NULL, NULL);
}
