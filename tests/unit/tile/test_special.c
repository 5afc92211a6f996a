/* Special functions against values of 17 digits, and arguments that must neither hang nor trap. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tile/special.h"

static const struct {
  SpecialFunction function;
  double a, b, value;
} values[] = {
    {SPECIAL_erfinv, 0.3, 0.0, 0.27246271472675435},
    {SPECIAL_erfinv, -0.9999, 0.0, -2.7510639057120797},
    {SPECIAL_erfcx, 3.0, 0.0, 0.17900115118138995},
    {SPECIAL_erfcx, 40.0, 0.0, 0.014100335983377814},
    {SPECIAL_lgamma, -2.5, 0.0, -0.056243716497674051},
    {SPECIAL_digamma, 0.1, 0.0, -10.423754940411076},
    {SPECIAL_digamma, -3.7, 0.0, -0.84507685887041935},
    {SPECIAL_polygamma, 2.0, 1.5, -0.82879664423432},
    {SPECIAL_zeta, 3.0, 0.25, 64.66386996876846},
    {SPECIAL_zeta, 2.0, -1.5, 9.3792466449891238},
    {SPECIAL_mvlgamma, 5.0, 3.0, 9.1406446991925431},
    {SPECIAL_igamma, 2.5, 1.0, 0.15085496391539036},
    {SPECIAL_igamma, 100.0, 110.0, 0.84172132993991291},
    {SPECIAL_igammac, 0.5, 9.0, 2.2090496998585441e-5},
    {SPECIAL_ndtri, 0.01, 0.0, -2.3263478740408411},
    {SPECIAL_log_ndtr, -20.0, 0.0, -203.91715537109726},
    {SPECIAL_i0, 3.0, 0.0, 4.8807925858650241},
    {SPECIAL_i0e, 50.0, 0.0, 0.056561626647454193},
    {SPECIAL_i1, -2.0, 0.0, -1.5906368546373291},
    {SPECIAL_i1e, 31.0, 0.0, 0.07077639283438568},
    {SPECIAL_modified_bessel_k0, 0.1, 0.0, 2.4270690247020166},
    {SPECIAL_modified_bessel_k1, 7.0, 0.0, 0.00045418248688489697},
    {SPECIAL_scaled_modified_bessel_k0, 900.0, 0.0, 0.041771339152548793},
    {SPECIAL_scaled_modified_bessel_k1, 0.5, 0.0, 2.7310097082117857},
    {SPECIAL_spherical_bessel_j0, 0.25, 0.0, 0.98961583701809172},
    {SPECIAL_airy_ai, 1.0, 0.0, 0.13529241631288142},
    {SPECIAL_airy_ai, 4.0, 0.0, 0.00095156385120480187},
    {SPECIAL_airy_ai, -9.0, 0.0, -0.022133721547341404},
    {SPECIAL_chebyshev_polynomial_t, 0.3, 9.0, 0.3888276480000001},
    {SPECIAL_chebyshev_polynomial_u, 1.5, 4.0, 55.0},
    {SPECIAL_hermite_polynomial_h, 0.7, 5.0, 34.498240000000003},
    {SPECIAL_laguerre_polynomial_l, 2.0, 6.0, 0.82222222222222222},
    {SPECIAL_legendre_polynomial_p, 0.4, 7.0, -0.014590399999999945},
};

static void values_agree(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    double result;
    special_run_f64(values[i].function, 1, &result, &values[i].a, &values[i].b);
    if (!(fabs(result - values[i].value) <= 1e-11 * fabs(values[i].value)))
      fail_msg("%s(%g, %g) = %.17g, not %.17g", special_name(values[i].function), values[i].a, values[i].b, result,
               values[i].value);
  }
}

static void every_argument_ends(void **state) {
  (void)state;
  static const double edges[] = {0,          -0.0, 1,     -1,    0.5,    -0.5,     1e-300,    -1e-300, 1e9 + 0.5,
                                 -1e9 - 0.5, 1e18, -1e18, 1e300, -1e300, INFINITY, -INFINITY, NAN};
  enum { EDGES = sizeof edges / sizeof *edges };
  for (int function = 0; function < SPECIAL_COUNT; function++)
    for (int i = 0; i < EDGES * EDGES && !special_is_integral(function); i++) {
      double result;
      if (special_operands(function) == 1 && i >= EDGES) break;
      special_run_f64(function, 1, &result, &edges[i % EDGES], &edges[i / EDGES]);
    }
  static const int64_t whole[] = {0, 1, -1, 6, -4, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 49; i++) {
    int64_t result;
    special_run_i64(SPECIAL_gcd, 1, &result, &whole[i % 7], &whole[i / 7]);
    special_run_i64(SPECIAL_lcm, 1, &result, &whole[i % 7], &whole[i / 7]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_agree), cmocka_unit_test(every_argument_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
