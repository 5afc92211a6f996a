/* Vectors of 4 floats as the compiler has them: what flat convolution's tiles of NEON and of no particular processor
 * share. V, LANES and multiply_add() are theirs. */
#pragma once

#include <string.h>
#include "compute/conv/flat_tile.h"

typedef int Mask; /* how many lanes */
static inline Mask mask_of(int n) {
  return n;
}
static inline V load(const float *p) {
  V x;
  memcpy(&x, p, sizeof x);
  return x;
}
static inline V load_masked(const float *p, Mask m) {
  if (m == LANES) return load(p);
  V x = {0};
  for (int i = 0; i < m; i++) x[i] = p[i];
  return x;
}
static inline void store(float *p, V x) {
  memcpy(p, &x, sizeof x);
}
static inline void store_masked(float *p, Mask m, V x) {
  if (m == LANES)
    memcpy(p, &x, sizeof x);
  else
    for (int i = 0; i < m; i++) p[i] = x[i];
}
static inline V splat(float x) {
  return (V){x, x, x, x};
}
static inline V plus(V a, V b) {
  return a + b;
}
static inline V minus(V a, V b) {
  return a - b;
}
static inline V multiply(V a, V b) {
  return a * b;
}
static inline V divide(V a, V b) {
  return a / b;
}
static inline V clamp(V x, V low, V high) {
  for (int i = 0; i < LANES; i++) {
    float up = x[i] < low[i] ? low[i] : x[i];
    x[i] = up > high[i] ? high[i] : up;
  }
  return x;
}
static inline V greater(V x, V y) {
  for (int i = 0; i < LANES; i++) y[i] = x[i] > y[i] || x[i] != x[i] ? x[i] : y[i];
  return y;
}
/* The low bits of each lane in the place of an exponent. */
static inline V exponents(V x) {
  typedef uint32_t Bits __attribute__((vector_size(16)));
  return (V)((Bits)x << 23);
}
/* x[0] y[0] x[1] y[1] ... */
static inline void interleave(V x, V y, V *low, V *high) {
  *low = (V){x[0], y[0], x[1], y[1]};
  *high = (V){x[2], y[2], x[3], y[3]};
}
/* The way back. */
static inline void deinterleave(V low, V high, V *x, V *y) {
  *x = (V){low[0], low[2], high[0], high[2]};
  *y = (V){low[1], low[3], high[1], high[3]};
}
static inline __attribute__((always_inline)) void transpose(V *x) {
  for (int i = 0; i < LANES; i++)
    for (int j = 0; j < i; j++) {
      float held = x[i][j];
      x[i][j] = x[j][i];
      x[j][i] = held;
    }
}
/* p[0], p[2], ... of which n are wanted. */
static inline V evens(const float *p, int n) {
  V x = {0};
  for (int i = 0; i < n; i++) x[i] = p[2 * i];
  return x;
}

#include "compute/conv/flat_exp_body.h"
