/* Functions of mathematical physics and others without a vector form: computed an element at a time, in double.
 * Formulas call them by name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* clang-format off */
/*  name, operands (REAL: double -> double; WHOLE: int64 -> int64) */
#define SPECIAL_FUNCTIONS(X)                                                                                         \
  X(erfinv, 1, REAL) X(erfcx, 1, REAL) X(lgamma, 1, REAL) X(digamma, 1, REAL) X(polygamma, 2, REAL) X(zeta, 2, REAL) \
  X(mvlgamma, 2, REAL) X(igamma, 2, REAL) X(igammac, 2, REAL) X(ndtri, 1, REAL) X(log_ndtr, 1, REAL)                 \
  X(i0, 1, REAL) X(i0e, 1, REAL) X(i1, 1, REAL) X(i1e, 1, REAL)                                                      \
  X(bessel_j0, 1, REAL) X(bessel_j1, 1, REAL) X(bessel_y0, 1, REAL) X(bessel_y1, 1, REAL)                            \
  X(modified_bessel_k0, 1, REAL) X(modified_bessel_k1, 1, REAL) X(scaled_modified_bessel_k0, 1, REAL)                \
  X(scaled_modified_bessel_k1, 1, REAL) X(spherical_bessel_j0, 1, REAL) X(airy_ai, 1, REAL)                          \
  X(chebyshev_polynomial_t, 2, REAL) X(chebyshev_polynomial_u, 2, REAL) X(chebyshev_polynomial_v, 2, REAL)           \
  X(chebyshev_polynomial_w, 2, REAL) X(hermite_polynomial_h, 2, REAL) X(hermite_polynomial_he, 2, REAL)              \
  X(laguerre_polynomial_l, 2, REAL) X(legendre_polynomial_p, 2, REAL)                                                \
  X(frexp_mantissa, 1, REAL) X(frexp_exponent, 1, REAL) X(gcd, 2, WHOLE) X(lcm, 2, WHOLE)
/* clang-format on */

typedef enum SpecialFunction {
#define X(name, operands, kind) SPECIAL_##name,
  SPECIAL_FUNCTIONS(X)
#undef X
      SPECIAL_COUNT
} SpecialFunction;

const char *special_name(int function);
int special_operands(int function);
bool special_is_integral(int function);
int special_find(Str name); /* -1: none */
/* The one that fits the number of operands and the kind is called, over n elements. */
void special_run_f64(int function, int64_t n, double *to, const double *a, const double *b);
void special_run_f32(int function, int64_t n, float *to, const float *a, const float *b);
void special_run_i64(int function, int64_t n, int64_t *to, const int64_t *a, const int64_t *b);
