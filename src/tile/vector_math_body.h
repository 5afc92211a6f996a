/* float32 elementary functions, one element each, at most 2 ulp (remainders are exact), and the exponential of float64,
 * at most 1.1 ulp, written so that compilers vectorize loops over them: no calls, no branches, integers of 32 bits or
 * shifted ones. Included once for each instruction set; FUSED says whether fma is an instruction. The polynomials are
 * minimax fits to the relative error on the intervals named beside them. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tile/vector_math_numbers.h"

#if FUSED
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_D(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define FMA_D(a, b, c) ((a) * (b) + (c))
#endif

static inline float as_float(int32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static inline int32_t as_int(float f) {
  int32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

/* 2^(biased - 127); of `biased` only the low nine bits count. Unsigned: what NaN leaves there may be anything. */
static inline float power_of_two(int32_t biased) {
  return as_float((int32_t)((uint32_t)biased << 23));
}

/* p * 2^n, for `biased` of n + 254 in the low bits: in two steps, so that denormal results round once and 2^128 is
 * reached. */
static inline float scale_f32(float p, int32_t biased) {
  int32_t half = biased >> 1;
  return p * power_of_two(half) * power_of_two(biased - half);
}

/* e^r for |r| <= ln(2)/2 */
static inline float exp_core(float r) {
  const float numbers[] = EXP_NUMBERS;
  float q = numbers[0];
  q = FMA(q, r, numbers[1]);
  q = FMA(q, r, numbers[2]);
  q = FMA(q, r, numbers[3]);
  q = FMA(q, r, numbers[4]);
  return FMA(FMA(q, r, 1.0f), r, 1.0f);
}

static inline float exp_clamped(float x) { /* x of [EXP_LEAST, EXP_MOST], or NaN */
  float shifted = FMA(x, LOG2_E, ROUND_BIASED(254));
  float n = shifted - ROUND_BIASED(254);
  float r = FMA(n, -LN2_LO, FMA(n, -LN2_HI, x));
  return scale_f32(exp_core(r), as_int(shifted));
}
static inline float f32_exp(float x) {
  x = x < EXP_LEAST ? EXP_LEAST : x;
  x = x > EXP_MOST ? EXP_MOST : x;
  return exp_clamped(x);
}

/* As exp_clamped; the integer in the low bits of `shifted` is biased by 2 * 1023. */
static inline double f64_exp(double x) {
  const double numbers[] = EXP_NUMBERS_D;
  x = x < EXP_LEAST_D ? EXP_LEAST_D : x;
  x = x > EXP_MOST_D ? EXP_MOST_D : x;
  double shifted = FMA_D(x, LOG2_E_D, ROUND_D + 2046.0), n = shifted - (ROUND_D + 2046.0);
  double r = FMA_D(n, -LN2_LO_D, FMA_D(n, -LN2_HI_D, x));
  double p = numbers[0];
  p = FMA_D(p, r, numbers[1]);
  p = FMA_D(p, r, numbers[2]);
  p = FMA_D(p, r, numbers[3]);
  p = FMA_D(p, r, numbers[4]);
  p = FMA_D(p, r, numbers[5]);
  p = FMA_D(p, r, numbers[6]);
  p = FMA_D(p, r, numbers[7]);
  p = FMA_D(p, r, numbers[8]);
  p = FMA_D(p, r, numbers[9]);
  p = FMA_D(p * r, r, r) + 1.0;
  uint64_t biased, half, rest;
  memcpy(&biased, &shifted, sizeof biased);
  biased &= 0xfff;
  half = biased >> 1;
  rest = (biased - half) << 52;
  half <<= 52;
  double scale[2];
  memcpy(&scale[0], &half, sizeof half);
  memcpy(&scale[1], &rest, sizeof rest);
  return p * scale[0] * scale[1];
}

static inline float f32_exp2(float x) {
  x = x < -152.0f ? -152.0f : x;
  x = x > 129.0f ? 129.0f : x;
  float shifted = x + ROUND_BIASED(254);
  float r = x - (shifted - ROUND_BIASED(254));
  float p = 0x1.417c5ep-13f; /* (2^r - 1) / r for |r| <= 1/2 */
  p = FMA(p, r, 0x1.5f0f74p-10f);
  p = FMA(p, r, 0x1.3b2dd8p-7f);
  p = FMA(p, r, 0x1.c6af72p-5f);
  p = FMA(p, r, 0x1.ebfbdcp-3f);
  p = FMA(p, r, 0x1.62e43p-1f);
  return scale_f32(FMA(p, r, 1.0f), as_int(shifted));
}

static inline float f32_expm1(float x) {
  float c = x < -20.0f ? -20.0f : x;
  c = c > 89.0f ? 89.0f : c;
  float shifted = FMA(c, LOG2_E, ROUND_BIASED(126));
  float n = shifted - ROUND_BIASED(126);
  float r = FMA(n, -LN2_LO, FMA(n, -LN2_HI, c));
  float q = 0x1.6d7ba2p-10f; /* as in exp_core, fitted for the relative error of the whole */
  q = FMA(q, r, 0x1.1231ecp-7f);
  q = FMA(q, r, 0x1.5554cp-5f);
  q = FMA(q, r, 0x1.5554a4p-3f);
  q = FMA(q, r, 0.5f);
  float p = FMA(r * r, q, r);
  float half = power_of_two(as_int(shifted)); /* 2^n / 2, so that 2^128 is not needed */
  float big = FMA(half, p, half - 0.5f) * 2.0f;
  big = n == 0.0f ? p : big;
  return x == 0.0f ? x : big;
}

/* x = m * 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x. */
static inline float split_f32(float x, float *out_exponent) {
  float tiny = x < 0x1p-126f ? 0x1p23f : 1.0f;
  int32_t bits = (int32_t)((uint32_t)as_int(x * tiny) - 0x3f3504f3u);
  *out_exponent = (float)(bits >> 23) - (x < 0x1p-126f ? 23.0f : 0.0f);
  return as_float((bits & 0x7fffff) + 0x3f3504f3);
}
/* The values of a logarithm at 0, below it, at infinity and NaN. */
static inline float log_edges(float x, float result) {
  result = x == 0.0f ? -INFINITY : result;
  result = x < 0.0f ? NAN : result;
  return x < INFINITY ? result : x;
}

static inline float f32_log(float x) {
  float e, f = split_f32(x, &e) - 1.0f;
  float q = -0x1.38cf1p-4f; /* (log(1 + f) - f + f^2/2) / f^3 */
  q = FMA(q, f, 0x1.055f8p-3f);
  q = FMA(q, f, -0x1.0d81a6p-3f);
  q = FMA(q, f, 0x1.22d904p-3f);
  q = FMA(q, f, -0x1.547292p-3f);
  q = FMA(q, f, 0x1.99a01ep-3f);
  q = FMA(q, f, -0x1.000226p-2f);
  q = FMA(q, f, 0x1.555554p-2f);
  float square = f * f;
  float low = FMA(e, LN2_LO, square * f * q);
  low = FMA(square, -0.5f, low);
  return log_edges(x, FMA(e, LN2_HI, f + low));
}

/* log(1 + f) in double for 1 + f in [sqrt(1/2), sqrt(2)], relative error 2^-44 */
static inline double log_core(double f) {
  double s = f / (f + 2.0), z = s * s;
  double p = 0x1.913f451d21039p-3;
  p = FMA_D(p, z, 0x1.c62860940325fp-3);
  p = FMA_D(p, z, 0x1.249419921d2a6p-2);
  p = FMA_D(p, z, 0x1.999996988305fp-2);
  p = FMA_D(p, z, 0x1.5555555623e5dp-1);
  return FMA_D(s * z, p, s + s);
}
static inline double log2_f64(float x) { /* positive finite x */
  float e, m = split_f32(x, &e);
  return FMA_D(log_core((double)m - 1.0), 0x1.71547652b82fep+0, (double)e);
}
static inline float f32_log2(float x) {
  return log_edges(x, (float)log2_f64(x));
}
static inline float f32_log10(float x) {
  return log_edges(x, (float)(log2_f64(x) * 0x1.34413509f79ffp-2));
}

static inline float f32_log1p(float x) {
  float u = 1.0f + x, e;
  (void)split_f32(u, &e);
  double scale = (double)power_of_two(200 - (int32_t)e) * 0x1p-73; /* 2^-e */
  double f = (1.0 + (double)x) * scale - 1.0;
  float result = (float)FMA_D((double)e, 0x1.62e42fefa39efp-1, log_core(f));
  result = x == -1.0f ? -INFINITY : result;
  result = x < -1.0f ? NAN : result;
  result = x < INFINITY ? result : x;
  return fabsf(x) < 0x1p-26f ? x : result;
}

/* Beyond 0.5625 it is 1 - 2 / (e^2|x| + 1), for which a reduction in one step is exact enough. It is 1 from where
 * PyTorch's is: dynamic quantization of a saturated activation has 1 and what is next to it on two sides of a tie. */
static inline float f32_tanh(float x) {
  float a = fabsf(x), z = x * x;
  const float numbers[] = TANH_NUMBERS;
  float small = numbers[0];
  small = FMA(small, z, numbers[1]);
  small = FMA(small, z, numbers[2]);
  small = FMA(small, z, numbers[3]);
  small = FMA(small, z, numbers[4]);
  small = FMA(small * z, a, a);
  float y = a > TANH_ONE ? 10.0f : a;
  y += y;
  float shifted = FMA(y, LOG2_E, ROUND_BIASED(127));
  float r = FMA(shifted - ROUND_BIASED(127), -LN2, y);
  float large = 1.0f - 2.0f / FMA(exp_core(r), power_of_two(as_int(shifted)), 1.0f);
  return copysignf(a > TANH_SMALL ? large : small, x);
}

static inline float f32_sigmoid(float x) {
  float y = -fabsf(x);
  float e = exp_clamped(y < EXP_LEAST ? EXP_LEAST : y);
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* |x|, but at most `limit`; NaN stays NaN. By integers, in whose order NaN is made the least: compilers turn the choice
 * between floats into two comparisons, and into a third in what is computed of it. */
static inline float magnitude_below(float x, float limit) {
  const int32_t turn = ERF_TURN;
  int32_t bits = (int32_t)((uint32_t)(as_int(x) & 0x7fffffff) + (uint32_t)turn), most = as_int(limit) + turn;
  return as_float((int32_t)((uint32_t)(bits < most ? bits : most) - (uint32_t)turn));
}

/* erf(t) = 1 - exp(-c h), where c is 2 / sqrt(pi) and h = -log(erfc(t)) / c = t + t^2 (c / 2 + ...), by one polynomial
 * in all of its range (W. J. Cody, "Rational Chebyshev Approximations for the Error Function" (1969), computes erfc as
 * an exponential, too, but for large t alone). 1 - exp(-c h) is computed as expm1 is: c h = n log(2) + c r, and with
 * p = 1 - exp(-c r) it is 2^-n p + (1 - 2^-n). So where n = 0, and erf is small, it has the relative error of h and p.
 * Both polynomials are minimax fits to the error of erf, to 2^-26 of it with their rounded coefficients; what is added
 * to this is rounding, less than 2 ulp in all. */
static inline float f32_erf(float x) {
  const float evens[] = ERF_EVEN, odds[] = ERF_ODD, numbers[] = ERF_NUMBERS;
  float t = magnitude_below(x, ERF_MOST), z = t * t;
  float even = evens[0], odd = odds[0];
  even = FMA(even, z, evens[1]);
  odd = FMA(odd, z, odds[1]);
  even = FMA(even, z, evens[2]);
  odd = FMA(odd, z, odds[2]);
  even = FMA(even, z, evens[3]);
  odd = FMA(odd, z, odds[3]);
  float h = FMA(z, FMA(odd, t, even), t);
  float shifted = FMA(h, ERF_EXPONENT, ROUND_BIASED(127)); /* -n = -h c / log(2) */
  float r = FMA(shifted - ROUND_BIASED(127), ERF_REST, h);
  float p = numbers[0];
  p = FMA(p, r, numbers[1]);
  p = FMA(p, r, numbers[2]);
  p = FMA(p, r, numbers[3]);
  p = FMA(p, r, numbers[4]);
  p = FMA(p, r, numbers[5]);
  p = FMA(p, r, r);
  float scale = power_of_two(as_int(shifted));
  return copysignf(FMA(scale, p, 1.0f - scale), x);
}

/* x times the normal distribution of x, by the steps of PyTorch's; what cancels in the sum is lost. */
static inline float f32_gelu(float x) {
  return 0.5f * x * (1.0f + f32_erf(x * SQRT_HALF));
}

/* Beyond it sin and cos need a longer reduction. */
#define TRIG_LIMIT 400000.0f
/* x minus the nearest multiple of pi/2, and that multiple modulo 4 in the low bits. */
static inline double reduce_quadrant(float x, int32_t *out_quadrant) {
  double n = FMA_D((double)x, 0x1.45f306dc9c883p-1, ROUND_D) - ROUND_D;
  *out_quadrant = (int32_t)n;
  return FMA_D(n, -0x1.0b4611a626331p-34, FMA_D(n, -0x1.921fb544p+0, (double)x));
}
static inline float sin_quadrant(float r, int32_t quadrant) {
  float z = r * r;
  float s = -0x1.9952dcp-13f;
  s = FMA(s, z, 0x1.110776p-7f);
  s = FMA(s, z, -0x1.555546p-3f);
  s = FMA(s * z, r, r);
  float c = 0x1.99e818p-16f;
  c = FMA(c, z, -0x1.6c0c28p-10f);
  c = FMA(c, z, 0x1.55554ap-5f);
  c = FMA(z * z, c, FMA(z, -0.5f, 1.0f));
  float value = quadrant & 1 ? c : s;
  return quadrant & 2 ? -value : value;
}
static inline float f32_sin(float x) {
  int32_t quadrant;
  float r = (float)reduce_quadrant(fabsf(x) <= TRIG_LIMIT ? x : 0.0f, &quadrant);
  return sin_quadrant(r, quadrant);
}
static inline float f32_cos(float x) {
  int32_t quadrant;
  float r = (float)reduce_quadrant(fabsf(x) <= TRIG_LIMIT ? x : 0.0f, &quadrant);
  return sin_quadrant(r, quadrant + 1);
}

/* A negative reciprocal where the multiple is odd. */
static inline float f32_tan(float x) {
  int32_t quadrant;
  double r = reduce_quadrant(fabsf(x) <= TRIG_LIMIT ? x : 0.0f, &quadrant), z = r * r;
  double p = 0x1.214c251bc7cc4p-8; /* (tan(r) / r - 1) / z for |r| <= pi/4, relative error of the whole 2^-29 */
  p = FMA_D(p, z, 0x1.22318d1170b80p-17);
  p = FMA_D(p, z, 0x1.6545229957c59p-7);
  p = FMA_D(p, z, 0x1.5c3cd040ebdc1p-6);
  p = FMA_D(p, z, 0x1.bae7bf2332549p-5);
  p = FMA_D(p, z, 0x1.110d45ade5692p-3);
  p = FMA_D(p, z, 0x1.5555617ddf41dp-2);
  float t = (float)FMA_D(z * r, p, r);
  return quadrant & 1 ? -1.0f / t : t;
}

/* The angle of (x, y) for y >= 0, of [0, pi]; relative error 2^-28. */
static inline double angle_f64(double y, double x) {
  double a = fabs(x), q = (y > a ? a : y) / (y > a ? y : a), z = q * q;
  double p = -0x1.dedc6dd1134c7p-10; /* (atan(q) / q - 1) / z for q of [0, 1] */
  p = FMA_D(p, z, 0x1.6a7d8f479bb73p-7);
  p = FMA_D(p, z, -0x1.01a7b453a9435p-5);
  p = FMA_D(p, z, 0x1.dd07910fc41e0p-5);
  p = FMA_D(p, z, -0x1.58da8430d9542p-4);
  p = FMA_D(p, z, 0x1.c0d1ec04f9cd4p-4);
  p = FMA_D(p, z, -0x1.2426eb5e35450p-3);
  p = FMA_D(p, z, 0x1.9992755716d8bp-3);
  p = FMA_D(p, z, -0x1.55554033b4bd9p-2);
  double angle = FMA_D(z * q, p, q);
  angle = y > a ? 0x1.921fb54442d18p+0 - angle : angle;
  return x < 0.0 ? 0x1.921fb54442d18p+1 - angle : angle;
}
static inline float f32_atan(float x) {
  return copysignf((float)angle_f64((double)fabsf(x), 1.0), x);
}
/* For finite numbers that are not both zero. */
static inline float f32_atan2(float y, float x) {
  return copysignf((float)angle_f64((double)fabsf(y), (double)x), y);
}
static inline int atan2_is_plain(float y, float x) {
  return (fabsf(y) < INFINITY) & (fabsf(x) < INFINITY) & (fabsf(y) + fabsf(x) > 0.0f);
}

/* Exact below quotients of 2^29: the multiple of y has 53 bits then, and the quotient of two numbers of 24 bits is too
 * far below an integer to be rounded to it. */
static inline float f32_fmod(float x, float y) {
  double a = (double)fabsf(x), b = (double)fabsf(y), q = a / b;
  double n = (q + ROUND_D) - ROUND_D, less = n - 1.0;
  n = n > q ? less : n;
  return copysignf((float)(a - n * b), x);
}
static inline int fmod_is_plain(float x, float y) {
  return (fabsf(x) < fabsf(y) * 0x1p29f) & (fabsf(y) < INFINITY);
}
/* Python's remainder: the divisor's sign. */
static inline float f32_mod(float x, float y) {
  float r = f32_fmod(x, y), other = r + y;
  return r != 0.0f && (r < 0.0f) != (y < 0.0f) ? other : r;
}

/* x^y for positive finite x and finite y */
static inline int pow_is_plain(float x, float y) {
  return (x > 0.0f) & (x < INFINITY) & (fabsf(y) < INFINITY);
}
static inline float f32_pow(float x, float y) {
  int plain = pow_is_plain(x, y);
  x = plain ? x : 1.0f;
  y = plain ? y : 1.0f;
  double t = log2_f64(x) * (double)y;
  t = t < -160.0 ? -160.0 : t;
  t = t > 130.0 ? 130.0 : t;
  double n = (t + ROUND_D) - ROUND_D, r = t - n;
  double p = 0x1.61c5020124650p-20; /* (2^r - 1) / r */
  p = FMA_D(p, r, 0x1.00d86b01bd27ep-16);
  p = FMA_D(p, r, 0x1.430aa866ce65cp-13);
  p = FMA_D(p, r, 0x1.5d874ce22a9fep-10);
  p = FMA_D(p, r, 0x1.3b2ab5ed7d9adp-7);
  p = FMA_D(p, r, 0x1.c6b08dcef3e3dp-5);
  p = FMA_D(p, r, 0x1.ebfbdff8ee08fp-3);
  p = FMA_D(p, r, 0x1.62e42fef89c45p-1);
  return scale_f32((float)FMA_D(p, r, 1.0), (int32_t)n + 254);
}
