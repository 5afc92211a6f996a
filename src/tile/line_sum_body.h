/* line_sum.h for one instruction set. The including file defines NAME. */
#include "tile/line_sum.h"

double NAME(int64_t n, const float *x) {
  double lanes[8] = {0}, tail = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++) lanes[k] += (double)x[i + k];
  for (; i < n; i++) tail += (double)x[i];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])) + tail;
}
