/* softmax_line.h for one instruction set. The including file defines NAME and FUSED (vector_math_body.h). Maxima and
 * sums are taken in LANES parts in a fixed order: the compiler keeps them in vector registers, and the bits don't
 * depend on threads. */
#include <stdbool.h>

#include "tile/softmax_line.h"
#include "tile/vector_math_body.h"

enum { LANES = 16, CHUNK = 256 };

void NAME(int64_t n, const float *x, float *to, bool is_log) {
  float lanes[LANES], spare[CHUNK], most = -INFINITY, sum = 0;
  int64_t i = 0;
  /* NaN is left out here: it spreads by the sum. */
  for (int k = 0; k < LANES; k++) lanes[k] = -INFINITY;
  for (; i + LANES <= n; i += LANES)
    for (int k = 0; k < LANES; k++) lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];
  for (; i < n; i++) most = x[i] > most ? x[i] : most;
  for (int k = 0; k < LANES; k++) most = lanes[k] > most ? lanes[k] : most;

  for (int k = 0; k < LANES; k++) lanes[k] = 0;
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
    const float *from = x + begin;
    float *e = is_log ? spare : to + begin;
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (i = 0; i < count; i++) e[i] = f32_exp(from[i] - most);
    for (i = 0; i + LANES <= count; i += LANES)
      for (int k = 0; k < LANES; k++) lanes[k] += e[i + k];
    for (; i < count; i++) sum += e[i];
  }
  for (int k = 0; k < LANES; k++) sum += lanes[k];

  if (is_log) {
    float shift = logf(sum);
    for (i = 0; i < n; i++) to[i] = x[i] - most - shift;
  } else {
    float scale = 1 / sum;
    for (i = 0; i < n; i++) to[i] *= scale;
  }
}
