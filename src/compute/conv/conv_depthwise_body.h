/* Compiled for several instruction sets by the files that include it, which define NAME, LANES (floats of a vector) and
 * MULTIPLY_ADD(vector, number, vector). */
#include "compute/conv/conv_depthwise.h"

typedef float Lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
enum { BLOCK = 4 };

void NAME(int64_t taps, const int64_t *offsets, const float *weights, const float *phases, int64_t length,
          float *sums) {
  int64_t i = 0;
  for (; i + (BLOCK - 1) * LANES < length; i += BLOCK * LANES) {
    Lanes a = {0}, b = {0}, c = {0}, d = {0};
    for (int64_t t = 0; t < taps; t++) {
      const Lanes *x = (const Lanes *)(phases + offsets[t] + i);
      float w = weights[t];
      a = MULTIPLY_ADD(x[0], w, a);
      b = MULTIPLY_ADD(x[1], w, b);
      c = MULTIPLY_ADD(x[2], w, c);
      d = MULTIPLY_ADD(x[3], w, d);
    }
    Lanes *to = (Lanes *)(sums + i);
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
  }
  for (; i < length; i += LANES) {
    Lanes a = {0};
    for (int64_t t = 0; t < taps; t++) a = MULTIPLY_ADD(*(const Lanes *)(phases + offsets[t] + i), weights[t], a);
    *(Lanes *)(sums + i) = a;
  }
}
