/* The weight's gradient as products of lines. The wide side's planes are laid out as flat convolution reads them
 * (flat_planes.h), some images one after the other in one line for each channel and phase; the narrow side lies in
 * lines of the same rows, with zeros between them. Then the gradient at a tap is the product of a line of the narrow
 * side with one of the wide side, a constant distance on. A block of lines is multiplied at once, some hundred
 * positions long so that they stay in the caches. */
#include "compute/conv/conv_backward.h"

#include <assert.h>
#include <math.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "base/work_limit.h"
#include "compute/conv/flat_planes.h"

enum {
  LINES_BYTES = 4 << 20, /* of the lines of all channels; at least one image's */
  CHUNK = 512,           /* positions that are multiplied at once: a block of lines stays in L1 */
  ROWS = 8,              /* lines of a block */
  TOGETHER = 64          /* channels of either side */
};

typedef struct Correlation {
  const Work *work;
  ConvParams p; /* of the plain convolution */
  const FlatKernels *kernels;
  const float *narrow, *wide; /* of the images at hand */
  FlatPlanes planes;
  int64_t wide_channels, narrow_channels, columns; /* of a group; columns: wide channels by taps */
  bool is_dense;
  int64_t before;       /* floats before its position that a tap may read */
  int64_t images, line; /* images in a line, its floats */
  int64_t chunk;
  float *narrow_lines, *wide_lines; /* [narrow channel], [wide channel][phase] */
  const float **column;             /* where each column's line begins, for all groups */
  float *sums;
  bool by_columns; /* threads take blocks of columns, else of rows; the same bits */
} Correlation;

static ConvParams plain_of(const ConvParams *p) {
  ConvParams plain = conv_plain_of(p);
  return flat_simplify(&plain);
}

bool conv_correlate_takes(const ConvParams *p) {
  ConvParams plain = plain_of(p);
  for (int d = 0; d < CONV_SPATIAL; d++)
    if (plain.kernel[d] == 0 || plain.in[d] == 0 || plain.out[d] == 0) return false;
  return plain.batch > 0 && plain.in_channels > 0 && plain.out_channels > 0 && flat_planes_pay(&plain);
}

/* ---- lines ---- */

/* A plane of those sizes as it lies, with zeros after its rows and slices. */
static void lay_plane(const Correlation *c, const int64_t *size, const float *from, float *to) {
  const int64_t *extent = c->planes.extent;
  int64_t slice = extent[1] * extent[2];
  float *end = to + c->planes.plane;
  for (int64_t z = 0; z < size[0]; z++, from += size[1] * size[2], to += slice) {
    c->kernels->lay(&(FlatRows){.rows = size[1],
                                .count = size[2],
                                .after = extent[2] - size[2],
                                .stride = 1,
                                .from = from,
                                .from_step = size[2],
                                .to = to});
    memset(to + size[1] * extent[2], 0, (size_t)(slice - size[1] * extent[2]) * sizeof *to);
  }
  memset(to, 0, (size_t)(end - to) * sizeof *to);
}

static void lay_line(const Correlation *c, int64_t channel, int64_t phase, bool is_narrow, float *to) {
  const ConvParams *p = &c->p;
  const int64_t *size = is_narrow ? p->out : p->in;
  int64_t floats = size[0] * size[1] * size[2], channels = is_narrow ? p->out_channels : p->in_channels;
  for (int64_t n = 0; n < c->images; n++, to += c->planes.plane) {
    const float *from = (is_narrow ? c->narrow : c->wide) + (n * channels + channel) * floats;
    if (is_narrow || c->is_dense)
      lay_plane(c, size, from, to);
    else
      flat_planes_lay_phase(&c->planes, c->kernels, p, phase, from, to);
  }
  memset(to, 0, (size_t)(c->line - c->images * c->planes.plane) * sizeof *to);
}

static void lay_channels(void *argument, int64_t begin, int64_t end) {
  const Correlation *c = argument;
  for (int64_t channel = begin; channel < end; channel++) {
    int64_t wide = channel - c->p.out_channels, phases = c->planes.phases;
    if (wide < 0) lay_line(c, channel, 0, true, c->narrow_lines + channel * c->line);
    for (int64_t phase = 0; wide >= 0 && phase < phases; phase++)
      lay_line(c, wide, phase, false, c->wide_lines + (wide * phases + phase) * c->line);
  }
}

static void set_columns(const Correlation *c) {
  int64_t at = 0;
  for (int64_t channel = 0; channel < c->p.in_channels; channel++)
    for (int64_t k = 0; k < c->planes.tap_count; k++) {
      int64_t tap = c->planes.taps[k], phase = c->is_dense ? 0 : tap / c->planes.plane;
      c->column[at++] = c->wide_lines + (channel * c->planes.phases + phase) * c->line + tap - phase * c->planes.plane;
    }
}

/* Without strides rows need zeros on one side only, for they are the other side of the next row, too; so it is with
 * slices, images and channels. Taps may read before their position then. */
static void lie_densely(Correlation *c) {
  const ConvParams *p = &c->p;
  FlatPlanes *f = &c->planes;
  c->is_dense = p->stride[0] == 1 && p->stride[1] == 1 && p->stride[2] == 1;
  if (!c->is_dense) return;
  f->plane = 1;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    int64_t after = p->out[d] - 1 + p->dilation[d] * (p->kernel[d] - 1) - p->padding[d] + 1; /* where reading ends */
    f->extent[d] = p->in[d] + p->padding[d];
    if (f->extent[d] < after) f->extent[d] = after;
    if (f->extent[d] < p->out[d]) f->extent[d] = p->out[d];
    f->plane *= f->extent[d];
  }
  const int64_t *extent = f->extent;
  c->before = (p->padding[0] * extent[1] + p->padding[1]) * extent[2] + p->padding[2];
  int64_t at = 0;
  for (int64_t k0 = 0; k0 < p->kernel[0]; k0++)
    for (int64_t k1 = 0; k1 < p->kernel[1]; k1++)
      for (int64_t k2 = 0; k2 < p->kernel[2]; k2++)
        f->taps[at++] =
            (k0 * p->dilation[0] * extent[1] + k1 * p->dilation[1]) * extent[2] + k2 * p->dilation[2] - c->before;
}

/* ---- products ---- */

typedef struct Range {
  int64_t begin, end;
} Range;
static int64_t least_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Positions [at, at + n) of rows by columns of a group. */
static void multiply(const Correlation *c, int64_t group, Range rows, Range columns, int64_t at, int64_t n,
                     int64_t *done) {
  const float *const *column = c->column + group * c->columns;
  for (int64_t r = rows.begin; r < rows.end; r += ROWS) {
    int64_t channel = group * c->narrow_channels + r;
    for (int64_t k = columns.begin; k < columns.end; k += DOT_COLUMNS) {
      const float *x[DOT_COLUMNS];
      if (work_is_over_after(done, n)) return;
      int count = (int)least_of(columns.end - k, DOT_COLUMNS);
      for (int i = 0; i < count; i++) x[i] = column[k + i] + at;
      c->kernels->dots((int)least_of(rows.end - r, ROWS), count, n, c->narrow_lines + channel * c->line + at, c->line,
                       x, c->sums + channel * c->columns + k, c->columns);
    }
  }
}

/* Some channels' lines by some others', so that both stay in L2. */
static void multiply_all(const Correlation *c, int64_t group, Range rows, Range columns, int64_t *done) {
  int64_t wide = TOGETHER * c->planes.tap_count;
  for (int64_t at = 0; at < c->line; at += c->chunk)
    for (int64_t k = columns.begin; k < columns.end; k += wide)
      for (int64_t r = rows.begin; r < rows.end; r += TOGETHER)
        multiply(c, group, (Range){r, least_of(r + TOGETHER, rows.end)}, (Range){k, least_of(k + wide, columns.end)},
                 at, least_of(c->chunk, c->line - at), done);
}

static int64_t block_of(const Correlation *c) {
  return c->by_columns ? DOT_COLUMNS : ROWS;
}
static int64_t blocks_of(const Correlation *c) {
  int64_t length = c->by_columns ? c->columns : c->narrow_channels;
  return (length + block_of(c) - 1) / block_of(c);
}

static void multiply_blocks(void *argument, int64_t begin, int64_t end) {
  const Correlation *c = argument;
  int64_t blocks = blocks_of(c), block = block_of(c), done = 0;
  while (begin < end && !work_is_over_after(&done, 1)) {
    int64_t group = begin / blocks, first = begin % blocks, count = least_of(blocks - first, end - begin);
    Range rows = {0, c->narrow_channels}, columns = {0, c->columns}, *some = c->by_columns ? &columns : &rows;
    *some = (Range){first * block, least_of((first + count) * block, some->end)};
    multiply_all(c, group, rows, columns, &done);
    begin += count;
  }
}

/* ---- all ---- */

static void set_lines(Correlation *c) {
  int64_t lines = c->p.out_channels + c->p.in_channels * c->planes.phases, step = DOT_STEP * c->kernels->vector;
  int64_t most = LINES_BYTES / (lines * c->planes.plane * (int64_t)sizeof(float)) + 1;
  c->images = c->p.batch < most ? c->p.batch : most;
  c->line = (c->images * c->planes.plane + step - 1) / step * step;
  int64_t chunks = (c->line + CHUNK - 1) / CHUNK;
  c->chunk = ((c->line + chunks - 1) / chunks + step - 1) / step * step;
}

static Status run_images(Correlation *c, const float *narrow, const float *wide) {
  enum { ONE_THREAD_FLOATS = 32768, ONE_THREAD_WORK = 1 << 18 };
  const ConvParams *p = &c->p;
  int64_t in = p->in_channels * p->in[0] * p->in[1] * p->in[2],
          out = p->out_channels * p->out[0] * p->out[1] * p->out[2], most = c->images;
  for (int64_t first = 0; first < p->batch; first += most) {
    if (p->batch - first < most) c->images = p->batch - first; /* the rest of the lines is zero */
    c->narrow = narrow + first * out;
    c->wide = wide + first * in;
    parallel_for(c->work->threads, p->out_channels + p->in_channels, 1 + ONE_THREAD_FLOATS / c->line, lay_channels, c);
    int64_t blocks = blocks_of(c), each = c->line * c->narrow_channels * c->columns / blocks;
    parallel_for(c->work->threads, p->groups * blocks, 1 + ONE_THREAD_WORK / (each + 1), multiply_blocks, c);
    TRY(work_check(c->work));
  }
  return OK;
}

static Status with_planes(Correlation *c, const float *narrow, const float *wide) {
  const ConvParams *p = &c->p;
  c->wide_channels = p->in_channels / p->groups;
  c->narrow_channels = p->out_channels / p->groups;
  c->columns = c->wide_channels * c->planes.tap_count;
  lie_densely(c);
  set_lines(c);
  c->by_columns = blocks_of(c) * p->groups < 2 * c->work->threads;
  int64_t narrow_floats = p->out_channels * c->line, wide_floats = p->in_channels * c->planes.phases * c->line,
          after = c->planes.plane + c->kernels->vector;
  size_t pointers = (size_t)(p->in_channels * c->planes.tap_count) * sizeof *c->column;
  size_t bytes = (size_t)(narrow_floats + c->before + wide_floats + after) * sizeof(float);
  c->narrow_lines = cache_alloc(bytes);
  c->column = mem_alloc(pointers);
  Status status = c->narrow_lines && c->column ? OK : status_out_of_memory();
  if (!status) {
    c->wide_lines = c->narrow_lines + narrow_floats + c->before;
    memset(c->wide_lines - c->before, 0, (size_t)c->before * sizeof(float));
    memset(c->wide_lines + wide_floats, 0, (size_t)after * sizeof(float));
    set_columns(c);
    status = run_images(c, narrow, wide);
  }
  mem_free(c->column);
  if (c->narrow_lines) cache_free(c->narrow_lines, bytes);
  return status;
}

Status conv_correlate_by(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *narrow,
                         const float *wide, float *grad_weight, bool *done) {
  assert(conv_correlate_takes(p));
  Correlation c = {.work = work, .p = plain_of(p), .kernels = kernels, .sums = grad_weight};
  TRY(flat_planes_init(&c.p, &c.planes));
  int64_t count = c.p.out_channels * (c.p.in_channels / c.p.groups) * c.planes.tap_count;
  memset(grad_weight, 0, (size_t)count * sizeof *grad_weight);
  Status status = with_planes(&c, narrow, wide);
  flat_planes_dispose(&c.planes);
  float zero = 0; /* the sum of all times 0: not a number where one is not finite */
  for (int64_t i = 0; i < count; i++) zero += grad_weight[i] * 0;
  *done = zero == 0;
  return status;
}

Status conv_correlate(const Work *work, const ConvParams *p, const float *narrow, const float *wide, float *grad_weight,
                      bool *done) {
  return conv_correlate_by(flat_kernels(), work, p, narrow, wide, grad_weight, done);
}
