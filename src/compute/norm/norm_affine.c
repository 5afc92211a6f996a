/* Scaling and shifting: chooses the instruction set. */
#include <assert.h>
#include <stdint.h>

#include "base/processor.h"
#define NAME norm_affine_portable
#define RELU_NAME norm_affine_relu_portable
#define FOLD_NAME norm_fold_portable
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "compute/norm/norm_affine_body.h"

void norm_affine(int64_t n, const float *x, float *y, NormScaling by, int64_t step) {
  assert(step == 0 || (step == 1 && !by.center));
  PROCESSOR_FORM(norm_affine)(n, x, y, by, step);
}

float norm_shift(double mean, double scale, double bias) {
  return (float)(bias + ((double)(float)mean - mean) * scale);
}

void norm_affine_relu(int64_t n, const float *x, float *y, float scale, float shift) {
  PROCESSOR_FORM(norm_affine_relu)(n, x, y, scale, shift);
}

void norm_fold(int64_t n, const NormStored *stored, float *scale, float *shift) {
  PROCESSOR_FORM(norm_fold)(n, stored, scale, shift);
}
