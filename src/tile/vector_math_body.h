/* float32 elementary functions, one element each, at most 2 ulp, written so that compilers vectorize loops over them:
 * no calls, no branches, 32-bit integers only. Included once for each instruction set; FUSED says whether fma is an
 * instruction. The polynomials are minimax fits to the relative error on the intervals named beside them. */
#include <math.h>
#include <stdint.h>
#include <string.h>

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

/* Adding and subtracting it rounds to the nearest integer, half to even, for magnitudes below 2^22 (2^51). */
#define ROUND_F 0x1.8p23f
#define ROUND_D 0x1.8p52
/* The same, which leaves the integer plus `bias` in the sum's low bits: an exponent, ready to be shifted into place. */
#define ROUND_BIASED(bias) (ROUND_F + (bias))

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

/* e^r for |r| <= ln(2)/2: 1 + r + EXP_2 r^2 + ... */
#define EXP_2 0x1.fffffcp-2f
#define EXP_3 0x1.555484p-3f
#define EXP_4 0x1.5558acp-5f
#define EXP_5 0x1.12444ep-7f
#define EXP_6 0x1.6a648p-10f
static inline float exp_core(float r) {
  float q = EXP_6;
  q = FMA(q, r, EXP_5);
  q = FMA(q, r, EXP_4);
  q = FMA(q, r, EXP_3);
  q = FMA(q, r, EXP_2);
  return FMA(FMA(q, r, 1.0f), r, 1.0f);
}
#define LOG2_E 0x1.715476p+0f
#define LN2 0x1.62e43p-1f
#define LN2_HI 0x1.62e4p-1f /* 15 bits: its product with an exponent is exact */
#define LN2_LO 0x1.7f7d1cp-20f

static inline float exp_clamped(float x) { /* x of [-104, 89], or NaN */
  float shifted = FMA(x, LOG2_E, ROUND_BIASED(254));
  float n = shifted - ROUND_BIASED(254);
  float r = FMA(n, -LN2_LO, FMA(n, -LN2_HI, x));
  return scale_f32(exp_core(r), as_int(shifted));
}
static inline float f32_exp(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  return exp_clamped(x);
}

/* exp where the result is a normal number, as its callers know: the exponent is added to the bits. Of NaN it makes
 * anything. */
static inline float exp_normal(float x) {
  float shifted = FMA(x, LOG2_E, ROUND_F);
  float n = shifted - ROUND_F;
  float r = FMA(n, -LN2_LO, FMA(n, -LN2_HI, x));
  uint32_t exponent = (uint32_t)as_int(shifted) << 23;
  return as_float((int32_t)((uint32_t)as_int(exp_core(r)) + exponent));
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
  float small = -0x1.94012ap-8f; /* (tanh(x) / x - 1) / z for a <= 0.5625 */
  small = FMA(small, z, 0x1.580584p-6f);
  small = FMA(small, z, -0x1.b904ap-5f);
  small = FMA(small, z, 0x1.110c5ap-3f);
  small = FMA(small, z, -0x1.555548p-2f);
  small = FMA(small * z, a, a);
  float y = a > 8.664339742f ? 10.0f : a; /* tanh there is 1 - 2^-24 */
  y += y;
  float shifted = FMA(y, LOG2_E, ROUND_BIASED(127));
  float r = FMA(shifted - ROUND_BIASED(127), -LN2, y);
  float large = 1.0f - 2.0f / FMA(exp_core(r), power_of_two(as_int(shifted)), 1.0f);
  return copysignf(a > 0.5625f ? large : small, x);
}

static inline float f32_sigmoid(float x) {
  float y = -fabsf(x);
  float e = exp_clamped(y < -104.0f ? -104.0f : y);
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

static inline float f32_erf(float x) {
  float t = fabsf(x), z = x * x;
  float small = 0x1.4e45b4p-14f; /* erf(x) / x - 1 in z for t <= 0.93 */
  small = FMA(small, z, -0x1.a5ba98p-11f);
  small = FMA(small, z, 0x1.54426ep-8f);
  small = FMA(small, z, -0x1.b8008p-6f);
  small = FMA(small, z, 0x1.ce2d6p-4f);
  small = FMA(small, z, -0x1.81274p-2f);
  small = FMA(small, z, 0x1.06eba8p-3f);
  small = FMA(small, x, x);
  t = t > 3.95f ? 3.95f : t;
  float g = -0x1.989e46p-13f; /* -log(erfc(t)) for 0.92 <= t <= 3.95 */
  g = FMA(g, t, 0x1.8d80cp-9f);
  g = FMA(g, t, -0x1.6b7e8ep-6f);
  g = FMA(g, t, 0x1.a95d2ap-4f);
  g = FMA(g, t, 0x1.4648d2p-1f);
  g = FMA(g, t, 0x1.20abdep+0f);
  g = FMA(g, t, 0x1.b48764p-13f);
  float large = copysignf(1.0f - exp_normal(-g), x);
  return fabsf(x) > 0.925f ? large : small;
}

/* Beyond it sin and cos need a longer reduction. */
#define TRIG_LIMIT 400000.0f
/* x minus the nearest multiple of pi/2, and that multiple modulo 4 in the low bits. */
static inline float reduce_quadrant(float x, int32_t *out_quadrant) {
  double n = FMA_D((double)x, 0x1.45f306dc9c883p-1, ROUND_D) - ROUND_D;
  *out_quadrant = (int32_t)n;
  return (float)FMA_D(n, -0x1.0b4611a626331p-34, FMA_D(n, -0x1.921fb544p+0, (double)x));
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
  float r = reduce_quadrant(fabsf(x) <= TRIG_LIMIT ? x : 0.0f, &quadrant);
  return sin_quadrant(r, quadrant);
}
static inline float f32_cos(float x) {
  int32_t quadrant;
  float r = reduce_quadrant(fabsf(x) <= TRIG_LIMIT ? x : 0.0f, &quadrant);
  return sin_quadrant(r, quadrant + 1);
}

/* x^y for positive finite x and finite y */
static inline float f32_pow(float x, float y) {
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
static inline int pow_is_plain(float x, float y) {
  return x > 0.0f && x < INFINITY && fabsf(y) < INFINITY;
}
