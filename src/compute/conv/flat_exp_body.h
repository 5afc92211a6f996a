/* The exponential of sigmoid and silu over one type of vectors (flat_tile_body.h), for those without a table of powers
 * in a register. Before it stand: V, splat, arithmetic by name, FUSED and exponents, the low bits of each lane in the
 * place of an exponent. */
#include "tile/vector_math_body.h"

/* 1 + e^-x, with f32_exp's polynomial. Infinite already from 2^127.5 on, so that what is divided by it is 0 for x below
 * -88.4, and NaN for -infinity. */
static inline __attribute__((always_inline)) V one_and_exp_minus(V x) {
  const float round = ROUND_BIASED(127);
  V t = clamp(minus(splat(0), x), splat(-87), splat(89));
  V shifted = multiply_add(t, splat(LOG2_E), splat(round)), n = minus(shifted, splat(round));
  V r = multiply_add(n, splat(-LN2_LO), multiply_add(n, splat(-LN2_HI), t));
  V q = multiply_add(splat(EXP_6), r, splat(EXP_5));
  q = multiply_add(q, r, splat(EXP_4));
  q = multiply_add(q, r, splat(EXP_3));
  q = multiply_add(q, r, splat(EXP_2));
  V p = multiply_add(multiply_add(q, r, splat(1)), r, splat(1));
  return multiply_add(p, exponents(shifted), splat(1));
}
