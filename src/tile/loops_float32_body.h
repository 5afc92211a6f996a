/* How the loops that compilers vectorize are written, and the float32 ones that most computations are made of: included
 * by loops_body.h, and by itself for instruction sets that are worth it for these alone. A loop computes each element
 * from that element alone by the same operations wherever it stands, so results don't depend on position. */
#include "tile/loops.h"
#include "tile/vector_math_body.h"

/* clang-format off */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define UNARY(name, T, R, expression)                                                          \
  static void name(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) { \
    R *to = to_block;                                                                          \
    const T *a = a_block;                                                                      \
    (void)b_block, (void)c_block;                                                              \
    INDEPENDENT for (int64_t i = 0; i < n; i++) {                                              \
      T x = a[i];                                                                              \
      to[i] = (R)(expression);                                                                 \
    }                                                                                          \
  }
#define BINARY(name, T, R, expression)                                                         \
  static void name(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) { \
    R *to = to_block;                                                                          \
    const T *a = a_block, *b = b_block;                                                        \
    (void)c_block;                                                                             \
    INDEPENDENT for (int64_t i = 0; i < n; i++) {                                              \
      T x = a[i], y = b[i];                                                                    \
      to[i] = (R)(expression);                                                                 \
    }                                                                                          \
  }
#define SELECT_LOOP(name, T)                                                                   \
  static void name(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) { \
    T *to = to_block;                                                                          \
    const T *a = a_block, *b = b_block;                                                        \
    const uint8_t *c = c_block;                                                                \
    INDEPENDENT for (int64_t i = 0; i < n; i++) {                                              \
      T x = a[i], y = b[i];                                                                    \
      to[i] = c[i] ? x : y;                                                                    \
    }                                                                                          \
  }

/* Both float types alike. */
#define FLOAT_LOOPS(P, T, S)                                                                   \
  static inline T P##_within_6(T x) {                                                          \
    x = x > 0 ? x : 0;                                                                         \
    return x < 6 ? x : 6;                                                                      \
  }                                                                                            \
  UNARY(P##_hardswish, T, T, x *P##_within_6(x + 3) / 6)                                       \
  BINARY(P##_leaky_relu, T, T, x > 0 ? x : x * y)                                              \
  UNARY(P##_neg, T, T, -x)                                                                     \
  UNARY(P##_abs, T, T, fabs##S(x))                                                             \
  UNARY(P##_sign, T, T, (T)(x > 0) - (T)(x < 0))                                               \
  UNARY(P##_square, T, T, x *x)                                                                \
  UNARY(P##_reciprocal, T, T, 1 / x)                                                           \
  UNARY(P##_sqrt, T, T, __builtin_sqrt##S(x))                                                  \
  UNARY(P##_rsqrt, T, T, 1 / __builtin_sqrt##S(x))                                             \
  UNARY(P##_floor, T, T, __builtin_floor##S(x))                                                \
  UNARY(P##_ceil, T, T, __builtin_ceil##S(x))                                                  \
  UNARY(P##_round, T, T, __builtin_rint##S(x))                                                 \
  UNARY(P##_trunc, T, T, __builtin_trunc##S(x))                                                \
  UNARY(P##_isnan, T, uint8_t, x != x)                                                         \
  UNARY(P##_isinf, T, uint8_t, fabs##S(x) == (T)INFINITY)                                      \
  UNARY(P##_signbit, T, uint8_t, copysign##S(1, x) < 0)                                        \
  BINARY(P##_div, T, T, x / y)                                                                 \
  BINARY(P##_copysign, T, T, copysign##S(x, y))                                                \
  BINARY(P##_min, T, T, x < y ? x : x != x ? x : y)                                            \
  BINARY(P##_max, T, T, x > y ? x : x != x ? x : y)                                            \
  BINARY(P##_fmin, T, T, x < y || y != y ? x : y)                                              \
  BINARY(P##_fmax, T, T, x > y || y != y ? x : y)                                              \
  BINARY(P##_add, T, T, x + y)                                                                 \
  BINARY(P##_sub, T, T, x - y)                                                                 \
  BINARY(P##_mul, T, T, x *y)
#define ORDER_LOOPS(P, T)                                                                      \
  BINARY(P##_eq, T, uint8_t, x == y)                                                           \
  BINARY(P##_ne, T, uint8_t, x != y)                                                           \
  BINARY(P##_lt, T, uint8_t, x < y)                                                            \
  BINARY(P##_le, T, uint8_t, x <= y)                                                           \
  BINARY(P##_gt, T, uint8_t, x > y)                                                            \
  BINARY(P##_ge, T, uint8_t, x >= y)                                                           \
  SELECT_LOOP(P##_select, T)

FLOAT_LOOPS(f32, float, f)
ORDER_LOOPS(f32, float)
UNARY(f32_exp_loop, float, float, f32_exp(x))
UNARY(f32_expm1_loop, float, float, f32_expm1(x))
UNARY(f32_log_loop, float, float, f32_log(x))
UNARY(f32_tanh_loop, float, float, f32_tanh(x))
UNARY(f32_sigmoid_loop, float, float, f32_sigmoid(x))
UNARY(f32_erf_loop, float, float, f32_erf(x))
UNARY(f32_gelu_loop, float, float, f32_gelu(x))
/* clang-format on */
