/* Special functions in double: series, asymptotic expansions, recurrences and, for the modified Bessel functions of the
 * second kind, the trapezoidal rule, which converges exponentially on their integral. Every loop is bounded whatever
 * the arguments; where it may take thousands of steps, it ends when work is over, too. */
#include "tile/special.h"

#include <assert.h>
#include <math.h>

#include "base/work_limit.h"

#define SQRT_PI 1.77245385090551602730
#define EULER_GAMMA 0.57721566490153286061

/* Of a loop of many steps: whether work is over, so that nobody sees the result. Looks at some of them alone. */
static inline bool ends_at(int step) {
  enum { STEPS = 128 };
  return step % STEPS == 0 && work_is_over_after_more(STEPS);
}

/* ---- the error function's relatives ---- */

/* Of Halley's steps, each of which triples the digits that are right: whether the last one was so small. */
static bool is_last_step(double step, double y) {
  return fabs(step) <= 1e-6 * y;
}

/* y with erfc(y) = q, for 0 < q <= 1: a closed approximation (Winitzki), then Halley's steps. */
static double erfc_inverse(double q) {
  double ln = log(q) + log(2 - q), t = 2 / (M_PI * 0.147) + ln / 2;
  double y = sqrt(sqrt(t * t - ln / 0.147) - t);
  for (int i = 0; i < 4; i++) {
    double slope = 2 / SQRT_PI * exp(-y * y);
    if (slope == 0) break;
    double u = (q - erfc(y)) / slope;
    y -= u / (1 + y * u);
    if (is_last_step(u, y)) break;
  }
  return y;
}

static double erfinv(double x) {
  double a = fabs(x);
  if (a > 1 || x != x) return NAN;
  if (a == 1) return copysign(INFINITY, x);
  if (a > 0.5) return copysign(erfc_inverse(1 - a), x);
  double ln = log1p(-a * a), t = 2 / (M_PI * 0.147) + ln / 2;
  double root = sqrt(t * t - ln / 0.147) - t, y = root > 0 ? sqrt(root) : 0;
  if (a < 1e-4) y = a * SQRT_PI / 2; /* where the closed form cancels */
  for (int i = 0; i < 3; i++) {
    double u = (erf(y) - a) / (2 / SQRT_PI * exp(-y * y));
    y -= u / (1 + y * u);
    if (is_last_step(u, y)) break;
  }
  return copysign(y, x);
}

static double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  return p <= 0.5 ? -M_SQRT2 * erfc_inverse(2 * p) : M_SQRT2 * erfc_inverse(2 * (1 - p));
}

static double erfcx(double x) {
  if (x < 25) return exp(x * x) * erfc(x);
  double z = 1 / (x * x);
  return 1 / (x * SQRT_PI) * (1 - z * (0.5 - z * (0.75 - z * (1.875 - z * 6.5625))));
}

static double log_ndtr(double x) {
  if (x < -1) return log(erfcx(-x * M_SQRT1_2) / 2) - x * x / 2;
  return log1p(-erfc(x * M_SQRT1_2) / 2);
}

/* ---- the gamma function's ---- */

static double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

static double digamma(double x) {
  if (x == 0) return copysign(INFINITY, -x);
  if (x < 0) {
    if (x == trunc(x)) return NAN;
    double whole;
    return digamma(1 - x) - M_PI / tan(M_PI * modf(x, &whole));
  }
  double shift = 0;
  for (; x < 10; x++) shift -= 1 / x;
  double z = 1 / (x * x);
  double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return shift + log(x) - 0.5 / x - series;
}

/* Bernoulli numbers B(2j) / (2j)! of the Euler-Maclaurin tail. */
static const double euler_maclaurin[] = {
    1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0};

/* Hurwitz's zeta(s, q) for s > 1, q > 0. */
static double zeta_positive(double s, double q) {
  double sum = 0;
  for (int i = 0; i < 12 && q < 12; i++, q++) {
    double term = pow(q, -s);
    sum += term;
    if (term < 1e-17 * sum) return sum;
  }
  double power = pow(q, -s);
  sum += power * q / (s - 1) + power / 2;
  double factor = s * power / q;
  for (size_t j = 0; j < sizeof euler_maclaurin / sizeof *euler_maclaurin; j++) {
    sum += euler_maclaurin[j] * factor;
    factor *= (s + 2 * (double)j + 1) * (s + 2 * (double)j + 2) / (q * q);
  }
  return sum;
}

static double zeta(double s, double q) {
  if (s == 1) return INFINITY;
  if (!(s > 1) || q != q) return NAN;
  if (q == INFINITY) return NAN; /* as PyTorch has it */
  if (q > 0) return zeta_positive(s, q);
  if (q == floor(q)) return INFINITY;
  if (s != floor(s)) return NAN;
  /* The terms below zero are, up to the sign, those of two zetas above it. */
  double count = ceil(-q), f = q + count;
  double negative = zeta_positive(s, 1 - f) - zeta_positive(s, count + 1 - f);
  return zeta_positive(s, f) + (fmod(s, 2) == 0 ? negative : -negative);
}

static double polygamma(double n, double x) {
  if (n < 0) return NAN;
  if (n == 0) return digamma(x);
  if (n == 1 && x == INFINITY) return 0;
  return (fmod(n, 2) == 1 ? 1 : -1) * exp(log_gamma(n + 1)) * zeta(n + 1, x);
}

static double mvlgamma(double x, double p) {
  if (!(p >= 1 && p <= 1e6)) return NAN;
  double sum = p * (p - 1) / 4 * log(M_PI);
  for (int j = 0; j < (int)p && !ends_at(j + 1); j++) sum += log_gamma(x - j / 2.0);
  return sum;
}

/* The regularised incomplete gamma functions P and Q = 1 - P: P's series below a + 1, Q's continued fraction (Lentz)
 * above. For large a both converge slowly near x = a; Wilson and Hilferty's normal approximation is exact enough there.
 */
static double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) return NAN;
  if (a == 0 || isinf(x)) return upper ? 0 : 1;
  if (x == 0 || isinf(a)) return upper ? 1 : 0;
  if (a > 1e6) {
    double z = (cbrt(x / a) - (1 - 1 / (9 * a))) * sqrt(9 * a);
    return erfc((upper ? z : -z) * M_SQRT1_2) / 2;
  }
  double scale = exp(a * log(x) - x - log_gamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int i = 1; i < 20000 && term > sum * 1e-17 && !ends_at(i); i++) sum += term *= x / (a + i);
    double p = sum * scale;
    return upper ? 1 - p : p;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int i = 1; i < 20000 && !ends_at(i); i++) {
    double an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    double delta = c * d;
    h *= delta;
    if (fabs(delta - 1) < 1e-16) break;
  }
  double q = scale * h;
  return upper ? q : 1 - q;
}
static double igamma(double a, double x) {
  return incomplete_gamma(a, x, false);
}
static double igammac(double a, double x) {
  return incomplete_gamma(a, x, true);
}

/* ---- Bessel functions ---- */

/* I(order, a) e^-a for a >= 0, order 0 or 1: the power series, then Hankel's expansion. */
static double scaled_bessel_i(int order, double a) {
  if (a < 30) {
    double z = a * a / 4, term = order ? a / 2 : 1, sum = term;
    for (int k = 1; k < 200 && term > sum * 1e-18; k++) sum += term *= z / ((double)k * (k + order));
    return sum * exp(-a);
  }
  double mu = 4.0 * order * order, term = 1, sum = 1;
  for (int k = 1; k < 30; k++) {
    double next = -term * (mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8 * k * a);
    if (fabs(next) > fabs(term) || fabs(next) < 1e-18) break;
    sum += term = next;
  }
  return sum / sqrt(2 * M_PI * a);
}
static double i0e(double x) {
  return isinf(x) ? 0 : scaled_bessel_i(0, fabs(x));
}
static double i1e(double x) {
  return isinf(x) ? 0 : copysign(scaled_bessel_i(1, fabs(x)), x);
}
/* At infinity PyTorch has NaN for these and for the Bessel functions of the first and second kind. */
static double bessel_j0(double x) {
  return isinf(x) ? NAN : j0(x);
}
static double bessel_j1(double x) {
  return isinf(x) ? NAN : j1(x);
}
static double bessel_y0(double x) {
  return isinf(x) ? NAN : y0(x);
}
static double bessel_y1(double x) {
  return isinf(x) ? NAN : y1(x);
}

/* e^a in two factors, so that it overflows only where the product does. */
static double times_exp(double value, double a) {
  return value * exp(a / 2) * exp(a / 2);
}
static double i0(double x) {
  return isinf(x) ? NAN : times_exp(i0e(x), fabs(x));
}
static double i1(double x) {
  return isinf(x) ? NAN : times_exp(i1e(x), fabs(x));
}

/* K(order, x) e^x: the integral of exp(-x (cosh t - 1)) cosh(order t) over t >= 0. */
static double scaled_bessel_k(double order, double x) {
  enum { STEPS = 96 };
  if (x != x || x < 0) return NAN;
  if (x == 0) return INFINITY;
  if (isinf(x)) return 0;
  double end = 2 * asinh(sqrt(22.5 / x)), step = end / STEPS, sum = 0.5; /* cosh t - 1 = 2 sinh^2(t/2) reaches 45 / x */
  for (int i = 1; i <= STEPS; i++) {
    double t = i * step, s = sinh(t / 2);
    sum += exp(-2 * x * s * s) * cosh(order * t);
  }
  return sum * step;
}
static double scaled_k0(double x) {
  return scaled_bessel_k(0, x);
}
static double scaled_k1(double x) {
  return x > 0 && x < 1e-8 ? 1 / x : scaled_bessel_k(1, x);
}
static double k0(double x) {
  return scaled_k0(x) * exp(-x);
}
static double k1(double x) {
  return scaled_k1(x) * exp(-x);
}

static double spherical_bessel_j0(double x) {
  if (isinf(x)) return 0;
  if (fabs(x) < 0.5) {
    double z = x * x;
    return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110))));
  }
  return sin(x) / x;
}

static double airy_ai(double x) {
  if (isinf(x) || x != x) return NAN;
  if (x > 2) {
    double zeta_x = 2 * x * sqrt(x) / 3;
    return sqrt(x / 3) / M_PI * scaled_bessel_k(1.0 / 3, zeta_x) * exp(-zeta_x);
  }
  if (x > -6) { /* the two Maclaurin series */
    double z = x * x * x, f = 1, g = x, f_term = 1, g_term = x;
    for (int k = 1; k < 60; k++) {
      f += f_term *= z / ((3.0 * k - 1) * (3.0 * k));
      g += g_term *= z / ((3.0 * k) * (3.0 * k + 1));
    }
    return 0.35502805388781723926 * f - 0.25881940379280679841 * g;
  }
  double a = -x, zeta_x = 2 * a * sqrt(a) / 3, even = 0, odd = 0, term = 1;
  for (int k = 0; k < 20; k++) { /* u(k) / zeta^k, alternately into the two sums */
    double sign = k / 2 % 2 ? -1 : 1;
    if (k % 2)
      odd += sign * term;
    else
      even += sign * term;
    double next = term * (6.0 * k + 5) * (6.0 * k + 3) * (6.0 * k + 1) / (216 * (k + 1.0) * (2.0 * k + 1) * zeta_x);
    if (next > term || next < 1e-18) break;
    term = next;
  }
  return (cos(zeta_x - M_PI / 4) * even + sin(zeta_x - M_PI / 4) * odd) / (SQRT_PI * sqrt(sqrt(a)));
}

/* ---- orthogonal polynomials by their three-term recurrences ---- */

/* The degree without its fraction; false when the polynomial is *out whatever x. Higher degrees than 2^20 are taken for
 * that. */
static bool whole_degree(double degree, int *out) {
  *out = degree > -1 && degree < INFINITY ? (int)fmin(degree, 1 << 20) : -1;
  if (*out > 0) return true;
  *out += 1;
  return false;
}

/* p(n) = (2x) p(n-1) - p(n-2) from p(0) = 1 and p(1) */
static double chebyshev(double x, double degree, double p1) {
  int n;
  if (!whole_degree(degree, &n)) return n;
  double p0 = 1;
  for (int k = 2; k <= n && p1 == p1 && !ends_at(k); k++) {
    double next = 2 * x * p1 - p0;
    p0 = p1, p1 = next;
  }
  return p1;
}
static double chebyshev_polynomial_t(double x, double n) {
  return chebyshev(x, n, x);
}
static double chebyshev_polynomial_u(double x, double n) {
  return chebyshev(x, n, 2 * x);
}
static double chebyshev_polynomial_v(double x, double n) {
  return chebyshev(x, n, 2 * x - 1);
}
static double chebyshev_polynomial_w(double x, double n) {
  return chebyshev(x, n, 2 * x + 1);
}

typedef double Recurrence(double x, double k, double p1, double p0); /* p(k) */
static double recur(double x, double degree, double p1, Recurrence *next) {
  int n;
  if (!whole_degree(degree, &n)) return n;
  double p0 = 1;
  for (int k = 2; k <= n && p1 == p1 && !ends_at(k); k++) {
    double p = next(x, k, p1, p0);
    p0 = p1, p1 = p;
  }
  return p1;
}
static double next_h(double x, double k, double p1, double p0) {
  return 2 * x * p1 - 2 * (k - 1) * p0;
}
static double next_he(double x, double k, double p1, double p0) {
  return x * p1 - (k - 1) * p0;
}
static double next_laguerre(double x, double k, double p1, double p0) {
  return ((2 * k - 1 - x) * p1 - (k - 1) * p0) / k;
}
static double next_legendre(double x, double k, double p1, double p0) {
  return ((2 * k - 1) * x * p1 - (k - 1) * p0) / k;
}
static double hermite_polynomial_h(double x, double n) {
  return recur(x, n, 2 * x, next_h);
}
static double hermite_polynomial_he(double x, double n) {
  return recur(x, n, x, next_he);
}
static double laguerre_polynomial_l(double x, double n) {
  return recur(x, n, 1 - x, next_laguerre);
}
static double legendre_polynomial_p(double x, double n) {
  return recur(x, n, x, next_legendre);
}

/* ---- parts of numbers ---- */

static double frexp_mantissa(double x) {
  int exponent;
  return frexp(x, &exponent);
}
static double frexp_exponent(double x) {
  int exponent = 0;
  if (isfinite(x)) (void)frexp(x, &exponent);
  return exponent;
}
static uint64_t magnitude(int64_t x) {
  return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}
static int64_t gcd(int64_t x, int64_t y) {
  uint64_t a = magnitude(x), b = magnitude(y);
  while (b) {
    uint64_t rest = a % b;
    a = b, b = rest;
  }
  return (int64_t)a;
}
static int64_t lcm(int64_t x, int64_t y) {
  uint64_t divisor = (uint64_t)gcd(x, y);
  if (!divisor) return 0;
  int64_t product = (int64_t)(magnitude(x) / divisor * magnitude(y));
  return product < 0 ? (int64_t)(0 - (uint64_t)product) : product;
}

/* ---- the table ---- */

typedef struct SpecialRow {
  const char *name;
  int operands;
  bool integral;
  union {
    double (*one)(double);
    double (*two)(double, double);
    int64_t (*whole)(int64_t, int64_t);
  };
} SpecialRow;
/* clang-format off */
static const SpecialRow rows[SPECIAL_COUNT] = {
#define ONE(name, function) [SPECIAL_##name] = {#name, 1, false, {.one = function}},
#define TWO(name) [SPECIAL_##name] = {#name, 2, false, {.two = name}},
#define WHOLE(name) [SPECIAL_##name] = {#name, 2, true, {.whole = name}},
  ONE(erfinv, erfinv) ONE(erfcx, erfcx) ONE(lgamma, log_gamma) ONE(digamma, digamma) TWO(polygamma) TWO(zeta)
  TWO(mvlgamma)
  TWO(igamma) TWO(igammac) ONE(ndtri, ndtri) ONE(log_ndtr, log_ndtr) ONE(i0, i0) ONE(i0e, i0e) ONE(i1, i1) ONE(i1e, i1e)
  ONE(bessel_j0, bessel_j0) ONE(bessel_j1, bessel_j1) ONE(bessel_y0, bessel_y0) ONE(bessel_y1, bessel_y1)
  ONE(modified_bessel_k0, k0)
  ONE(modified_bessel_k1, k1) ONE(scaled_modified_bessel_k0, scaled_k0) ONE(scaled_modified_bessel_k1, scaled_k1)
  ONE(spherical_bessel_j0, spherical_bessel_j0) ONE(airy_ai, airy_ai) TWO(chebyshev_polynomial_t)
  TWO(chebyshev_polynomial_u)
  TWO(chebyshev_polynomial_v) TWO(chebyshev_polynomial_w) TWO(hermite_polynomial_h) TWO(hermite_polynomial_he)
  TWO(laguerre_polynomial_l) TWO(legendre_polynomial_p) ONE(frexp_mantissa, frexp_mantissa)
  ONE(frexp_exponent, frexp_exponent)
  WHOLE(gcd) WHOLE(lcm)
};
/* clang-format on */

const char *special_name(int function) {
  assert(function >= 0 && function < SPECIAL_COUNT);
  return rows[function].name;
}
int special_operands(int function) {
  assert(function >= 0 && function < SPECIAL_COUNT);
  return rows[function].operands;
}
bool special_is_integral(int function) {
  return rows[function].integral;
}
int special_find(Str name) {
  for (int i = 0; i < SPECIAL_COUNT; i++)
    if (str_is(name, rows[i].name)) return i;
  return -1;
}

#define RUN(name, T)                                                                   \
  void name(int function, int64_t n, T *to, const T *a, const T *b) {                  \
    const SpecialRow *row = &rows[function];                                           \
    if (row->operands == 1)                                                            \
      for (int64_t i = 0; i < n; i++) to[i] = (T)row->one((double)a[i]);               \
    else                                                                               \
      for (int64_t i = 0; i < n; i++) to[i] = (T)row->two((double)a[i], (double)b[i]); \
  }
RUN(special_run_f64, double)
RUN(special_run_f32, float)

void special_run_i64(int function, int64_t n, int64_t *to, const int64_t *a, const int64_t *b) {
  assert(rows[function].integral);
  for (int64_t i = 0; i < n; i++) to[i] = rows[function].whole(a[i], b[i]);
}
