#include "compute/activation.h"

#include "tile/in_place.h"

void activation_formula(const TileInPlace *formula, int rows, int64_t stride, int64_t n, float *x) {
  for (int r = 0; r < rows; r++, x += stride)
    for (int64_t at = 0; at < n; at += IN_PLACE_SPAN)
      tile_in_place(formula, n - at < IN_PLACE_SPAN ? n - at : IN_PLACE_SPAN, x + at);
}
