/* What is done to each result of a product or a convolution in the end, while it is in registers or in cache: the
 * function of the pointwise operator that comes next. NaN stays NaN. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct TileInPlace TileInPlace; /* tile/in_place.h */

/* Those up to HARDSIGMOID are done in registers by all engines, those after it line by line. */
typedef enum ActivationKind {
  ACTIVATION_NONE,
  ACTIVATION_LIMITS, /* between low and high */
  ACTIVATION_HARDSWISH,
  ACTIVATION_HARDSIGMOID,
  ACTIVATION_SIGMOID,
  ACTIVATION_SILU,
  ACTIVATION_FORMULA, /* any other, of an operator with a formula */
  ACTIVATION_COUNT
} ActivationKind;

typedef struct Activation {
  ActivationKind kind;
  float low, high;
  const TileInPlace *formula; /* borrowed */
} Activation;

static inline bool activation_is_by_lines(const Activation *a) {
  return a->kind >= ACTIVATION_SIGMOID;
}
/* ACTIVATION_LIMITS or ACTIVATION_FORMULA, of n numbers. */
void activation_line(const Activation *a, int64_t n, float *x);
/* ACTIVATION_FORMULA, of `rows` lines of n, `stride` apart. */
void activation_formula(const TileInPlace *formula, int rows, int64_t stride, int64_t n, float *x);
