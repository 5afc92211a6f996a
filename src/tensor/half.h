/* Half precision by the line: loops of this processor for what dtype.h converts one at a time. Numbers convert alike
 * everywhere; of NaN only the sign does. */
#pragma once

#include <stdint.h>

/* n contiguous elements; `to` and `from` don't overlap. */
typedef void FloatsFromHalves(int64_t n, float *to, const uint16_t *from);
typedef void HalvesFromFloats(int64_t n, uint16_t *to, const float *from);
extern FloatsFromHalves floats_from_halves_portable, floats_from_halves_avx2, floats_from_halves_neon;
extern HalvesFromFloats halves_from_floats_portable, halves_from_floats_avx2, halves_from_floats_neon;
