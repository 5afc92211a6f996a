/* line_normal.h for one instruction set. The including file defines NAME. */
#include <stdint.h>

#include "tile/line_normal.h"

/* What fills no part. */
static inline void add_last(int64_t n, const float *x, double first, LineMoments *moments) {
  for (int64_t i = 0; i < n; i++) {
    double d = (double)x[i] - first;
    moments->sums[0] += d;
    moments->squares[0] += d * d;
  }
}

typedef double Parts __attribute__((vector_size(LINE_PARTS / 2 * sizeof(double)), aligned(8), may_alias));
typedef float Singles __attribute__((vector_size(LINE_PARTS / 2 * sizeof(float)), aligned(4), may_alias));

static void take_moments(int64_t n, const float *x, double first, LineMoments *out) {
  int64_t i = 0;
  Parts *sums = (Parts *)out->sums, *squares = (Parts *)out->squares;
  Parts low_sums = {0}, high_sums = {0}, low_squares = {0}, high_squares = {0};
  for (; i + LINE_PARTS <= n; i += LINE_PARTS) {
    const Singles *from = (const Singles *)(x + i);
    Parts low = __builtin_convertvector(from[0], Parts) - first, high = __builtin_convertvector(from[1], Parts) - first;
    low_sums += low;
    high_sums += high;
    low_squares += low * low;
    high_squares += high * high;
  }
  sums[0] = low_sums;
  sums[1] = high_sums;
  squares[0] = low_squares;
  squares[1] = high_squares;
  add_last(n - i, x + i, first, out);
}

static void normalize_f32(int64_t n, float *to, const float *x, float center, float scale, float shift) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; i++) to[i] = (x[i] - center) * scale + shift;
}

const LineNormal NAME = {take_moments, normalize_f32};
