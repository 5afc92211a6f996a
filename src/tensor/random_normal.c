/* Box and Muller's transform of float32 numbers, in groups of sixteen. In double within, by operations that round the
 * same on every processor and that vectors compute; one result in some sixty differs from libm's in its last bits. The
 * polynomials are minimax fits of a relative error below 2^-37. */
#include "tensor/random.h"

#include <assert.h>
#include <math.h>

enum { HALF = NORMAL_GROUP / 2 };

/* x of (0, 1], a multiple of 2^-24: x = m 2^e with m in [sqrt(1/2), sqrt(2)), log m = 2 artanh((m - 1) / (m + 1)). */
static inline float log_of_fraction(float x) {
  int32_t bits;
  float m;
  memcpy(&bits, &x, sizeof bits);
  int32_t above = bits - 0x3f3504f3, mantissa = (above & 0x7fffff) + 0x3f3504f3;
  memcpy(&m, &mantissa, sizeof m);
  double f = (double)m - 1.0, s = f / (f + 2.0), z = s * s;
  double p = 0x1.e2f66589828dcp-3;
  p = p * z + 0x1.2438d788424d6p-2;
  p = p * z + 0x1.999a7a8b22452p-2;
  p = p * z + 0x1.555554fd9c959p-1;
  return (float)((double)(above >> 23) * M_LN2 + (s + s + s * z * p));
}

/* angle of [0, 2 pi]: what is left of it beyond the nearest multiple of pi / 2 goes through both polynomials. */
static inline void sincos_of_turn(float angle, float *out_sin, float *out_cos) {
  int32_t quadrant = (int32_t)((double)angle * M_2_PI + 0.5);
  double r = (double)angle - (double)quadrant * M_PI_2, z = r * r;
  double s = 0x1.6cd838989c14fp-19, c = -0x1.242abe3779ca6p-22;
  s = s * z - 0x1.a00f9d229a8a9p-13;
  s = s * z + 0x1.11110895a9998p-7;
  s = s * z - 0x1.5555554cb90d8p-3;
  c = c * z + 0x1.a0111fb5b064dp-16;
  c = c * z - 0x1.6c16b89821de7p-10;
  c = c * z + 0x1.5555554f4dab0p-5;
  float sine = (float)(r + r * z * s), cosine = (float)(1.0 - 0.5 * z + z * z * c);
  float in_sin = quadrant & 1 ? cosine : sine, in_cos = quadrant & 1 ? sine : cosine;
  *out_sin = quadrant & 2 ? -in_sin : in_sin;
  *out_cos = (quadrant + 1) & 2 ? -in_cos : in_cos;
}

void random_normal_groups(int64_t n, float *u, float mean, float std) {
  assert(n % NORMAL_GROUP == 0);
  for (int64_t i = 0; i < n; i += NORMAL_GROUP) {
    float *first = u + i, *second = u + i + HALF, from_cos[HALF], from_sin[HALF];
    for (int j = 0; j < HALF; j++) {
      float radius = sqrtf(-2.0f * log_of_fraction(1.0f - first[j])), sine, cosine;
      sincos_of_turn((float)(2.0 * M_PI) * second[j], &sine, &cosine);
      from_cos[j] = radius * cosine;
      from_sin[j] = radius * sine;
    }
    if (mean == 0 && std == 1) {
      for (int j = 0; j < HALF; j++) first[j] = from_cos[j] + 0.0f, second[j] = from_sin[j] + 0.0f;
    } else {
      for (int j = 0; j < HALF; j++) {
        first[j] = fmaf(from_cos[j], std, mean);
        second[j] = fmaf(from_sin[j], std, mean);
      }
    }
  }
}
