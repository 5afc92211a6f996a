/* Sums of float32: chooses the instruction set. */
#include "base/processor.h"
#define NAME reduce_sum_f32_portable
#include "compute/reduce/reduce_sum_body.h"

double reduce_sum_f32(int64_t n, const float *x) {
  return PROCESSOR_FORM(reduce_sum_f32)(n, x);
}
