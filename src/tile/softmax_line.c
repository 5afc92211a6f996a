/* Lines of softmax for every processor, and which form this one takes. */
#include "base/processor.h"
#define NAME softmax_line_portable
#define FUSED 0
#include "tile/loops.h"
#include "tile/softmax_line_body.h"

SoftmaxLine *softmax_line(void) {
  return PROCESSOR_WIDE_FORM(softmax_line);
}

enum { PART = 256 };

void softmax_line_f64(int64_t n, const double *x, double *to, bool is_log, bool rounds) {
  TileLoop *exponentials = tile_loop(KERNEL_EXP, TILE_F64);
  double most = -INFINITY, sum = 0, lanes[8] = {0}, spare[PART];
  for (int64_t i = 0; i < n; i++) most = x[i] > most || x[i] != x[i] ? x[i] : most;
  for (int64_t begin = 0; begin < n; begin += PART) {
    int64_t count = n - begin < PART ? n - begin : PART, i = 0;
    double *shifted = to + begin, *e = is_log ? spare : shifted;
    for (int64_t k = 0; k < count; k++) shifted[k] = x[begin + k] - most;
    exponentials(count, e, shifted, NULL, NULL);
    for (; i + 8 <= count; i += 8)
      for (int k = 0; k < 8; k++) lanes[k] += e[i + k];
    for (; i < count; i++) sum += e[i];
  }
  for (int k = 0; k < 8; k++) sum += lanes[k];
  if (is_log) {
    double shift = rounds ? bfloat16_round(logf(bfloat16_round((float)sum))) : log(sum);
    for (int64_t i = 0; i < n; i++) to[i] -= shift;
  } else {
    double scale = 1 / sum;
    for (int64_t i = 0; i < n; i++) to[i] *= scale;
  }
}
