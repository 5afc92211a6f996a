/* Which way planes are pooled, and the walk over rows, whose lines' loops are flat convolution's. */
#include "compute/pool/pool_plane.h"

#include <assert.h>
#include <math.h>

#include "base/parallel.h"
#include "base/processor.h"
#include "base/work_limit.h"
#include "compute/conv/flat_planes.h"
#include "compute/pool/pool_maximum.h"

typedef struct Pooling {
  const Work *work;
  const PoolPlanes *p;
  const FlatKernels *kernels;
  const float *in;
  float *out;
  int64_t line;    /* floats of a padded line */
  int64_t phase;   /* of it that are a stride apart */
  int64_t phases;  /* that a window reads */
  float *divisors; /* of a row's averages, but for the rows' share */
  _Atomic bool failed;
} Pooling;

/* How many places of a window's dimension count for an average. */
static int64_t covered(const PoolPlanes *p, int d, int64_t o) {
  assert(d >= 0 && d < 3);
  int64_t begin = o * p->stride[d] - p->padding[d], end = begin + p->kernel[d];
  if (end > p->in[d] + p->padding[d]) end = p->in[d] + p->padding[d];
  if (p->count_include_pad) return end - begin;
  return (end < p->in[d] ? end : p->in[d]) - (begin > 0 ? begin : 0);
}

/* Lines that are joined at once. */
enum { LINES = 16 };
typedef struct Lines {
  const float *lines[LINES];
  int count;
} Lines;
static void join(const Pooling *c, Lines *l, int64_t n, float *to) {
  (c->p->averages ? c->kernels->sum : c->kernels->maximum)(l->count, l->lines, n, to);
  l->lines[0] = to; /* what more there is comes on top */
  l->count = 1;
}
static void add_line(const Pooling *c, Lines *l, const float *line, int64_t n, float *to) {
  assert(l->count <= LINES);
  if (l->count == LINES) join(c, l, n, to);
  l->lines[l->count++] = line;
}

/* The rows of the window of output row (o0, o1), joined, between the paddings of `line`. */
static void join_rows(const Pooling *c, const float *plane, int64_t o0, int64_t o1, int64_t *done, float *line) {
  const PoolPlanes *p = c->p;
  PoolTaps slices = pool_taps(p, 0, o0), rows = pool_taps(p, 1, o1);
  Lines l = {.count = 0};
  float *to = line + p->padding[2];
  for (int64_t k0 = slices.begin; k0 < slices.end; k0++)
    for (int64_t k1 = rows.begin; k1 < rows.end; k1++) {
      int64_t x0 = o0 * p->stride[0] - p->padding[0] + k0 * p->dilation[0],
              x1 = o1 * p->stride[1] - p->padding[1] + k1 * p->dilation[1];
      if (work_is_over_after(done, p->in[2] / 8 + 8)) return;
      add_line(c, &l, plane + (x0 * p->in[1] + x1) * p->in[2], p->in[2], to);
    }
  if (l.count)
    join(c, &l, p->in[2], to);
  else
    for (int64_t i = 0; i < p->in[2]; i++) to[i] = p->averages ? 0 : -INFINITY;
}

static void join_columns(const Pooling *c, const float *line, int64_t *done, float *phases, float *out) {
  const PoolPlanes *p = c->p;
  Lines l = {.count = 0};
  int64_t stride = p->stride[2];
  if (stride > 1)
    for (int64_t f = 0; f < c->phases; f++)
      c->kernels->lay(
          &(FlatRows){.rows = 1, .count = c->phase, .stride = stride, .from = line + f, .to = phases + f * c->phase});
  for (int64_t k = 0; k < p->kernel[2]; k++) {
    int64_t at = k * p->dilation[2];
    if (work_is_over_after(done, p->out[2] / 8 + 8)) return;
    add_line(c, &l, stride > 1 ? phases + at % stride * c->phase + at / stride : line + at, p->out[2], out);
  }
  join(c, &l, p->out[2], out);
}

static void pool_plane(const Pooling *c, const float *plane, float *line, float *out) {
  const PoolPlanes *p = c->p;
  float *phases = line + c->line;
  int64_t done = 0;
  for (int64_t o0 = 0; o0 < p->out[0]; o0++)
    for (int64_t o1 = 0; o1 < p->out[1]; o1++, out += p->out[2]) {
      if (work_has_to_end(c->work)) return;
      join_rows(c, plane, o0, o1, &done, line);
      join_columns(c, line, &done, phases, out);
      if (!p->averages) continue;
      float rows = p->divisor ? 1 : (float)(covered(p, 0, o0) * covered(p, 1, o1));
      for (int64_t i = 0; i < p->out[2]; i++) out[i] /= rows * c->divisors[i];
    }
}

static void pool_some(void *argument, int64_t begin, int64_t end) {
  Pooling *c = argument;
  const PoolPlanes *p = c->p;
  int64_t in = p->in[0] * p->in[1] * p->in[2], out = p->out[0] * p->out[1] * p->out[2];
  float *line = mem_alloc((size_t)(c->line + c->phases * c->phase) * sizeof *line);
  if (!line) {
    atomic_store(&c->failed, true);
    return;
  }
  for (int64_t i = 0; i < c->line; i++) line[i] = p->averages ? 0 : -INFINITY;
  for (int64_t i = begin; i < end && !work_has_to_end(c->work); i++)
    pool_plane(c, c->in + i * in, line, c->out + i * out);
  mem_free(line);
}

static Status set_divisors(Pooling *c) {
  const PoolPlanes *p = c->p;
  if (!p->averages) return OK;
  c->divisors = mem_alloc((size_t)p->out[2] * sizeof *c->divisors);
  if (!c->divisors) return status_out_of_memory();
  for (int64_t i = 0; i < p->out[2]; i++) c->divisors[i] = (float)(p->divisor ? p->divisor : covered(p, 2, i));
  return OK;
}

/* The same as a depthwise convolution has it. */
static ConvParams params_of(const PoolPlanes *p) {
  ConvParams params = {
      .spatial = 3, .batch = 1, .groups = p->planes, .in_channels = p->planes, .out_channels = p->planes};
  for (int d = 0; d < CONV_SPATIAL; d++) {
    params.in[d] = p->in[d];
    params.out[d] = p->out[d];
    params.kernel[d] = p->kernel[d];
    params.stride[d] = p->stride[d];
    params.dilation[d] = p->dilation[d];
    params.padding[d] = params.padding_after[d] = p->padding[d];
  }
  return params;
}

/* ---- small windows ---- */

bool pool_maximum_fits(const PoolPlanes *p) {
  enum { LEAST_RESULTS = 28, MOST_COLUMNS = 4096, MOST_FLOATS = 1 << 20 /* the time is looked at after each plane */ };
  return !p->averages && p->in[0] == 1 && p->kernel[0] == 1 && p->out[0] == 1 && p->padding[0] == 0 &&
         (p->kernel[2] == 2 || p->kernel[2] == 3) && p->stride[2] <= 2 && p->dilation[2] == 1 &&
         p->in[2] <= MOST_COLUMNS && p->in[1] * p->in[2] <= MOST_FLOATS &&
         (p->out[2] >= LEAST_RESULTS || pool_is_same(p));
}

int64_t pool_maximum_scratch(const PoolPlanes *p) {
  int64_t same = p->in[1] * p->in[2] + 2, bands = POOL_BAND * pool_pitch(p) + pool_wide(p->out[2]);
  return pool_is_same(p) ? same : bands;
}

static void maximum_some(void *argument, int64_t begin, int64_t end) {
  Pooling *c = argument;
  const PoolPlanes *p = c->p;
  PoolMaximum *run = PROCESSOR_WIDE_FORM(pool_maximum);
  int64_t in = p->in[1] * p->in[2], out = p->out[1] * p->out[2], size = pool_maximum_scratch(p);
  float *scratch = mem_alloc((size_t)size * sizeof *scratch);
  if (!scratch) {
    atomic_store(&c->failed, true);
    return;
  }
  for (int64_t i = 0; i < size; i++) scratch[i] = -INFINITY;
  for (int64_t i = begin; i < end && !work_has_to_end(c->work); i++)
    run(p, c->in + i * in, (p->planes - i) * in, c->out + i * out, scratch);
  mem_free(scratch);
}

Status pool_planes_run(const Work *work, const PoolPlanes *p, const float *in, float *out) {
  enum { ONE_THREAD_FLOATS = 8192, FEW_TAPS = 16 /* of more, rows first and then columns need fewer steps */ };
  int64_t each = p->in[0] * p->in[1] * p->in[2] + 1;
  if (pool_maximum_fits(p)) {
    Pooling c = {.work = work, .p = p, .in = in, .out = out};
    parallel_for(work->threads, p->planes, ONE_THREAD_FLOATS / each + 1, maximum_some, &c);
    return atomic_load(&c.failed) ? status_out_of_memory() : work_check(work);
  }
  ConvParams params = params_of(p);
  if (!p->averages && p->kernel[1] * p->kernel[2] <= FEW_TAPS && flat_side_pays(&params, flat_kernels()))
    return flat_side_maximum(flat_kernels(), work, &params, in, out);
  PoolPlanes simple = *p;
  Pooling c = {.work = work, .p = &simple, .kernels = flat_kernels(), .in = in, .out = out};
  if (p->out[2] == 1) simple.stride[2] = 1;
  p = &simple;
  int64_t span = (p->kernel[2] - 1) * p->dilation[2];
  c.phases = p->stride[2] < span + 1 ? p->stride[2] : span + 1;
  c.phase = p->out[2] + span / p->stride[2];
  c.line = c.phase * p->stride[2] + p->stride[2];
  if (c.line < p->padding[2] + p->in[2]) c.line = p->padding[2] + p->in[2];
  TRY(set_divisors(&c));
  parallel_for(work->threads, p->planes, ONE_THREAD_FLOATS / each + 1, pool_some, &c);
  mem_free(c.divisors);
  return atomic_load(&c.failed) ? status_out_of_memory() : work_check(work);
}
