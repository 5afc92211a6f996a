/* The accumulators: one STEP each, expanded for runs down (one value to each state) and along (many values to one
 * state).
 *
 * In a STEP `x` is the value, `a`, `b`, `c` the states, `at` its position among the reduced values, `params` the
 * parameters. */
#include "compute/reduce/reduce_ops.h"

#include <complex.h>
#include <math.h>

#define CLASS_f REDUCE_F64
#define CLASS_i REDUCE_I64
#define CLASS_c REDUCE_C128
#define CTYPE_f double
#define CTYPE_i int64_t
#define CTYPE_c complex128
/* unused */
#define CLASS_u REDUCE_I64
#define CTYPE_u short

#define FINISH(A, B, C, OUT, to, RESULT)      \
  if (to) {                                   \
    const CTYPE_##A *restrict as = s[0];      \
    const CTYPE_##B *restrict bs = s[1];      \
    const CTYPE_##C *restrict cs = s[2];      \
    CTYPE_##OUT *restrict results = to;       \
    double count = (double)params->count;     \
    for (int64_t i = 0; i < n; i++) {         \
      CTYPE_##A a = as[i];                    \
      CTYPE_##B b = bs[i];                    \
      CTYPE_##C c = cs[i];                    \
      (void)a, (void)b, (void)c, (void)count; \
      results[i] = (RESULT);                  \
    }                                         \
  }
/* IN, A, B, C: letters of the input's class and the three states'; OUT0, OUT1: of the results'. */
#define ACCUMULATOR_WITH(NAME, ALONG, FLOAT32, MAGNITUDE, IN, A, B, C, START, STEP, OUT0, FINISH0, OUT1, FINISH1)  \
  static void NAME##_start(void *const *s, int64_t n, const ReduceParams *params) {                                \
    CTYPE_##A a = 0;                                                                                               \
    CTYPE_##B b = 0;                                                                                               \
    CTYPE_##C c = 0;                                                                                               \
    (void)params;                                                                                                  \
    START;                                                                                                         \
    for (int64_t i = 0; i < n; i++) ((CTYPE_##A *)s[0])[i] = a;                                                    \
    for (int64_t i = 0; i < n; i++) ((CTYPE_##B *)s[1])[i] = b;                                                    \
    for (int64_t i = 0; i < n; i++) ((CTYPE_##C *)s[2])[i] = c;                                                    \
  }                                                                                                                \
  static void NAME##_down(void *const *s, const void *values, int64_t n, int64_t at, const ReduceParams *params) { \
    (void)params;                                                                                                  \
    (void)at;                                                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                                              \
      CTYPE_##IN x = ((const CTYPE_##IN *)values)[i];                                                              \
      CTYPE_##A a = ((CTYPE_##A *)s[0])[i];                                                                        \
      CTYPE_##B b = ((CTYPE_##B *)s[1])[i];                                                                        \
      CTYPE_##C c = ((CTYPE_##C *)s[2])[i];                                                                        \
      STEP;                                                                                                        \
      ((CTYPE_##A *)s[0])[i] = a;                                                                                  \
      ((CTYPE_##B *)s[1])[i] = b;                                                                                  \
      ((CTYPE_##C *)s[2])[i] = c;                                                                                  \
    }                                                                                                              \
  }                                                                                                                \
  __attribute__((unused)) static void NAME##_along(void *const *s, const void *values, int64_t n, int64_t at,      \
                                                   const ReduceParams *params) {                                   \
    (void)params;                                                                                                  \
    CTYPE_##A a = *(CTYPE_##A *)s[0];                                                                              \
    CTYPE_##B b = *(CTYPE_##B *)s[1];                                                                              \
    CTYPE_##C c = *(CTYPE_##C *)s[2];                                                                              \
    for (int64_t i = 0; i < n; i++, at++) {                                                                        \
      CTYPE_##IN x = ((const CTYPE_##IN *)values)[i];                                                              \
      STEP;                                                                                                        \
    }                                                                                                              \
    *(CTYPE_##A *)s[0] = a;                                                                                        \
    *(CTYPE_##B *)s[1] = b;                                                                                        \
    *(CTYPE_##C *)s[2] = c;                                                                                        \
  }                                                                                                                \
  static void NAME##_finish(void *const *s, int64_t n, const ReduceParams *params, void *const out[2]) {           \
    FINISH(A, B, C, OUT0, out[0], FINISH0)                                                                         \
    FINISH(A, B, C, OUT1, out[1], FINISH1)                                                                         \
  }                                                                                                                \
  const ReduceOp reduce_##NAME = {                                                                                 \
      CLASS_##IN, {CLASS_##OUT0, CLASS_##OUT1}, MAGNITUDE, NAME##_start, NAME##_down, ALONG, NAME##_finish, FLOAT32}
#define ACCUMULATOR(NAME, ...) ACCUMULATOR_WITH(NAME, NAME##_along, REDUCE_FLOAT32_NONE, __VA_ARGS__)

#define SIMPLE(NAME, IN, A, START, STEP, OUT, FINISH) \
  ACCUMULATOR(NAME, false, IN, A, u, u, START, STEP, OUT, FINISH, u, 0)
#define NOTHING ((void)0)

#define LANES(NAME, LINE)                                                                                   \
  static void NAME(void *const *s, const void *values, int64_t n, int64_t at, const ReduceParams *params) { \
    (void)at;                                                                                               \
    (void)params;                                                                                           \
    *(double *)s[0] += LINE(n, values);                                                                     \
  }
LANES(sum_lanes, line_sum_f64)
LANES(squares_lanes, line_squares_f64)

ACCUMULATOR_WITH(sum_f64, sum_lanes, REDUCE_FLOAT32_SUM, false, f, f, u, u, NOTHING, a += x, f, a, u, 0);
SIMPLE(sum_i64, i, i, NOTHING, a = (int64_t)((uint64_t)a + (uint64_t)x), i, a);
SIMPLE(sum_c128, c, c, NOTHING, a += x, c, a);
SIMPLE(nansum_f64, f, f, NOTHING, a += isnan(x) ? 0 : x, f, a);
SIMPLE(prod_f64, f, f, a = 1, a *= x, f, a);
SIMPLE(prod_i64, i, i, a = 1, a = (int64_t)((uint64_t)a * (uint64_t)x), i, a);
SIMPLE(prod_c128, c, c, a = 1, a *= x, c, a);
ACCUMULATOR_WITH(mean_f64, sum_lanes, REDUCE_FLOAT32_SUM, false, f, f, u, u, NOTHING, a += x, f, a / count, u, 0);
SIMPLE(mean_c128, c, c, NOTHING, a += x, c, a / count);
SIMPLE(any_f64, f, i, NOTHING, a |= x != 0, i, a);
SIMPLE(any_i64, i, i, NOTHING, a |= x != 0, i, a);
SIMPLE(any_c128, c, i, NOTHING, a |= x != 0, i, a);
SIMPLE(all_f64, f, i, a = 1, a &= x != 0, i, a);
SIMPLE(all_i64, i, i, a = 1, a &= x != 0, i, a);
SIMPLE(all_c128, c, i, a = 1, a &= x != 0, i, a);
SIMPLE(count_f64, f, i, NOTHING, a += x != 0, i, a);
SIMPLE(count_i64, i, i, NOTHING, a += x != 0, i, a);
SIMPLE(count_c128, c, i, NOTHING, a += x != 0, i, a);

/* The first of equal values wins; a NaN wins over numbers and the first NaN over later ones. */
#define EXTREME(NAME, FLOAT32, IN, BETTER)                      \
  ACCUMULATOR_WITH(                                             \
      NAME, NAME##_along, FLOAT32, false, IN, IN, i, u, b = -1, \
      if (b < 0 || (BETTER)) {                                  \
        a = x;                                                  \
        b = at;                                                 \
      },                                                        \
      IN, a, i, b)
EXTREME(max_f64, REDUCE_FLOAT32_MAX, f, x > a || (isnan(x) && !isnan(a)));
EXTREME(min_f64, REDUCE_FLOAT32_MIN, f, x < a || (isnan(x) && !isnan(a)));
EXTREME(max_i64, REDUCE_FLOAT32_NONE, i, x > a);
EXTREME(min_i64, REDUCE_FLOAT32_NONE, i, x < a);

/* Shifted by the first value: sum and sum of squares of x - K, so that a large mean costs no digits. Second result: the
 * mean. */
#define VARIANCE(SUM_OF_SQUARES, SQUARED_SUM)                                                                      \
  (params->count - params->correction < 0 ? NAN                                                                    \
                                          : deviation(((SUM_OF_SQUARES) - (SQUARED_SUM) / (double)params->count) / \
                                                          ((double)params->count - params->correction),            \
                                                      params->take_root))
static double deviation(double variance, bool take_root) {
  if (variance < 0) variance = 0;
  return take_root ? sqrt(variance) : variance;
}
ACCUMULATOR(var_f64, false, f, f, f, f, NOTHING, if (at == 0) a = x; double d = x - a; b += d;
            c += d * d, f, VARIANCE(c, b *b), f, params->count == 0 ? (double)NAN : a + b / (double)params->count);
ACCUMULATOR(var_c128, false, c, c, c, f, NOTHING, if (at == 0) a = x; complex128 d = x - a; b += d;
            c += creal(d) * creal(d) + cimag(d) * cimag(d), f, VARIANCE(c, creal(b) * creal(b) + cimag(b) * cimag(b)),
            c, params->count == 0 ? __builtin_complex((double)NAN, (double)NAN) : a + b / (double)params->count);

ACCUMULATOR_WITH(
    logsumexp_f64, logsumexp_f64_along, REDUCE_FLOAT32_LOGSUMEXP, false, f, f, f, u, a = -INFINITY,
    if (x > a) {
      b = b * exp(a - x) + 1;
      a = x;
    } else if (x == a) { b += x == -INFINITY ? 0 : 1; } else { b += exp(x - a); },
    f, isnan(b) ? b : a + log(b), u, 0);

/* Of the bits of float64 and int64. */
static int64_t bits_of(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
SIMPLE(xor_f64, f, i, NOTHING, a ^= bits_of(x), i, a);
SIMPLE(xor_i64, i, i, NOTHING, a ^= x, i, a);

/* By the greatest real part so far, a; what is infinite is left to exp. */
ACCUMULATOR(
    logsumexp_c128, false, c, f, c, u, a = -INFINITY, double real = creal(x); if (isfinite(real) && real > a) {
      b *= exp(a - real);
      a = real;
    } b += cexp(isfinite(a) ? x - a : x),
                                                                              c, isfinite(a) ? a + clog(b) : clog(b), u,
                                                                              0);

#define NORM(NAME, START, STEP, FINISH) ACCUMULATOR(NAME, true, f, f, u, u, START, STEP, f, FINISH, u, 0)
NORM(norm0, NOTHING, a += x != 0, a);
NORM(norm1, NOTHING, a += fabs(x), a);
ACCUMULATOR_WITH(norm2, squares_lanes, REDUCE_FLOAT32_SQUARES, true, f, f, u, u, NOTHING, a += x * x, f, sqrt(a), u, 0);
NORM(norm_inf, NOTHING, x = fabs(x); if (x > a || isnan(x)) a = x, a);
NORM(norm_neg_inf, a = INFINITY, x = fabs(x); if (x < a || isnan(x)) a = x, a);
NORM(norm_p, NOTHING, a += pow(fabs(x), params->p), pow(a, 1 / params->p));
