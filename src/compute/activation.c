#include "compute/activation.h"

#include "tile/in_place.h"
#include <assert.h>

void activation_formula(const TileInPlace *formula, int rows, int64_t stride, int64_t n, float *x) {
  for (int r = 0; r < rows; r++, x += stride)
    for (int64_t at = 0; at < n; at += IN_PLACE_SPAN)
      tile_in_place(formula, n - at < IN_PLACE_SPAN ? n - at : IN_PLACE_SPAN, x + at);
}

static void limit(const Activation *a, int64_t n, float *x) {
  for (int64_t i = 0; i < n; i++) {
    float least = a->low > x[i] ? a->low : x[i];
    x[i] = a->high < least ? a->high : least;
  }
}

void activation_line(const Activation *a, int64_t n, float *x) {
  assert(a->kind == ACTIVATION_LIMITS || a->kind == ACTIVATION_FORMULA);
  if (a->kind == ACTIVATION_LIMITS)
    limit(a, n, x);
  else
    activation_formula(a->formula, 1, 0, n, x);
}
