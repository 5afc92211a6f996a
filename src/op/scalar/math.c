/* The functions of Python's math and cmath on numbers. As TorchScript has them they never raise for a domain: sqrt(-1.)
 * is nan. */
#include "call/results.h"
#include "call/row.h"

#include <complex.h> /* last: its macro `complex` would hide a field */
#include <math.h>

/* on_complex NULL: not defined for complex numbers. */
typedef struct Unary {
  double (*on_double)(double);
  complex128 (*on_complex)(complex128);
} Unary;
static Status unary(Call *c) {
  const Unary *f = call_with(c);
  IValue v = c->inputs[0];
  if (v.tag != TAG_COMPLEX) return result_double(c, 0, f->on_double(ivalue_to_double(v)));
  if (!f->on_complex)
    return status_exception("TypeError", STR_FMT ": not defined for complex numbers", STR_ARG(c->op->name));
  return result_complex(c, 0, f->on_complex(ivalue_complex(v)));
}

static complex128 complex_log10(complex128 x) {
  return clog(x) / 2.302585092994045684;
}
static double degrees_of(double x) {
  return x * (180.0 / 3.14159265358979323846);
}
static double radians_of(double x) {
  return x * (3.14159265358979323846 / 180.0);
}
static double angle_of(double x) {
  return isnan(x) ? x : x < 0 ? 3.14159265358979323846 : 0.0;
}

/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
  X(exp, exp, cexp)                                                                                                    \
  X(log, log, clog)                                                                                                    \
  X(log10, log10, complex_log10)                                                                                       \
  X(sqrt, sqrt, csqrt) X(sin, sin, csin) X(cos, cos, ccos) X(tan, tan, ctan) X(sinh, sinh, csinh) X(cosh, cosh, ccosh) \
      X(tanh, tanh, ctanh) X(asin, asin, casin) X(acos, acos, cacos) X(atan, atan, catan) X(asinh, asinh, casinh)      \
          X(acosh, acosh, cacosh) X(atanh, atanh, catanh)
/* clang-format on */
/* clang-format off */
#define REAL_FUNCTIONS(X)                                                                                      \
  X(expm1, expm1)                                                                                              \
  X(log1p, log1p)                                                                                              \
  X(erf, erf)                                                                                                  \
  X(erfc, erfc) X(gamma, tgamma) X(lgamma, lgamma) X(fabs, fabs) X(degrees, degrees_of) X(radians, radians_of) \
      X(round, rint)
/* clang-format on */

static Status angle_(Call *c) {
  IValue v = c->inputs[0];
  if (v.tag == TAG_COMPLEX) return result_double(c, 0, carg(ivalue_complex(v)));
  return result_double(c, 0, angle_of(ivalue_to_double(v)));
}

/* floor and ceil give ints, which infinity and nan have none of. */
typedef struct Rounding {
  double (*of)(double);
} Rounding;
static Status rounded(Call *c) {
  const Rounding *rounding = call_with(c);
  IValue v = c->inputs[0];
  if (v.tag != TAG_FLOAT) return result_int(c, 0, ivalue_to_int(v));
  if (isinf(v.f)) return status_exception("OverflowError", "cannot convert float infinity to integer");
  if (isnan(v.f)) return status_exception("ValueError", "cannot convert float NaN to integer");
  return result_int(c, 0, ivalue_to_int(ivalue_float(rounding->of(v.f))));
}

#define BINARY(name, function)                                                                            \
  static Status name##_(Call *c) {                                                                        \
    return result_double(c, 0, function(ivalue_to_double(c->inputs[0]), ivalue_to_double(c->inputs[1]))); \
  }
BINARY(fmod, fmod)
BINARY(mathremainder, remainder)
BINARY(copysign, copysign)
BINARY(atan2, atan2)

static Status polar_(Call *c) {
  double modulus = ivalue_to_double(c->inputs[0]), argument = ivalue_to_double(c->inputs[1]);
  complex128 value;
  __real__ value = modulus * cos(argument);
  __imag__ value = modulus * sin(argument);
  return result_complex(c, 0, value);
}

/* The logarithm of the first to the base of the second. */
static Status log_base(Call *c) {
  IValue a = c->inputs[0], base = c->inputs[1];
  if (a.tag != TAG_COMPLEX && base.tag != TAG_COMPLEX)
    return result_double(c, 0, log(ivalue_to_double(a)) / log(ivalue_to_double(base)));
  complex128 numerator =
      a.tag == TAG_COMPLEX ? clog(ivalue_complex(a)) : log(ivalue_to_double(a)); /* nan where a real is negative */
  return result_complex(
      c, 0, numerator / (base.tag == TAG_COMPLEX ? clog(ivalue_complex(base)) : log(ivalue_to_double(base))));
}

static Status factorial(Call *c) {
  int64_t n = call_int(c, 0);
  if (n < 0) return status_exception("ValueError", "factorial() not defined for negative values");
  uint64_t product = 1; /* wraps: above 65 it is 0 */
  for (int64_t i = 2; i <= n && i <= 66; i++) product *= (uint64_t)i;
  return result_int(c, 0, (int64_t)product);
}

static Status gcd(Call *c) {
  uint64_t a = (uint64_t)call_int(c, 0), b = (uint64_t)call_int(c, 1);
  if ((int64_t)a < 0) a = 0 - a;
  if ((int64_t)b < 0) b = 0 - b;
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return result_int(c, 0, (int64_t)a);
}

static Status ldexp_(Call *c) {
  int64_t exponent = call_int(c, 1);
  return result_double(c, 0,
                       ldexp(call_double(c, 0), exponent > 10000    ? 10000
                                                : exponent < -10000 ? -10000
                                                                    : (int)exponent));
}

static Status frexp_(Call *c) {
  int exponent = 0;
  double mantissa = frexp(call_double(c, 0), &exponent);
  TRY(result_double(c, 0, mantissa));
  return result_int(c, 1, exponent);
}

static Status modf_(Call *c) {
  double whole, fraction = modf(call_double(c, 0), &whole);
  TRY(result_double(c, 0, fraction));
  return result_double(c, 1, whole);
}

#define PREDICATE(name, on_either, joined)                                        \
  static Status name##_(Call *c) {                                                \
    complex128 z = ivalue_to_complex(c->inputs[0]);                               \
    return result_bool(c, 0, on_either(__real__ z) joined on_either(__imag__ z)); \
  }
PREDICATE(isnan, isnan, ||)
PREDICATE(isinf, isinf, ||)
PREDICATE(isfinite, isfinite, &&)

#define ROWS_UNARY(name, ...)                                                                     \
  ROW("aten::" #name ".int(int a) -> float", unary, .with = &(const Unary){__VA_ARGS__}),         \
      ROW("aten::" #name ".float(float a) -> float", unary, .with = &(const Unary){__VA_ARGS__}), \
      ROW("aten::" #name ".Scalar(Scalar a) -> Scalar", unary, .with = &(const Unary){__VA_ARGS__}),
#define ROWS_REAL(name, on_double) ROWS_UNARY(name, on_double, NULL)
#define ROWS_COMPLEX(name, on_double, on_complex)                                                             \
  ROW("aten::" #name ".complex(complex a) -> complex", unary, .with = &(const Unary){on_double, on_complex}), \
      ROWS_UNARY(name, on_double, on_complex)
#define ROWS_BINARY(name)                                                 \
  ROW("aten::" #name ".int(int a, int b) -> float", name##_),             \
      ROW("aten::" #name ".float(float a, float b) -> float", name##_),   \
      ROW("aten::" #name ".int_float(int a, float b) -> float", name##_), \
      ROW("aten::" #name ".float_int(float a, int b) -> float", name##_),
#define ROWS_LOG(a, b, result) ROW("aten::log." a "_" b "(" a " a, " b " b) -> " result, log_base)

static const OpRow rows[] = {
    FUNCTIONS(ROWS_COMPLEX) REAL_FUNCTIONS(ROWS_REAL) ROWS_LOG("int", "int", "float"),
    ROWS_LOG("float", "float", "float"),
    ROWS_LOG("complex", "complex", "complex"),
    ROWS_LOG("int", "float", "float"),
    ROWS_LOG("float", "int", "float"),
    ROWS_LOG("int", "complex", "complex"),
    ROWS_LOG("complex", "int", "complex"),
    ROWS_LOG("float", "complex", "complex"),
    ROWS_LOG("complex", "float", "complex"),
    ROW("aten::log.Scalar_Scalar(Scalar a, Scalar b) -> float", log_base),
    ROW("aten::angle.int(int a) -> float", angle_),
    ROW("aten::angle.float(float a) -> float", angle_),
    ROW("aten::angle.complex(complex a) -> float", angle_),
    ROW("aten::angle.Scalar(Scalar a) -> Scalar", angle_),
    ROW("aten::floor.int(int a) -> int", rounded, .with = &(const Rounding){floor}),
    ROW("aten::floor.float(float a) -> int", rounded, .with = &(const Rounding){floor}),
    ROW("aten::floor.Scalar(Scalar a) -> Scalar", rounded, .with = &(const Rounding){floor}),
    ROW("aten::ceil.int(int a) -> int", rounded, .with = &(const Rounding){ceil}),
    ROW("aten::ceil.float(float a) -> int", rounded, .with = &(const Rounding){ceil}),
    ROW("aten::ceil.Scalar(Scalar a) -> Scalar", rounded, .with = &(const Rounding){ceil}),
    ROWS_BINARY(fmod) ROW("aten::fmod(Scalar a, Scalar b) -> float", fmod_),
    ROWS_BINARY(mathremainder) ROW("aten::mathremainder(Scalar a, Scalar b) -> float", mathremainder_),
    ROWS_BINARY(copysign) ROW("aten::copysign(Scalar a, Scalar b) -> float", copysign_),
    ROWS_BINARY(atan2) ROW("aten::atan2.Scalar_Scalar(Scalar a, Scalar b) -> float", atan2_),
    ROW("aten::polar.int(int a, int b) -> complex", polar_),
    ROW("aten::polar.float(float a, float b) -> complex", polar_),
    ROW("aten::polar.int_float(int a, float b) -> complex", polar_),
    ROW("aten::polar.float_int(float a, int b) -> complex", polar_),
    ROW("aten::polar.Scalar_Scalar(Scalar a, Scalar b) -> Scalar", polar_),
    ROW("aten::factorial.int(int a) -> int", factorial),
    ROW("aten::gcd.int(int a, int b) -> int", gcd),
    ROW("aten::ldexp(float x, int i) -> float", ldexp_),
    ROW("aten::frexp(float a) -> (float, int)", frexp_),
    ROW("aten::modf(float a) -> (float, float)", modf_),
    ROW("aten::isnan.float(float a) -> bool", isnan_),
    ROW("aten::isnan.complex(complex a) -> bool", isnan_),
    ROW("aten::isinf.float(float a) -> bool", isinf_),
    ROW("aten::isinf.complex(complex a) -> bool", isinf_),
    ROW("aten::isfinite.float(float a) -> bool", isfinite_),
    ROW("aten::isfinite.complex(complex a) -> bool", isfinite_),
};
OP_TABLE(op_table_math, rows);
