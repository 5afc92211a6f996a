/* Sums of a line: chooses the instruction set. */
#include "base/processor.h"
#define NAME line_sum_f32_portable
#include "tile/line_sum_body.h"

double line_sum_f32(int64_t n, const float *x) {
  return PROCESSOR_FORM(line_sum_f32)(n, x);
}

/* The order of line_sum_body.h: what a float32 line gives when it is converted first. */
double line_sum_f64(int64_t n, const double *x) {
  double lanes[8] = {0}, tail = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++) lanes[k] += x[i + k];
  for (; i < n; i++) tail += x[i];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])) + tail;
}
