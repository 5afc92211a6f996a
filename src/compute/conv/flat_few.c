/* Putting patches in order. */
#include "compute/conv/flat_few.h"

#include <assert.h>

#include "base/parallel.h"
#include "compute/conv/flat_tile.h"

bool flat_few_takes(const ConvParams *p) {
  return p->out[0] * p->out[1] * p->out[2] <= FLAT_COLUMNS;
}

/* Whether the inputs of each patch follow each other as they lie, and patches have one distance. */
static bool lie_in_order(const ConvParams *p, int64_t *stride) {
  int64_t place = 1, taps = 1;
  *stride = 0;
  for (int d = CONV_SPATIAL - 1; d >= 0; d--) {
    if (p->padding[d] || p->padding_after[d] || (p->kernel[d] > 1 && place * p->dilation[d] != taps)) return false;
    if (p->out[d] > 1 && *stride) return false;
    if (p->out[d] > 1) *stride = place * p->stride[d];
    place *= p->in[d];
    taps *= p->kernel[d];
  }
  return place == taps || p->in_channels == p->groups;
}

FlatPatches flat_patches(const ConvParams *p) {
  int64_t inputs = p->in_channels / p->groups, taps = p->kernel[0] * p->kernel[1] * p->kernel[2];
  FlatPatches f = {.count = p->out[0] * p->out[1] * p->out[2], .depth = inputs * taps};
  if (lie_in_order(p, &f.stride)) {
    f.group_stride = inputs * p->in[0] * p->in[1] * p->in[2];
  } else {
    f.stride = p->in_channels * taps;
    f.group_stride = f.depth;
    f.bytes = (size_t)(f.count * f.stride) * sizeof(float);
  }
  return f;
}

typedef struct Putting {
  const FlatPatches *patches;
  const ConvParams *p;
  const float *image;
  float *to;
} Putting;

/* The taps of a dimension that meet inputs from position `from` on. */
static void clip(const ConvParams *p, int d, int64_t from, int64_t *begin, int64_t *end) {
  assert(d >= 0 && d < CONV_SPATIAL);
  int64_t dilation = p->dilation[d];
  *begin = from < 0 ? (-from + dilation - 1) / dilation : 0;
  *end = from < p->in[d] ? (p->in[d] - 1 - from) / dilation + 1 : 0;
  if (*end > p->kernel[d]) *end = p->kernel[d];
}

/* Lines of n elements, with steps between elements and between lines. */
static void put_lines(int64_t lines, const float *restrict from, int64_t from_line, float *restrict to, int64_t to_line,
                      int64_t n, int64_t from_step, int64_t to_step) {
  for (; lines > 0; lines--, from += from_line, to += to_line) {
    const float *x = from;
    float *y = to;
    int64_t i = n;
    for (; i >= 4; i -= 4, x += 4 * from_step, y += 4 * to_step) {
      y[0] = x[0];
      y[to_step] = x[from_step];
      y[2 * to_step] = x[2 * from_step];
      y[3 * to_step] = x[3 * from_step];
    }
    for (; i > 0; i--, x += from_step, y += to_step) *y = *x;
  }
}

/* The part of some channels in the patch of the result at `at`. */
static void put_patch(const ConvParams *p, const int64_t at[CONV_SPATIAL], int64_t channels, const float *planes,
                      float *to) {
  int64_t from[CONV_SPATIAL], begin[CONV_SPATIAL], end[CONV_SPATIAL];
  int64_t size = p->in[0] * p->in[1] * p->in[2], taps = p->kernel[0] * p->kernel[1] * p->kernel[2];
  bool is_whole = true;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    from[d] = at[d] * p->stride[d] - p->padding[d];
    clip(p, d, from[d], &begin[d], &end[d]);
    is_whole = is_whole && begin[d] == 0 && end[d] == p->kernel[d];
  }
  if (!is_whole) memset(to, 0, (size_t)(channels * taps) * sizeof *to);
  int64_t n = end[2] - begin[2], step = p->dilation[2];
  for (int64_t k0 = begin[0]; k0 < end[0]; k0++)
    for (int64_t k1 = begin[1]; k1 < end[1]; k1++) {
      int64_t row = (from[0] + k0 * p->dilation[0]) * p->in[1] + from[1] + k1 * p->dilation[1];
      const float *inputs = planes + row * p->in[2] + from[2] + begin[2] * step;
      float *line = to + (k0 * p->kernel[1] + k1) * p->kernel[2] + begin[2];
      bool along_taps = n >= channels; /* the longer loop within the other */
      put_lines(along_taps ? channels : n, inputs, along_taps ? size : step, line, along_taps ? taps : 1,
                along_taps ? n : channels, along_taps ? step : size, along_taps ? 1 : taps);
    }
}

static void put_channels(void *argument, int64_t begin, int64_t end) {
  const Putting *w = argument;
  const ConvParams *p = w->p;
  int64_t taps = p->kernel[0] * p->kernel[1] * p->kernel[2], at[CONV_SPATIAL];
  const float *planes = w->image + begin * p->in[0] * p->in[1] * p->in[2];
  float *to = w->to + begin * taps;
  for (at[0] = 0; at[0] < p->out[0]; at[0]++)
    for (at[1] = 0; at[1] < p->out[1]; at[1]++)
      for (at[2] = 0; at[2] < p->out[2]; at[2]++, to += w->patches->stride) put_patch(p, at, end - begin, planes, to);
}

void flat_patches_put(const FlatPatches *patches, int threads, const ConvParams *p, const float *image, float *to) {
  enum { ONE_THREAD_FLOATS = 12288 };
  Putting w = {patches, p, image, to};
  int64_t each = patches->count * p->kernel[0] * p->kernel[1] * p->kernel[2];
  parallel_for(threads, p->in_channels, ONE_THREAD_FLOATS / each + 1, put_channels, &w);
}
