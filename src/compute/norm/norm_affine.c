/* Scaling and shifting: chooses the instruction set. */
#include "base/processor.h"
#define NAME norm_affine_portable
#define RELU_NAME norm_affine_relu_portable
#define FOLD_NAME norm_fold_portable
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "compute/norm/norm_affine_body.h"

void norm_affine(int64_t n, const float *x, float *y, const float *scale, const float *shift, int64_t step) {
  PROCESSOR_FORM(norm_affine)(n, x, y, scale, shift, step);
}

void norm_affine_relu(int64_t n, const float *x, float *y, float scale, float shift) {
  PROCESSOR_FORM(norm_affine_relu)(n, x, y, scale, shift);
}

void norm_fold(int64_t n, const NormStored *stored, float *scale, float *shift) {
  PROCESSOR_FORM(norm_fold)(n, stored, scale, shift);
}
