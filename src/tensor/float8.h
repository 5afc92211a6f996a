/* float8: numbers of eight bits. Two layouts with infinities or saturation, two with one NaN and no negative zero
 * (fnuz), and bare exponents (e8m0fnu), the scales of blocks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Float8 {
  int mantissa_bits, bias;
  uint8_t greatest; /* the bits of the greatest finite number */
  uint8_t overflow; /* what numbers beyond it, and infinities, become, beside their sign */
  uint8_t nan;
  bool is_unsigned_nan; /* fnuz: the bits of -0 are the only NaN, and there is no -0 */
  bool is_exponent;     /* no sign, no mantissa, no zero */
} Float8;

extern const Float8 float8_e5m2, float8_e4m3fn, float8_e5m2fnuz, float8_e4m3fnuz, float8_e8m0fnu;

float float8_to_float(const Float8 *format, uint8_t bits);
uint8_t float8_from_float(const Float8 *format, float f); /* nearest even; of exponents halves go up */
