/* The loop of conv_epilogue.h for one instruction set. The including file defines NAME and MULTIPLY_ADD(a, b, c). */
#include "compute/conv/conv_epilogue.h"

void NAME(int64_t n, const float *from, float *to, float scale, float shift, float low, float high) {
  for (int64_t i = 0; i < n; i++) {
    float x = MULTIPLY_ADD(from[i], scale, shift);
    x = x < low ? low : x;
    to[i] = x > high ? high : x;
  }
}
