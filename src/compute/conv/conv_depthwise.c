/* Depthwise convolution, a tile of output rows at a time.
 *
 * The input of a tile is laid out once with its padding, one plane for each remainder of the positions by the strides
 * ("phases"). With every phase plane of the same extents, each tap of the kernel is one constant distance in it, and
 * the whole tile is one run of products and sums over flat memory, whatever stride, dilation and padding are; what
 * falls between the rows is computed too and left out when the rows are copied to the output. */
#include "compute/conv/conv_depthwise.h"

#include "base/cache.h"
#include "base/parallel.h"
#include "base/processor.h"

bool conv_is_depthwise(const ConvParams *p) {
  return !p->transposed && p->groups == p->in_channels && p->groups == p->out_channels && p->groups > 1;
}

enum { TILE_FLOATS = 6144, SLACK = 32 }; /* of a tile's input and output together, where a row is not longer already */

typedef struct Depthwise {
  const ConvParams *p;
  const float *input, *weight;
  const ConvEpilogue *epilogue;
  float *out;
  DepthwiseRun *run;
  int axis;                     /* tiles are cut along it */
  int64_t tile;                 /* outputs along the axis in one tile */
  int64_t extent[CONV_SPATIAL]; /* of a phase plane for a whole tile */
  int64_t phase, phases, taps;  /* floats in a phase plane, planes, taps of the kernel */
  int64_t *offsets;             /* of each tap */
  _Atomic bool failed;
} Depthwise;

static void set_tile(Depthwise *d, int64_t tile) {
  const ConvParams *p = d->p;
  d->tile = tile;
  d->phase = d->phases = 1;
  for (int i = 0; i < CONV_SPATIAL; i++) {
    int64_t outputs = i == d->axis ? tile : p->out[i];
    int64_t span = (outputs - 1) * p->stride[i] + (p->kernel[i] - 1) * p->dilation[i] + 1;
    d->extent[i] = (span + p->stride[i] - 1) / p->stride[i];
    d->phase *= d->extent[i];
    d->phases *= p->stride[i];
  }
  d->phase += SLACK;
}

static void set_offsets(Depthwise *d) {
  const ConvParams *p = d->p;
  int64_t at = 0;
  for (int64_t k0 = 0; k0 < p->kernel[0]; k0++)
    for (int64_t k1 = 0; k1 < p->kernel[1]; k1++)
      for (int64_t k2 = 0; k2 < p->kernel[2]; k2++) {
        int64_t k[CONV_SPATIAL] = {k0, k1, k2}, plane = 0, place = 0;
        for (int i = 0; i < CONV_SPATIAL; i++) {
          int64_t position = k[i] * p->dilation[i];
          plane = plane * p->stride[i] + position % p->stride[i];
          place = place * d->extent[i] + position / p->stride[i];
        }
        d->offsets[at++] = plane * d->phase + place;
      }
}

/* Where the values of a row that are `stride` apart lie in a row of a phase plane. */
typedef struct RowSpan {
  int64_t begin, end, shift; /* to[j] = row[j * stride + shift] for j in [begin, end), 0 elsewhere */
} RowSpan;
static RowSpan row_span(const Depthwise *d, int64_t shift) {
  int64_t stride = d->p->stride[2], length = d->p->in[2], count = d->extent[2];
  RowSpan span = {.shift = shift};
  span.begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
  span.end = shift < length ? (length - 1 - shift) / stride + 1 : 0;
  if (span.begin > count) span.begin = count;
  if (span.end > count) span.end = count;
  if (span.end < span.begin) span.end = span.begin;
  return span;
}

/* Fills one phase plane for the tile whose input begins at `start`. The zeros at both ends of a row are there already:
 * they are the same for every tile. */
static void lay_phase(const Depthwise *d, const float *plane, const int64_t start[CONV_SPATIAL], RowSpan span,
                      float *to) {
  const ConvParams *p = d->p;
  int64_t s = p->stride[2];
  for (int64_t q0 = 0; q0 < d->extent[0]; q0++)
    for (int64_t q1 = 0; q1 < d->extent[1]; q1++, to += d->extent[2]) {
      int64_t x0 = start[0] + q0 * p->stride[0], x1 = start[1] + q1 * p->stride[1];
      if (x0 < 0 || x0 >= p->in[0] || x1 < 0 || x1 >= p->in[1]) {
        memset(to, 0, (size_t)d->extent[2] * sizeof *to);
        continue;
      }
      const float *row = plane + (x0 * p->in[1] + x1) * p->in[2] + span.shift;
      if (s == 1)
        for (int64_t j = span.begin; j < span.end; j++) to[j] = row[j];
      else if (s == 2)
        for (int64_t j = span.begin; j < span.end; j++) to[j] = row[2 * j];
      else
        for (int64_t j = span.begin; j < span.end; j++) to[j] = row[s * j];
    }
}

/* The input of the tile whose first output along the axis is `first`. */
static void lay_phases(const Depthwise *d, const float *plane, int64_t first, float *phases) {
  const ConvParams *p = d->p;
  int64_t start[CONV_SPATIAL], f[CONV_SPATIAL];
  for (f[0] = 0; f[0] < p->stride[0]; f[0]++)
    for (f[1] = 0; f[1] < p->stride[1]; f[1]++)
      for (f[2] = 0; f[2] < p->stride[2]; f[2]++, phases += d->phase) {
        for (int i = 0; i < CONV_SPATIAL; i++)
          start[i] = (i == d->axis ? first * p->stride[i] : 0) - p->padding[i] + f[i];
        lay_phase(d, plane, start, row_span(d, start[2]), phases);
      }
}

/* Writes a row of at least `count` values; `room` values may be written. */
static void write_row(const ConvEpilogue *e, int64_t channel, const float *from, int64_t count, int64_t room,
                      float *to) {
  int64_t whole = (count + 7) & ~(int64_t)7; /* no tail: the next row is written later */
  conv_epilogue_line(e, channel, whole <= room ? whole : count, from, to);
}

static void run_plane(const Depthwise *d, int64_t channel, const float *in, float *out, float *scratch) {
  const ConvParams *p = d->p;
  int64_t size = p->out[0] * p->out[1] * p->out[2];
  const float *weight = d->weight + channel * d->taps;
  float *sums = scratch + d->phases * d->phase;
  for (int64_t first = 0; first < p->out[d->axis]; first += d->tile) {
    int64_t count = p->out[d->axis] - first < d->tile ? p->out[d->axis] - first : d->tile;
    int64_t n0 = d->axis == 0 ? count : p->out[0], n1 = d->axis == 1 ? count : p->out[1];
    int64_t base = d->axis == 0 ? first : 0, base1 = d->axis == 1 ? first : 0;
    lay_phases(d, in, first, scratch);
    int64_t length = ((n0 - 1) * d->extent[1] + n1 - 1) * d->extent[2] + p->out[2];
    d->run(d->taps, d->offsets, weight, scratch, length, sums);
    for (int64_t o0 = 0; o0 < n0; o0++)
      for (int64_t o1 = 0; o1 < n1; o1++) {
        int64_t at = ((base + o0) * p->out[1] + base1 + o1) * p->out[2];
        write_row(d->epilogue, channel, sums + (o0 * d->extent[1] + o1) * d->extent[2], p->out[2], size - at, out + at);
      }
  }
}

static void run_planes(void *argument, int64_t begin, int64_t end) {
  Depthwise *d = argument;
  const ConvParams *p = d->p;
  int64_t in = p->in[0] * p->in[1] * p->in[2], out = p->out[0] * p->out[1] * p->out[2];
  size_t bytes = (size_t)((d->phases + 1) * d->phase) * sizeof(float);
  float *scratch = cache_alloc(bytes);
  if (!scratch) {
    atomic_store(&d->failed, true);
    return;
  }
  memset(scratch, 0, bytes); /* what lies in the slack is computed with, though never used */
  for (int64_t i = begin; i < end; i++) run_plane(d, i % p->groups, d->input + i * in, d->out + i * out, scratch);
  cache_free(scratch, bytes);
}

Status conv_depthwise(int threads, const ConvParams *p, const float *input, const float *weight,
                      const ConvEpilogue *epilogue, float *out) {
  Depthwise d = {.p = p, .input = input, .weight = weight, .epilogue = epilogue, .out = out};
  d.run = PROCESSOR_FORM(conv_depthwise_run);
  d.axis = p->out[0] > 1 || p->kernel[0] > 1 || p->in[0] > 1 ? 0 : 1;
  d.taps = p->kernel[0] * p->kernel[1] * p->kernel[2];
  set_tile(&d, 1);
  int64_t single = d.phases * d.phase;
  set_tile(&d, p->out[d.axis]);
  if (d.phases * d.phase > TILE_FLOATS && p->out[d.axis] > 1) {
    int64_t more = (d.phases * d.phase - single) / (p->out[d.axis] - 1); /* floats that one more output takes */
    int64_t tile = 1 + (TILE_FLOATS - single) / (more + 1);
    set_tile(&d, tile < 1 ? 1 : tile);
  }
  d.offsets = mem_alloc((size_t)d.taps * sizeof *d.offsets);
  if (!d.offsets) return status_out_of_memory();
  set_offsets(&d);
  int64_t work = p->out[0] * p->out[1] * p->out[2] * d.taps;
  parallel_for(threads, p->batch * p->groups, 1 + 131072 / (work + 1), run_planes, &d);
  mem_free(d.offsets);
  return atomic_load(&d.failed) ? status_out_of_memory() : OK;
}
