/* Loops over complex numbers, which compute in double; complex64 is rounded when it is stored. */
#include <complex.h>
#include <math.h>

#include "tile/loops.h"
#undef I

/* clang-format off */
#define LOOP(name, R, T, binary, expression)                                                   \
  static void name(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) { \
    R *to = to_block;                                                                          \
    const T *a = a_block, *b = binary ? b_block : a_block;                                     \
    (void)b_block, (void)c_block;                                                              \
    for (int64_t i = 0; i < n; i++) {                                                          \
      T x = a[i], y = b[i];                                                                    \
      (void)y;                                                                                 \
      to[i] = (R)(expression);                                                                 \
    }                                                                                          \
  }
#define UNARY(name, expression) LOOP(name, complex128, complex128, false, expression)
#define TO_REAL(name, expression) LOOP(name, double, complex128, false, expression)
#define BINARY(name, expression) LOOP(name, complex128, complex128, true, expression)
#define COMPARE(name, expression) LOOP(name, uint8_t, complex128, true, expression)

/* clang-format on */

static complex128 complex_of(double real,
                             double imaginary) { /* not real + imaginary * I, which makes NaN of infinities */
  complex128 z;
  __real__ z = real;
  __imag__ z = imaginary;
  return z;
}
static complex128 sgn(complex128 x) {
  double magnitude = cabs(x);
  return magnitude == 0 ? 0 : complex_of(creal(x) / magnitude, cimag(x) / magnitude);
}
/* By the definition, so that an infinite part does not invent others. */
static complex128 multiply(complex128 x, complex128 y) {
  return complex_of(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}
static complex128 scale(complex128 x, double factor) {
  return complex_of(creal(x) * factor, cimag(x) * factor);
}
static complex128 sigmoid(complex128 x) {
  return 1 / (1 + cexp(-x));
}
static complex128 expm1_complex(
    complex128 x) { /* without cancellation: e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b/2) */
  double a = creal(x), b = cimag(x), s = sin(b / 2);
  return complex_of(expm1(a) * cos(b) - 2 * s * s, exp(a) * sin(b));
}
static complex128 log1p_complex(complex128 x) {
  double a = creal(x), b = cimag(x);
  return complex_of(0.5 * log1p(a * (2 + a) + b * b), atan2(b, 1 + a));
}
static complex128 power(complex128 x, complex128 y) {
  if (creal(y) == 0 && cimag(y) == 0) return 1;
  if (creal(x) == 0 && cimag(x) == 0) return creal(y) > 0 ? 0 : cpow(x, y);
  if (cimag(y) == 0 && creal(y) == 2) return multiply(x, x);
  return cpow(x, y);
}

/* clang-format off */
UNARY(neg_loop, -x)
UNARY(sgn_loop, sgn(x))
UNARY(square_loop, multiply(x, x))
UNARY(reciprocal_loop, 1 / x)
UNARY(exp_loop, cexp(x))
UNARY(expm1_loop, expm1_complex(x))
UNARY(exp2_loop, cexp(scale(x, M_LN2)))
UNARY(log_loop, clog(x))
UNARY(log1p_loop, log1p_complex(x))
UNARY(log2_loop, scale(clog(x), M_LOG2E))
UNARY(log10_loop, scale(clog(x), M_LOG10E))
UNARY(sqrt_loop, csqrt(x))
UNARY(rsqrt_loop, 1 / csqrt(x))
#define LIBM(X) X(SIN, sin) X(COS, cos) X(TAN, tan) X(ASIN, asin) X(ACOS, acos) X(ATAN, atan) X(SINH, sinh) \
  X(COSH, cosh) \
  X(TANH, tanh) X(ASINH, asinh) X(ACOSH, acosh) X(ATANH, atanh)
#define X(OP, name) UNARY(name##_loop, c##name(x))
LIBM(X)
#undef X
UNARY(sigmoid_loop, sigmoid(x))
UNARY(conj_loop, conj(x))
TO_REAL(angle_loop, carg(x))
TO_REAL(real_loop, creal(x))
TO_REAL(imag_loop, cimag(x))
COMPARE(isnan_loop, isnan(creal(x)) || isnan(cimag(x)))
COMPARE(isinf_loop, isinf(creal(x)) || isinf(cimag(x)))
BINARY(add_loop, x + y)
BINARY(sub_loop, x - y)
BINARY(mul_loop, multiply(x, y))
BINARY(div_loop, x / y)
BINARY(pow_loop, power(x, y))
COMPARE(eq_loop, x == y)
COMPARE(ne_loop, x != y)
static void select_loop(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  complex128 *to = to_block;
  const complex128 *a = a_block, *b = b_block;
  const uint8_t *c = c_block;
  for (int64_t i = 0; i < n; i++) to[i] = c[i] ? a[i] : b[i];
}

const TileLoopTable tile_loops_complex = {
#define ROW(OP, name) [KERNEL_##OP] = {[TILE_C128] = name##_loop},
#define X(OP, name) ROW(OP, name)
  LIBM(X)
#undef X
  ROW(NEG, neg) ROW(SIGN, sgn) ROW(SQUARE, square) ROW(RECIPROCAL, reciprocal) ROW(EXP, exp)
  ROW(EXPM1, expm1)
  ROW(EXP2, exp2) ROW(LOG, log) ROW(LOG1P, log1p) ROW(LOG2, log2) ROW(LOG10, log10) ROW(SQRT, sqrt) ROW(RSQRT, rsqrt)
  ROW(SIGMOID, sigmoid) ROW(CONJ, conj) ROW(ANGLE, angle) ROW(REAL, real) ROW(IMAG, imag) ROW(ISNAN, isnan)
  ROW(ISINF, isinf)
  ROW(ADD, add) ROW(SUB, sub) ROW(MUL, mul) ROW(DIV, div) ROW(POW, pow) ROW(EQ, eq) ROW(NE, ne) ROW(SELECT, select)
};

LOOP(from_bool, complex128, uint8_t, false, x)
LOOP(from_i64, complex128, int64_t, false, x)
LOOP(from_f32, complex128, float, false, x)
LOOP(from_f64, complex128, double, false, x)
LOOP(to_bool, uint8_t, complex128, false, x != 0)
LOOP(to_i64, int64_t, complex128, false, creal(x) >= -0x1p63 && creal(x) < 0x1p63 ? (int64_t)creal(x) : INT64_MIN)
LOOP(to_f32, float, complex128, false, creal(x))
LOOP(to_f64, double, complex128, false, creal(x))
TileLoop *const tile_complex_casts[TILE_TYPE_COUNT][TILE_TYPE_COUNT] = {
  [TILE_BOOL] = {[TILE_C128] = from_bool}, [TILE_I64] = {[TILE_C128] = from_i64},
  [TILE_F32] = {[TILE_C128] = from_f32}, [TILE_F64] = {[TILE_C128] = from_f64},
  [TILE_C128] = {[TILE_BOOL] = to_bool, [TILE_I64] = to_i64, [TILE_F32] = to_f32, [TILE_F64] = to_f64}
};
