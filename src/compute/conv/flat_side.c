/* Depthwise convolution and pooling of planes that were put side by side (flat_tile.h): a few rows of a vector's planes
 * at a time, so that they stay in L2. */
#include <assert.h>
#include <math.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "compute/conv/flat_planes.h"

enum { ROWS_BYTES = 192 << 10 /* of inputs and results that lie side by side */ };

typedef struct SideBySide {
  const Work *work;
  const ConvParams *p;
  const FlatKernels *kernels;
  const ConvEpilogue *epilogue;
  const float *input, *weight; /* weight NULL: the greatest */
  float *out;
  bool is_last; /* images are channels-last: planes lie side by side already */
  float around; /* what lies around the planes */
  int64_t tap_count, *taps;
  int64_t width;       /* of a row of inputs with its padding */
  int64_t rows, parts; /* results that are done at once, how often in a plane */
  int64_t groups;      /* of planes, in an image */
  _Atomic bool failed;
} SideBySide;

bool flat_side_pays(const ConvParams *p, const FlatKernels *kernels) {
  return p->kernel[0] == 1 && p->in[0] == 1 && p->padding[0] == 0 && p->out[0] == 1 &&
         2 * p->groups >= kernels->vector && p->padding[2] + p->in[2] + p->padding_after[2] <= 4096 &&
         p->dilation[1] * (p->kernel[1] - 1) <= 64;
}

static int64_t input_rows(const ConvParams *p, int64_t rows) {
  return (rows - 1) * p->stride[1] + (p->kernel[1] - 1) * p->dilation[1] + 1;
}

static void fill(float value, int64_t n, float *to) {
  for (int64_t i = 0; i < n; i++) to[i] = value;
}

/* Puts the input rows of results [row, row + rows) side by side; what lies beside them is there already. */
static void gather_rows(const SideBySide *s, int planes, const float *from, int64_t row, int64_t rows, float *to) {
  const ConvParams *p = s->p;
  int64_t line = s->width * s->kernels->vector, first = row * p->stride[1] - p->padding[1],
          end = first + input_rows(p, rows), begin = first < 0 ? 0 : first, stop = end > p->in[1] ? p->in[1] : end;
  if (begin >= stop) begin = stop = end;
  fill(s->around, (begin - first) * line, to);
  fill(s->around, (end - stop) * line, to + (stop - first) * line);
  if (begin == stop) return;
  int64_t n = (stop - begin) * p->in[2], gap = (s->width - p->in[2]) * s->kernels->vector;
  to += (begin - first) * line + p->padding[2] * s->kernels->vector;
  if (s->is_last)
    s->kernels->lanes_copy(planes, from + begin * p->in[2] * p->groups, p->groups, n, p->in[2], gap, to);
  else
    s->kernels->lanes_gather(planes, from + begin * p->in[2], p->in[1] * p->in[2], n, p->in[2], gap, to);
}

typedef struct Room {
  float *weights, *input, *out;
} Room;

static void run_unit(const SideBySide *s, int64_t unit, const Room *room) {
  const ConvParams *p = s->p;
  const ConvEpilogue *e = s->epilogue;
  int64_t vector = s->kernels->vector, part = unit % s->parts, group = unit / s->parts % s->groups,
          image = unit / s->parts / s->groups, channel = group * vector, plane = image * p->groups + channel;
  int planes = (int)(p->groups - channel < vector ? p->groups - channel : vector);
  int64_t row = part * s->rows, rows = p->out[1] - row < s->rows ? p->out[1] - row : s->rows;
  int64_t size = p->out[1] * p->out[2], in_size = p->in[1] * p->in[2],
          from = s->is_last ? image * p->groups * in_size + channel : plane * in_size,
          at = s->is_last ? (image * size + row * p->out[2]) * p->groups + channel : plane * size + row * p->out[2];
  if (s->weight)
    s->kernels->lanes_gather(planes, s->weight + channel * s->tap_count, s->tap_count, s->tap_count, s->tap_count, 0,
                             room->weights);
  gather_rows(s, planes, s->input + from, row, rows, room->input);
  FlatLanes l = {.planes = planes,
                 .weights = s->weight ? room->weights : NULL,
                 .input = room->input,
                 .tap_count = s->tap_count,
                 .rows = rows,
                 .length = p->out[2],
                 .row_step = p->stride[1] * s->width,
                 .column_step = p->stride[2],
                 .taps = s->taps,
                 .out = room->out,
                 .scale = e->scale ? e->scale + channel : NULL,
                 .shift = e->shift ? e->shift + channel : NULL,
                 .activation = e->activation};
  s->kernels->lanes_join(&l);
  if (s->is_last)
    s->kernels->lanes_finish(&l, rows * p->out[2], room->out, s->out + at, p->groups);
  else
    s->kernels->lanes_scatter(&l, rows * p->out[2], room->out, vector, e->add ? e->add + at : NULL, s->out + at, size);
}

static void run_units(void *argument, int64_t begin, int64_t end) {
  SideBySide *s = argument;
  const ConvParams *p = s->p;
  int64_t vector = s->kernels->vector, weights = s->tap_count * vector,
          input = input_rows(p, s->rows) * s->width * vector, out = (s->rows * p->out[2] + vector) * vector;
  size_t bytes = (size_t)(weights + input + out) * sizeof(float);
  float *scratch = cache_alloc(bytes);
  if (!scratch) {
    atomic_store(&s->failed, true);
    return;
  }
  Room room = {scratch, scratch + weights, scratch + weights + input};
  fill(s->around, weights + input, scratch);
  for (int64_t unit = begin; unit < end && !work_has_to_end(s->work); unit++) run_unit(s, unit, &room);
  cache_free(scratch, bytes);
}

static Status run_side_by_side(SideBySide *s) {
  enum { ONE_THREAD_WORK = 1 << 17 };
  const ConvParams *p = s->p;
  int64_t vector = s->kernels->vector, used = (p->out[2] - 1) * p->stride[2] + (p->kernel[2] - 1) * p->dilation[2] + 1;
  s->width = p->padding[2] + p->in[2] > used ? p->padding[2] + p->in[2] : used;
  s->tap_count = p->kernel[1] * p->kernel[2];
  s->taps = mem_alloc((size_t)s->tap_count * sizeof *s->taps);
  if (!s->taps) return status_out_of_memory();
  for (int64_t k = 0; k < s->tap_count; k++)
    s->taps[k] = k / p->kernel[2] * p->dilation[1] * s->width + k % p->kernel[2] * p->dilation[2];
  s->rows = ROWS_BYTES / (vector * (int64_t)sizeof(float) * (p->stride[1] * s->width + p->out[2])) + 1;
  if (s->rows > p->out[1]) s->rows = p->out[1];
  s->parts = (p->out[1] + s->rows - 1) / s->rows;
  s->rows = (p->out[1] + s->parts - 1) / s->parts;
  s->groups = (p->groups + vector - 1) / vector;
  int64_t cost = s->rows * p->out[2] * (s->tap_count + 8) * vector;
  parallel_for(s->work->threads, p->batch * s->groups * s->parts, 1 + ONE_THREAD_WORK / (cost + 1), run_units, s);
  mem_free(s->taps);
  return atomic_load(&s->failed) ? status_out_of_memory() : work_check(s->work);
}

Status flat_side_by_side(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                         const float *weight, const ConvEpilogue *epilogue, float *out) {
  assert(conv_is_depthwise(p) && flat_side_pays(p, kernels));
  SideBySide s = {
      .work = work, .p = p, .kernels = kernels, .epilogue = epilogue, .input = input, .weight = weight, .out = out};
  return run_side_by_side(&s);
}

bool flat_side_last_pays(const ConvParams *p, const FlatKernels *kernels) {
  return conv_is_depthwise(p) && flat_side_pays(p, kernels);
}

Status flat_side_last(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                      const float *weight, const ConvEpilogue *epilogue, float *out) {
  assert(flat_side_last_pays(p, kernels) && !epilogue->add && epilogue->activation.kind == ACTIVATION_NONE);
  SideBySide s = {.work = work,
                  .p = p,
                  .kernels = kernels,
                  .epilogue = epilogue,
                  .input = input,
                  .weight = weight,
                  .out = out,
                  .is_last = true};
  return run_side_by_side(&s);
}

Status flat_side_maximum(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                         float *out) {
  assert(flat_side_pays(p, kernels));
  ConvEpilogue nothing = {.activation = {ACTIVATION_NONE}};
  SideBySide s = {
      .work = work, .p = p, .kernels = kernels, .epilogue = &nothing, .input = input, .out = out, .around = -INFINITY};
  return run_side_by_side(&s);
}
