/* Mean and variance of bfloat16 by Welford's steps in 16 lanes, chunks of 16 steps joined pairwise (T. Chan, G. Golub,
 * R. LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979). Every step is
 * rounded: so are PyTorch's, and its results are what models in bfloat16 were made with. */
#include "compute/norm/norm_bfloat16.h"

#include <math.h>
#include <stdint.h>

#include "tensor/dtype.h"

enum { LANES = 16, CHUNK = 16, LEVELS = 60 };
#define R bfloat16_round

typedef struct Moments {
  int64_t count; /* in each lane */
  float mean[LANES], square[LANES];
} Moments;

static void join(int64_t count, float mean, float square, int64_t into_count, float *into_mean, float *into_square) {
  int64_t all = count + into_count;
  float part = all ? R(R((float)count) / R((float)all)) : 0, delta = R(mean - *into_mean);
  *into_mean = R(*into_mean + R(part * delta));
  *into_square = R(*into_square + R(square + R(R(R(delta * delta) * part) * R((float)into_count))));
}
static void join_lanes(Moments *from, Moments *into) {
  for (int l = 0; l < LANES; l++)
    join(from->count, from->mean[l], from->square[l], into->count, &into->mean[l], &into->square[l]);
  into->count += from->count;
  *from = (Moments){0};
}

static void step(float x, float share, float *mean, float *square) {
  float delta = R(x - *mean);
  *mean = R(*mean + R(delta * share));
  *square = R(*square + R(delta * R(x - *mean)));
}

void bfloat16_statistics(const uint16_t *x, int64_t n, double eps, float *out_mean, float *out_invstd) {
  Moments levels[LEVELS] = {0};
  int64_t steps = n / LANES, chunks = (steps + CHUNK - 1) / CHUNK;
  int depth = 1;
  while (depth < LEVELS && (int64_t)1 << depth < chunks) depth++;
  for (int64_t i = 0; i < chunks; i++) {
    Moments chunk = {.count = steps - i * CHUNK < CHUNK ? steps - i * CHUNK : CHUNK};
    for (int64_t j = 0; j < chunk.count; j++) {
      const uint16_t *row = x + (i * CHUNK + j) * LANES;
      for (int l = 0; l < LANES; l++)
        step(bfloat16_to_float(row[l]), R(1.f / (float)(j + 1)), &chunk.mean[l], &chunk.square[l]);
    }
    join_lanes(&chunk, &levels[0]);
    for (int64_t level = 1, bits = i + 1; level < depth && !(bits & 1); level++, bits >>= 1)
      join_lanes(&levels[level - 1], &levels[level]);
  }
  for (int level = 1; level < depth; level++) join_lanes(&levels[level], &levels[0]);
  float mean = 0, square = 0;
  int64_t count = 0;
  for (int64_t i = steps * LANES; i < n; i++) {
    float v = bfloat16_to_float(x[i]), delta = R(v - mean);
    count++;
    mean = R(mean + R(delta / R((float)count)));
    square = R(square + R(delta * R(v - mean)));
  }
  for (int l = 0; l < LANES; l++) {
    join(steps, levels[0].mean[l], levels[0].square[l], count, &mean, &square);
    count += steps;
  }
  float variance = R(square / R((float)n));
  if (variance < 0) variance = 0;
  *out_mean = mean;
  *out_invstd = R(1 / R(sqrtf(R(variance + R((float)eps)))));
}
