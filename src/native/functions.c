/* Elementary functions as vector code: the steps of tile/vector_math_body.h with fused multiplication and addition, and
 * its numbers. */
#include "native/functions.h"

#include "tile/vector_math_numbers.h"

enum { NONE = VECTOR_NO_VALUE };

static VectorValue add(const VectorMath *m, VectorOp op, VectorValue a, VectorValue b, VectorValue c) {
  return vector_add(m->code, op, m->kind, a, b, c, 0);
}
static VectorValue number(const VectorMath *m, double value) {
  return vector_constant(m->code, m->kind, value);
}
static VectorValue bits(const VectorMath *m, int64_t value) {
  return vector_bits(m->code, m->kind, value);
}
static VectorValue fused(const VectorMath *m, VectorValue a, VectorValue b, VectorValue c) {
  return add(m, VECTOR_FMA, a, b, c);
}
static VectorValue times(const VectorMath *m, VectorValue a, VectorValue b) {
  return add(m, VECTOR_MUL, a, b, NONE);
}
static VectorValue plus(const VectorMath *m, VectorValue a, VectorValue b) {
  return add(m, VECTOR_ADD, a, b, NONE);
}
static VectorValue minus(const VectorMath *m, VectorValue a, VectorValue b) {
  return add(m, VECTOR_SUB, a, b, NONE);
}
static VectorValue over(const VectorMath *m, VectorValue a, VectorValue b) {
  return add(m, VECTOR_DIV, a, b, NONE);
}
static VectorValue both(const VectorMath *m, VectorValue a, VectorValue b) {
  return add(m, VECTOR_AND, a, b, NONE);
}
static VectorValue compare(const VectorMath *m, VectorComparison how, VectorValue a, VectorValue b) {
  return vector_add(m->code, VECTOR_COMPARE, m->kind, a, b, NONE, how);
}
static VectorValue choose(const VectorMath *m, VectorValue condition, VectorValue a, VectorValue b) {
  return add(m, VECTOR_CHOOSE, a, b, condition);
}
static VectorValue shift_left(const VectorMath *m, VectorValue a, int count) {
  return vector_add(m->code, VECTOR_SHIFT_LEFT, m->kind, a, NONE, NONE, count);
}
static VectorValue shift_right(const VectorMath *m, VectorValue a, int count) {
  return vector_add(m->code, VECTOR_SHIFT_RIGHT, m->kind, a, NONE, NONE, count);
}

/* From the highest power on. */
static VectorValue polynomial(const VectorMath *m, VectorValue x, const double *numbers, int count) {
  VectorValue sum = number(m, numbers[0]);
  for (int i = 1; i < count; i++) sum = fused(m, sum, x, number(m, numbers[i]));
  return sum;
}
#define POLYNOMIAL(m, x, ...) \
  polynomial(m, x, (const double[])__VA_ARGS__, (int)(sizeof(const double[]) __VA_ARGS__ / sizeof(double)))

static VectorValue magnitude(const VectorMath *m, VectorValue x) {
  return both(m, x, bits(m, 0x7fffffff));
}
/* Of a number without a sign. */
static VectorValue with_sign_of(const VectorMath *m, VectorValue value, VectorValue x) {
  return add(m, VECTOR_OR, magnitude(m, value), both(m, x, bits(m, 0x80000000ll)), NONE);
}

static VectorValue power_of_two(const VectorMath *m, VectorValue biased) {
  return shift_left(m, biased, 23);
}

static VectorValue exp_core(const VectorMath *m, VectorValue r) {
  VectorValue q = POLYNOMIAL(m, r, EXP_NUMBERS), one = number(m, 1);
  return fused(m, fused(m, q, r, one), r, one);
}

static VectorValue exp_clamped(const VectorMath *m, VectorValue x) {
  VectorValue rounding = number(m, ROUND_BIASED(254));
  VectorValue shifted = fused(m, x, number(m, LOG2_E), rounding), n = minus(m, shifted, rounding);
  VectorValue r = fused(m, n, number(m, -LN2_LO), fused(m, n, number(m, -LN2_HI), x));
  VectorValue half = shift_right(m, shifted, 1);
  VectorValue rest = add(m, VECTOR_SUB_BITS, shifted, half, NONE);
  return times(m, times(m, exp_core(m, r), power_of_two(m, half)), power_of_two(m, rest));
}

/* x < limit ? limit : x, which leaves NaN. */
static VectorValue at_least(const VectorMath *m, VectorValue x, double limit) {
  return add(m, VECTOR_MAX, number(m, limit), x, NONE);
}
static VectorValue at_most(const VectorMath *m, VectorValue x, double limit) {
  return add(m, VECTOR_MIN, number(m, limit), x, NONE);
}

static VectorValue exp_f64(const VectorMath *m, VectorValue x) {
  x = at_most(m, at_least(m, x, EXP_LEAST_D), EXP_MOST_D);
  VectorValue rounding = number(m, ROUND_D + 2046.0);
  VectorValue shifted = fused(m, x, number(m, LOG2_E_D), rounding), n = minus(m, shifted, rounding);
  VectorValue r = fused(m, n, number(m, -LN2_LO_D), fused(m, n, number(m, -LN2_HI_D), x));
  VectorValue p = POLYNOMIAL(m, r, EXP_NUMBERS_D);
  p = plus(m, fused(m, times(m, p, r), r, r), number(m, 1));
  VectorValue biased = both(m, shifted, bits(m, 0xfff)), half = shift_right(m, biased, 1);
  VectorValue rest = add(m, VECTOR_SUB_BITS, biased, half, NONE);
  return times(m, times(m, p, shift_left(m, half, 52)), shift_left(m, rest, 52));
}

VectorValue vector_exp(const VectorMath *m, VectorValue x) {
  if (m->kind == VECTOR_F64) return exp_f64(m, x);
  return exp_clamped(m, at_most(m, at_least(m, x, EXP_LEAST), EXP_MOST));
}

VectorValue vector_tanh(const VectorMath *m, VectorValue x) {
  VectorValue a = magnitude(m, x), z = times(m, x, x), one = number(m, 1);
  VectorValue small = fused(m, times(m, POLYNOMIAL(m, z, TANH_NUMBERS), z), a, a);
  VectorValue y = choose(m, compare(m, VECTOR_GT, a, number(m, TANH_ONE)), number(m, 10), a);
  y = plus(m, y, y);
  VectorValue rounding = number(m, ROUND_BIASED(127));
  VectorValue shifted = fused(m, y, number(m, LOG2_E), rounding);
  VectorValue r = fused(m, minus(m, shifted, rounding), number(m, -LN2), y);
  VectorValue large = fused(m, exp_core(m, r), power_of_two(m, shifted), one);
  large = minus(m, one, over(m, number(m, 2), large));
  return with_sign_of(m, choose(m, compare(m, VECTOR_GT, a, number(m, TANH_SMALL)), large, small), x);
}

VectorValue vector_sigmoid(const VectorMath *m, VectorValue x) {
  VectorValue one = number(m, 1), y = add(m, VECTOR_OR, x, bits(m, 0x80000000ll), NONE);
  VectorValue e = exp_clamped(m, at_least(m, y, EXP_LEAST));
  VectorValue above = choose(m, compare(m, VECTOR_LT, x, number(m, 0)), e, one);
  return over(m, above, plus(m, one, e));
}

static VectorValue magnitude_below_most(const VectorMath *m, VectorValue x) {
  VectorValue turn = bits(m, ERF_TURN);
  union {
    float number;
    uint32_t bits;
  } most = {ERF_MOST};
  VectorValue turned = add(m, VECTOR_ADD_BITS, magnitude(m, x), turn, NONE);
  VectorValue least = add(m, VECTOR_MIN_BITS, turned, bits(m, (int64_t)most.bits + ERF_TURN), NONE);
  return add(m, VECTOR_SUB_BITS, least, turn, NONE);
}

VectorValue vector_erf(const VectorMath *m, VectorValue x) {
  VectorValue t = magnitude_below_most(m, x), z = times(m, t, t), one = number(m, 1);
  VectorValue even = POLYNOMIAL(m, z, ERF_EVEN), odd = POLYNOMIAL(m, z, ERF_ODD);
  VectorValue h = fused(m, z, fused(m, odd, t, even), t), rounding = number(m, ROUND_BIASED(127));
  VectorValue shifted = fused(m, h, number(m, ERF_EXPONENT), rounding);
  VectorValue r = fused(m, minus(m, shifted, rounding), number(m, ERF_REST), h);
  VectorValue p = POLYNOMIAL(m, r, ERF_NUMBERS);
  p = fused(m, p, r, r);
  VectorValue scale = power_of_two(m, shifted);
  return with_sign_of(m, fused(m, scale, p, minus(m, one, scale)), x);
}

VectorValue vector_gelu(const VectorMath *m, VectorValue x) {
  VectorValue sum = plus(m, number(m, 1), vector_erf(m, times(m, x, number(m, SQRT_HALF))));
  return times(m, times(m, number(m, 0.5), x), sum);
}
