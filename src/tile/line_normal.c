/* Moments and normalization of a line for every processor, and which form this one takes. */
#include <stdint.h>

#include "base/processor.h"
#define NAME line_normal_portable
#include "tile/line_normal_body.h"

const LineNormal *line_normal(void) {
  return PROCESSOR_WIDE_FORM(line_normal);
}

void line_add_moments_f64(int64_t n, const double *x, double first, LineMoments *moments) {
  for (int64_t i = 0; i < n; i++) {
    int part = i < n / LINE_PARTS * LINE_PARTS ? (int)(i % LINE_PARTS) : 0;
    double d = x[i] - first;
    moments->sums[part] += d;
    moments->squares[part] += d * d;
  }
}
