/* half.h without instructions for it. */
#include "tensor/dtype.h"
#include "tensor/half.h"

void floats_from_halves_portable(int64_t n, float *to, const uint16_t *from) {
  for (int64_t i = 0; i < n; i++) to[i] = half_to_float(from[i]);
}
void halves_from_floats_portable(int64_t n, uint16_t *to, const float *from) {
  for (int64_t i = 0; i < n; i++) to[i] = half_from_float(from[i]);
}
