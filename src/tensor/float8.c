/* Numbers of eight bits, by integer arithmetic on those of float32. */
#include "tensor/float8.h"

#include <math.h>
#include <string.h>

const Float8 float8_e5m2 = {.mantissa_bits = 2, .bias = 15, .greatest = 0x7b, .overflow = 0x7c, .nan = 0x7f};
const Float8 float8_e4m3fn = {.mantissa_bits = 3, .bias = 7, .greatest = 0x7e, .overflow = 0x7e, .nan = 0x7f};
const Float8 float8_e5m2fnuz = {
    .mantissa_bits = 2, .bias = 16, .greatest = 0x7f, .overflow = 0x80, .nan = 0x80, .is_unsigned_nan = true};
const Float8 float8_e4m3fnuz = {
    .mantissa_bits = 3, .bias = 8, .greatest = 0x7f, .overflow = 0x80, .nan = 0x80, .is_unsigned_nan = true};
const Float8 float8_e8m0fnu = {.bias = 127, .greatest = 0xfe, .overflow = 0xff, .nan = 0xff, .is_exponent = true};

enum { FLOAT_BITS = 23, FLOAT_BIAS = 127 };
static const uint32_t infinity_bits = 0x7f800000u;

float float8_to_float(const Float8 *f, uint8_t bits) {
  if (f->is_exponent) return bits == f->nan ? NAN : ldexpf(1, bits - f->bias);
  uint8_t magnitude = bits & 0x7f;
  if (f->is_unsigned_nan ? bits == f->nan : magnitude > f->overflow) return copysignf(NAN, bits >> 7 ? -1.f : 1.f);
  int exponent = magnitude >> f->mantissa_bits, mantissa = magnitude & ((1 << f->mantissa_bits) - 1);
  if (exponent) mantissa |= 1 << f->mantissa_bits;
  float value = ldexpf((float)mantissa, (exponent ? exponent : 1) - f->bias - f->mantissa_bits);
  if (!f->is_unsigned_nan && magnitude == f->overflow && f->overflow > f->greatest) value = INFINITY;
  return bits >> 7 ? -value : value;
}

/* Halves go up, but for half of the least, which goes down. */
static uint8_t exponent_from_float(const Float8 *f, uint32_t magnitude) {
  enum { HALF = 1 << (FLOAT_BITS - 1) };
  uint32_t exponent = magnitude >> FLOAT_BITS, mantissa = magnitude & ((1u << FLOAT_BITS) - 1);
  if (magnitude >= infinity_bits) return f->nan;
  return (uint8_t)(exponent + (exponent ? mantissa >= HALF : mantissa > HALF));
}

uint8_t float8_from_float(const Float8 *f, float number) {
  uint32_t wide;
  memcpy(&wide, &number, sizeof wide);
  uint8_t sign = (uint8_t)(wide >> 24 & 0x80u), rounded;
  wide &= 0x7fffffffu;
  if (f->is_exponent) return exponent_from_float(f, wide);
  if (wide > infinity_bits) return f->is_unsigned_nan ? f->nan : sign | f->nan;
  int dropped = FLOAT_BITS - f->mantissa_bits;
  uint32_t least_normal = (uint32_t)(FLOAT_BIAS + 1 - f->bias) << FLOAT_BITS;
  if (wide < least_normal) { /* a count of the smallest unit, which may round to the least normal number */
    float magnitude;
    memcpy(&magnitude, &wide, sizeof magnitude);
    rounded = (uint8_t)nearbyintf(ldexpf(magnitude, f->bias - 1 + f->mantissa_bits));
  } else {
    uint32_t nearest = wide + (1u << (dropped - 1)) - 1 + (wide >> dropped & 1u);
    nearest = (nearest - ((uint32_t)(FLOAT_BIAS - f->bias) << FLOAT_BITS)) >> dropped;
    rounded = nearest > f->greatest ? f->overflow : (uint8_t)nearest;
  }
  if (f->is_unsigned_nan && (rounded == f->nan || !rounded)) return rounded;
  return sign | rounded;
}
