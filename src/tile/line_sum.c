/* Sums of a line: chooses the instruction set. */
#include <stdint.h>

#include "base/processor.h"
#define ELEMENT float
#define SUM line_sum_f32_portable
#include "tile/line_sum_body.h"

double line_sum_f32(int64_t n, const float *x) {
  return PROCESSOR_FORM(line_sum_f32)(n, x);
}
