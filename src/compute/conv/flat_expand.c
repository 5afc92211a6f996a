/* A panel of expanded channels after the other: the rows that a strip of results needs are summed up in scratch, and
 * the results are made of them. Threads share panels and strips. */
#include "compute/conv/flat_expand.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "compute/conv/flat_conv.h"
#include "compute/conv/flat_planes.h"

enum {
  MOST_INPUTS = 192,        /* of the expansion: their weights, of a panel, stay in L1 */
  STRIP_BYTES = 512 << 10,  /* the input of a strip and a panel's rows of it: they stay in L2 */
  ONE_THREAD_WORK = 1 << 17 /* products */
};

typedef struct Expand {
  const Work *work;
  const FlatKernels *kernels;
  const Expansion *both;
  const float *input, *expand_weight, *weight;
  float *out;
  int64_t inputs, channels, positions; /* between the two */
  int64_t panels;                      /* of FLAT_ROWS channels */
  int64_t strips, rows;                /* of an image; results' rows of a strip */
  _Atomic bool failed;
} Expand;

bool flat_expand_takes(const FlatKernels *kernels, const Expansion *both) {
  const ConvParams *p = both->expand, *q = both->depthwise;
  const ConvEpilogue *e = both->after_expand;
  if (!conv_is_product(p) || p->groups != 1 || p->in_channels > MOST_INPUTS || !flat_conv_takes(p) || e->add || e->gate)
    return false;
  if (!conv_is_depthwise(q) || !flat_direct_pays(q, kernels) || p->batch != q->batch ||
      p->out_channels != q->in_channels)
    return false;
  for (int d = 0; d < CONV_SPATIAL; d++)
    if (p->out[d] != q->in[d]) return false;
  return p->out[0] == 1 && p->out[1] * p->out[2] > CONV_FEW_POSITIONS;
}

/* Rows [begin, stop) of a panel's planes, finished, one plane after the other. */
static void expand(const Expand *x, const float *image, int64_t panel, int64_t begin, int64_t stop, float *to) {
  const ConvEpilogue *e = x->both->after_expand;
  int64_t length = x->both->expand->out[2], n = (stop - begin) * length, vector = x->kernels->vector,
          vectors = (n + vector - 1) / vector, most = x->kernels->width / vector, tiles = (vectors + most - 1) / most,
          width = tiles ? (vectors + tiles - 1) / tiles * vector : 0, first = panel * FLAT_ROWS;
  FlatTile t = {.weights = x->expand_weight + first * x->inputs,
                .channels = x->inputs,
                .channel_stride = x->positions,
                .tap_count = 1,
                .taps = &(int64_t){0},
                .out_stride = n,
                .rows = (int)(x->channels - first < FLAT_ROWS ? x->channels - first : FLAT_ROWS),
                .last = true,
                .scale = e->scale ? e->scale + first : NULL,
                .shift = e->shift ? e->shift + first : NULL,
                .activation = e->activation};
  for (int64_t at = 0; at < n; at += width) {
    t.input = image + begin * length + at;
    t.width = (int)(n - at < width ? n - at : width);
    t.out = to + at;
    x->kernels->tile(&t);
  }
}

static void run_unit(const Expand *x, int64_t unit, float *scratch) {
  const ConvParams *q = x->both->depthwise;
  int64_t panel = unit % x->panels, strip = unit / x->panels % x->strips, image = unit / x->panels / x->strips,
          first = strip * x->rows, end = first + x->rows < q->out[1] ? first + x->rows : q->out[1], begin, stop;
  if (first >= end) return;
  flat_direct_inputs(q, first, end, &begin, &stop);
  expand(x, x->input + image * x->inputs * x->positions, panel, begin, stop, scratch);
  int64_t channel = panel * FLAT_ROWS, left = x->channels - channel, planes = left < FLAT_ROWS ? left : FLAT_ROWS;
  for (int64_t i = 0; i < planes; i++)
    flat_direct_rows(x->kernels, q, x->weight, x->both->after_depthwise, image * x->channels + channel + i, first, end,
                     scratch + i * (stop - begin) * q->in[2], x->out);
}

static int64_t rows_of(const ConvParams *q, int64_t strips) {
  return (q->out[1] + strips - 1) / strips;
}
/* Input rows that so many rows of results need. */
static int64_t rows_before(const ConvParams *q, int64_t rows) {
  int64_t all = (rows - 1) * q->stride[1] + q->kernel[1];
  return all < q->in[1] ? all : q->in[1];
}

static void run_units(void *argument, int64_t begin, int64_t end) {
  Expand *x = argument;
  const ConvParams *q = x->both->depthwise;
  size_t bytes = (size_t)(FLAT_ROWS * rows_before(q, x->rows) * q->in[2]) * sizeof(float);
  float *scratch = cache_alloc(bytes);
  if (!scratch) atomic_store(&x->failed, true);
  for (int64_t unit = begin; scratch && unit < end && !work_has_to_end(x->work); unit++) run_unit(x, unit, scratch);
  if (scratch) cache_free(scratch, bytes);
}

/* Strips are as few as fit in cache, and some more where threads share their panels more evenly then: rows that two
 * strips need are expanded twice. */
static void set_strips(Expand *x) {
  const ConvParams *q = x->both->depthwise;
  int64_t threads = x->work->threads > 1 ? x->work->threads : 1, fitting = 1, least_cost = INT64_MAX,
          row_bytes = (x->inputs + FLAT_ROWS) * q->in[2] * (int64_t)sizeof(float);
  while (fitting < q->out[1] && rows_before(q, rows_of(q, fitting)) * row_bytes > STRIP_BYTES) fitting++;
  for (int64_t strips = fitting; strips < fitting + threads && strips <= q->out[1]; strips++) {
    int64_t rows = rows_of(q, strips), units = q->batch * strips * x->panels,
            cost = (units + threads - 1) / threads * rows_before(q, rows);
    if (cost >= least_cost) continue;
    least_cost = cost;
    x->strips = strips;
    x->rows = rows;
  }
}

Status flat_expand(const FlatKernels *kernels, const Work *work, const Expansion *both, const float *input,
                   const float *expand_weight, const float *weight, float *out) {
  assert(flat_expand_takes(kernels, both));
  const ConvParams *p = both->expand, *q = both->depthwise;
  Expand x = {.work = work,
              .kernels = kernels,
              .both = both,
              .input = input,
              .expand_weight = expand_weight,
              .weight = weight,
              .out = out,
              .inputs = p->in_channels,
              .channels = p->out_channels,
              .positions = p->out[1] * p->out[2],
              .panels = (p->out_channels + FLAT_ROWS - 1) / FLAT_ROWS};
  set_strips(&x);
  int64_t cost = x.positions / x.strips * FLAT_ROWS * (x.inputs + q->kernel[1] * q->kernel[2]);
  parallel_for(work->threads, q->batch * x.strips * x.panels, 1 + ONE_THREAD_WORK / (cost + 1), run_units, &x);
  return atomic_load(&x.failed) ? status_out_of_memory() : work_check(work);
}
