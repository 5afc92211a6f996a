/* The numbers of elementary functions: what the interpreter's loops (vector_math_body.h) and native code
 * (native/functions.c) compute them with. Polynomials are minimax fits to the relative error on the intervals named
 * beside them, the highest power first. */
#pragma once

/* Adding and subtracting it rounds to the nearest integer, half to even, for magnitudes below 2^22 (2^51). */
#define ROUND_F 0x1.8p23f
#define ROUND_D 0x1.8p52
/* The same, which leaves the integer plus `bias` in the sum's low bits: an exponent, ready to be shifted into place. */
#define ROUND_BIASED(bias) (ROUND_F + (bias))

#define LOG2_E 0x1.715476p+0f
#define LN2 0x1.62e43p-1f
#define LN2_HI 0x1.62e4p-1f /* 15 bits: its product with an exponent is exact */
#define LN2_LO 0x1.7f7d1cp-20f

/* e^x is 0 below the first and infinite above the second. */
#define EXP_LEAST -104.0f
#define EXP_MOST 89.0f
/* (e^r - 1 - r) / r^2 for |r| <= ln(2)/2 */
#define EXP_2 0x1.fffffcp-2f
#define EXP_3 0x1.555484p-3f
#define EXP_4 0x1.5558acp-5f
#define EXP_5 0x1.12444ep-7f
#define EXP_6 0x1.6a648p-10f
#define EXP_NUMBERS \
  { EXP_6, EXP_5, EXP_4, EXP_3, EXP_2 }

#define EXP_LEAST_D -746.0
#define EXP_MOST_D 710.0
#define LOG2_E_D 0x1.71547652b82fep+0
#define LN2_HI_D 0x1.62e42fefa3800p-1
#define LN2_LO_D 0x1.ef35793c76730p-45
/* ((e^r - 1) / r - 1) / r for |r| <= ln(2)/2 */
#define EXP_NUMBERS_D                                                                                                  \
  {                                                                                                                    \
    0x1.af38a9b0ec855p-26, 0x1.289185613a3d6p-22, 0x1.71de0dae63bb3p-19, 0x1.a019b90d2ae7ap-16, 0x1.a01a01a7c41d5p-13, \
        0x1.6c16c1788bd90p-10, 0x1.11111111109b3p-7, 0x1.5555555553d63p-5, 0x1.5555555555556p-3, 0x1.0000000000001p-1  \
  }

/* (tanh(x) / x - 1) / x^2 for |x| <= TANH_SMALL */
#define TANH_NUMBERS \
  { -0x1.94012ap-8f, 0x1.580584p-6f, -0x1.b904ap-5f, 0x1.110c5ap-3f, -0x1.555548p-2f }
#define TANH_SMALL 0.5625f
#define TANH_ONE 8.664339742f /* where it is 1 from: tanh there is 1 - 2^-24 */

/* (h - t) / t^2 for t <= ERF_MOST: even powers of t, and odd ones (vector_math_body.h says what h is) */
#define ERF_MOST 3.93f    /* beyond it 1 - erf is below 2^-25 */
#define ERF_TURN 0x7fffff /* takes the bits of the first NaN to the most negative integer */
#define ERF_EVEN \
  { 0x1.b91218p-14f, 0x1.84f50cp-10f, -0x1.1609bcp-6f, 0x1.20dd6ep-1f }
#define ERF_ODD \
  { -0x1.1685f8p-17f, -0x1.27cb6cp-11f, -0x1.3834ap-13f, 0x1.7513d2p-4f }
#define ERF_EXPONENT -0x1.a0be84p+0f /* -c / log(2) */
#define ERF_REST 0x1.3a83a8p-1f      /* log(2) / c */
/* (1 - exp(-c r)) / r - 1 for |c r| <= log(2) / 2 */
#define ERF_NUMBERS \
  { -0x1.73079ap-9f, 0x1.f59fccp-7f, -0x1.14b2f8p-4f, 0x1.ea636ap-3f, -0x1.45f3p-1f, 0x1.06eba8p-3f }
#define SQRT_HALF 0.7071067811865476f
