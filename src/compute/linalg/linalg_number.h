/* One element type, said by IS_DOUBLE and IS_COMPLEX: NUMBER, REAL and what is done with them, inline. A product of
 * two NUMBERs is times(): C's own, of complex numbers, would look for NaN. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <complex.h> /* after all others: its macros are common words */

#if IS_DOUBLE
#define REAL double
#define linalg_tridiagonal linalg_tridiagonal_double
#define linalg_bidiagonal linalg_bidiagonal_double
#define REAL_DTYPE DTYPE_FLOAT64
#define EPSILON DBL_EPSILON
#define LEAST DBL_MIN
#define GREATEST DBL_MAX
#define root sqrt
#define size_of_real fabs
#define length_of hypot
#define with_sign copysign
#else
#define REAL float
#define linalg_tridiagonal linalg_tridiagonal_float
#define linalg_bidiagonal linalg_bidiagonal_float
#define REAL_DTYPE DTYPE_FLOAT32
#define EPSILON FLT_EPSILON
#define LEAST FLT_MIN
#define GREATEST FLT_MAX
#define root sqrtf
#define size_of_real fabsf
#define length_of hypotf
#define with_sign copysignf
#endif

typedef int64_t Index;

static inline REAL greater(REAL a, REAL b) {
  return a > b ? a : b;
}
static inline REAL lesser(REAL a, REAL b) {
  return a < b ? a : b;
}
static inline void swap_reals(REAL *a, REAL *b) {
  REAL kept = *a;
  *a = *b;
  *b = kept;
}
/* Rotates so that (f, g) becomes (r, 0); f keeps its sign. */
static inline void rotation_of(REAL f, REAL g, REAL *out_c, REAL *out_s, REAL *out_r) {
  if (g == 0) {
    *out_c = 1, *out_s = 0, *out_r = f;
  } else if (f == 0) {
    *out_c = 0, *out_s = with_sign(1, g), *out_r = size_of_real(g);
  } else {
    REAL length = length_of(f, g), signed_length = with_sign(length, f);
    *out_c = size_of_real(f) / length, *out_s = g / signed_length, *out_r = signed_length;
  }
}

#if IS_COMPLEX
#define NUMBER _Complex REAL
static inline REAL real_of(NUMBER x) {
  return __real__ x;
}
static inline REAL imaginary_of(NUMBER x) {
  return __imag__ x;
}
static inline NUMBER number_of(REAL re, REAL im) {
  NUMBER x;
  __real__ x = re;
  __imag__ x = im;
  return x;
}
static inline NUMBER conjugate(NUMBER x) {
  return number_of(real_of(x), -imaginary_of(x));
}
static inline NUMBER times(NUMBER a, NUMBER b) {
  return number_of(real_of(a) * real_of(b) - imaginary_of(a) * imaginary_of(b),
                   real_of(a) * imaginary_of(b) + imaginary_of(a) * real_of(b));
}
/* By the greater part of the divisor, which neither overflows nor vanishes (R. L. Smith, CACM 5, 1962). */
static inline NUMBER quotient(NUMBER a, NUMBER b) {
  REAL re = real_of(b), im = imaginary_of(b);
  if (size_of_real(im) <= size_of_real(re)) {
    REAL ratio = im / re, divisor = re + im * ratio;
    return number_of((real_of(a) + imaginary_of(a) * ratio) / divisor,
                     (imaginary_of(a) - real_of(a) * ratio) / divisor);
  }
  REAL ratio = re / im, divisor = re * ratio + im;
  return number_of((real_of(a) * ratio + imaginary_of(a)) / divisor, (imaginary_of(a) * ratio - real_of(a)) / divisor);
}
static inline REAL absolute(NUMBER x) {
  return length_of(real_of(x), imaginary_of(x));
}
/* The sum of the parts' sizes: what pivots are chosen by. */
static inline REAL size_of(NUMBER x) {
  return size_of_real(real_of(x)) + size_of_real(imaginary_of(x));
}
#else
#define NUMBER REAL
static inline REAL real_of(NUMBER x) {
  return x;
}
static inline NUMBER conjugate(NUMBER x) {
  return x;
}
static inline NUMBER times(NUMBER a, NUMBER b) {
  return a * b;
}
static inline NUMBER quotient(NUMBER a, NUMBER b) {
  return a / b;
}
static inline REAL absolute(NUMBER x) {
  return size_of_real(x);
}
static inline REAL size_of(NUMBER x) {
  return size_of_real(x);
}
#endif
