/* Which loop a processor uses, and the loops that call libm an element at a time. */
#include "tile/loops.h"

#include <assert.h>
#include <math.h>

#include "base/processor.h"

static const TileLoops *processor_loops(void) {
  return PROCESSOR_FORM(tile_loops);
}

TileLoop *tile_loop(KernelOp op, TileType type) {
  assert(op < KERNEL_OP_COUNT && type < TILE_TYPE_COUNT);
  TileLoop *loop = PROCESSOR_HAS_AVX512 ? tile_loops_avx512[op][type] : NULL;
  if (!loop) loop = processor_loops()->loops[op][type];
  if (!loop) loop = tile_loops_complex[op][type];
  return loop ? loop : tile_loops_libm[op][type];
}

TileLoop *tile_cast_loop(TileType from, TileType to) {
  TileLoop *loop = processor_loops()->casts[from][to];
  return loop ? loop : tile_complex_casts[from][to];
}

TileLoop *tile_load_loop(DType from, TileType to) {
  TileType same = tile_type_of(from);
  return tile_type_dtype(same) == from ? tile_cast_loop(same, to) : processor_loops()->loads[from][to];
}

TileLoop *tile_store_loop(TileType from, DType to) {
  TileType same = tile_type_of(to);
  return tile_type_dtype(same) == to ? tile_cast_loop(from, same) : processor_loops()->stores[to][from];
}

/* clang-format off */
#define UNARY(name, T, expression)                                                             \
  static void name(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) { \
    T *to = to_block;                                                                          \
    const T *a = a_block;                                                                      \
    (void)b_block, (void)c_block;                                                              \
    for (int64_t i = 0; i < n; i++) {                                                          \
      T x = a[i];                                                                              \
      to[i] = (T)(expression);                                                                 \
    }                                                                                          \
  }
#define BINARY(name, T, expression)                                                            \
  static void name(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) { \
    T *to = to_block;                                                                          \
    const T *a = a_block, *b = b_block;                                                        \
    (void)c_block;                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                          \
      T x = a[i], y = b[i];                                                                    \
      to[i] = (T)(expression);                                                                 \
    }                                                                                          \
  }

/* clang-format on */

/* Python's remainder: the divisor's sign. */
#define MOD_FUNCTION(name, T, S)                     \
  T name(T x, T y) {                                 \
    T r = fmod##S(x, y);                             \
    return r != 0 && (r < 0) != (y < 0) ? r + y : r; \
  }
MOD_FUNCTION(tile_mod_f32, float, f)
static MOD_FUNCTION(mod_f64, double, )
/* Python's floor division: exact where x / y would round up to the next integer. */
#define FLOORDIV_FUNCTION(name, T, S)              \
  static T name(T x, T y) {                        \
    if (y == 0) return x / y;                      \
    T r = fmod##S(x, y), q = (x - r) / y;          \
    if (r != 0 && (y < 0) != (r < 0)) q -= 1;      \
    if (q == 0) return copysign##S(0, x / y);      \
    T whole = floor##S(q);                         \
    return q - whole > (T)0.5 ? whole + 1 : whole; \
  }
    FLOORDIV_FUNCTION(floordiv_f32, float, f) FLOORDIV_FUNCTION(floordiv_f64, double, )

    /* Division by zero is found by the interpreter before; -1 is apart because INT64_MIN / -1 overflows. */
    static int64_t truncdiv_i64(int64_t x, int64_t y) {
  return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}
static int64_t fmod_i64(int64_t x, int64_t y) {
  return y == 0 || y == -1 ? 0 : x % y;
}
static int64_t mod_i64(int64_t x, int64_t y) {
  int64_t r = fmod_i64(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static int64_t floordiv_i64(int64_t x, int64_t y) {
  int64_t r = fmod_i64(x, y), q = truncdiv_i64(x, y);
  return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}
/* Wraps around; a negative exponent leaves only what is an integer. */
static int64_t pow_i64(int64_t x, int64_t y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  uint64_t result = 1, factor = (uint64_t)x;
  for (; y; y >>= 1, factor *= factor)
    if (y & 1) result *= factor;
  return (int64_t)result;
}
static int64_t shl_i64(int64_t x, int64_t y) {
  return y < 0 || y > 63 ? 0 : (int64_t)((uint64_t)x << y);
}
static int64_t shr_i64(int64_t x, int64_t y) {
  return y < 0 || y > 63 ? (x < 0 ? -1 : 0) : x >> y;
}
static double sigmoid_f64(double x) {
  double e = exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
static double gelu_f64(double x) {
  return 0.5 * x * (1 + erf(x * 0.7071067811865476));
}

/* clang-format off */
#define SAME_NAME_UNARY(X) X(ASIN, asin) X(ACOS, acos) X(SINH, sinh) X(COSH, cosh) X(ASINH, asinh) \
  X(ACOSH, acosh) X(ATANH, atanh) X(ERFC, erfc)
#define DOUBLE_ONLY_UNARY(X) X(EXPM1, expm1) X(EXP2, exp2) X(LOG, log) X(LOG1P, log1p) X(LOG2, log2) \
  X(LOG10, log10) \
  X(SIN, sin) X(COS, cos) X(TAN, tan) X(ATAN, atan) X(TANH, tanh) X(ERF, erf)
#define DOUBLE_ONLY_BINARY(X) X(FMOD, fmod) X(ATAN2, atan2)
#define SAME_NAME_BINARY(X) X(HYPOT, hypot) X(NEXTAFTER, nextafter)
#define X(OP, name) UNARY(name##_f32_loop, float, name##f(x)) UNARY(name##_f64_loop, double, name(x))
SAME_NAME_UNARY(X)
#undef X
#define X(OP, name) UNARY(name##_f64_loop, double, name(x))
DOUBLE_ONLY_UNARY(X)
X(SIGMOID, sigmoid_f64)
X(GELU, gelu_f64)
#undef X
#define X(OP, name) BINARY(name##_f32_loop, float, name##f(x, y)) BINARY(name##_f64_loop, double, name(x, y))
SAME_NAME_BINARY(X)
#undef X
#define X(OP, name) BINARY(name##_f64_loop, double, name(x, y))
DOUBLE_ONLY_BINARY(X)
#undef X
BINARY(pow_f64_loop, double, pow(x, y))
BINARY(pow_i64_loop, int64_t, pow_i64(x, y))
BINARY(mod_f64_loop, double, mod_f64(x, y))
BINARY(mod_i64_loop, int64_t, mod_i64(x, y))
BINARY(fmod_i64_loop, int64_t, fmod_i64(x, y))
BINARY(floordiv_f32_loop, float, floordiv_f32(x, y))
BINARY(floordiv_f64_loop, double, floordiv_f64(x, y))
BINARY(floordiv_i64_loop, int64_t, floordiv_i64(x, y))
BINARY(truncdiv_f32_loop, float, truncf(x / y))
BINARY(truncdiv_f64_loop, double, trunc(x / y))
BINARY(truncdiv_i64_loop, int64_t, truncdiv_i64(x, y))
BINARY(shl_i64_loop, int64_t, shl_i64(x, y))
BINARY(shr_i64_loop, int64_t, shr_i64(x, y))
UNARY(same_f32_loop, float, x)
UNARY(same_f64_loop, double, x)
UNARY(same_i64_loop, int64_t, x)
UNARY(zero_f32_loop, float, x - x)
UNARY(zero_f64_loop, double, x - x)
UNARY(angle_f32_loop, float, x < 0 ? (float)M_PI : x != x ? x : 0)
UNARY(angle_f64_loop, double, x < 0 ? M_PI : x != x ? x : 0)

const TileLoopTable tile_loops_libm = {
#define X(OP, name) [KERNEL_##OP] = {[TILE_F32] = name##_f32_loop, [TILE_F64] = name##_f64_loop},
  SAME_NAME_UNARY(X)
#undef X
#define X(OP, name) [KERNEL_##OP] = {[TILE_F64] = name##_f64_loop},
  DOUBLE_ONLY_UNARY(X) X(SIGMOID, sigmoid_f64) X(GELU, gelu_f64)
#undef X
#define REALS(OP, name) [KERNEL_##OP] = {[TILE_I64] = name##_i64_loop, [TILE_F32] = name##_f32_loop, \
  [TILE_F64] = name##_f64_loop}
#define FLOATS(OP, name) [KERNEL_##OP] = {[TILE_F32] = name##_f32_loop, [TILE_F64] = name##_f64_loop}
#define INTS_AND_DOUBLES(OP, name) [KERNEL_##OP] = {[TILE_I64] = name##_i64_loop, [TILE_F64] = name##_f64_loop}
  INTS_AND_DOUBLES(FMOD, fmod), INTS_AND_DOUBLES(MOD, mod), INTS_AND_DOUBLES(POW, pow),
  REALS(FLOORDIV, floordiv), REALS(TRUNCDIV, truncdiv),
  REALS(REAL, same), REALS(CONJ, same), FLOATS(IMAG, zero), FLOATS(ANGLE, angle),
  [KERNEL_ATAN2] = {[TILE_F64] = atan2_f64_loop}, FLOATS(HYPOT, hypot), FLOATS(NEXTAFTER, nextafter),
  [KERNEL_SHL] = {[TILE_I64] = shl_i64_loop},
  [KERNEL_SHR] = {[TILE_I64] = shr_i64_loop}
};
