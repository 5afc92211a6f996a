/* Depthwise convolution: a plane at a time is laid out with its padding (flat_planes.h), and the rows of its results
 * are summed up some at a time. */
#include "base/cache.h"

#include <assert.h>

#include "base/parallel.h"
#include "compute/conv/flat_planes.h"

bool conv_is_depthwise(const ConvParams *p) {
  return !p->transposed && p->groups == p->in_channels && p->groups == p->out_channels && p->groups > 1;
}

typedef struct Depthwise {
  const Work *work;
  const ConvParams *p;
  const FlatKernels *kernels;
  const ConvEpilogue *epilogue;
  const float *input, *weight;
  float *out;
  ConvParams laying; /* how planes are laid out: without the stride, where the loops do that */
  int step;
  FlatPlanes planes;
  _Atomic bool failed;
} Depthwise;

/* What takes long with the time looked at in between: some rows at a time, or a part of one. */
static void run_slice(const Depthwise *d, const FlatPlane *slice) {
  const int64_t most = 1 << 26; /* products at once, some milliseconds */
  enum { LEAST = 256 /* results of a part */ };
  int64_t length = slice->length, rows = most / (length * slice->tap_count + 1), part = length;
  if (slice->rows <= rows || slice->step != 1) {
    d->kernels->depthwise(slice);
    return;
  }
  if (rows < 1) rows = 1;
  if (rows == 1) part = most / slice->tap_count < LEAST ? LEAST : most / slice->tap_count;
  for (int64_t row = 0; row < slice->rows; row += rows)
    for (int64_t at = 0; at < length && !work_has_to_end(d->work); at += part) {
      FlatPlane f = *slice;
      f.rows = slice->rows - row < rows ? slice->rows - row : rows;
      f.length = length - at < part ? length - at : part;
      f.input += row * f.row_stride + at;
      f.out += row * length + at;
      if (f.add) f.add += row * length + at;
      d->kernels->depthwise(&f);
    }
}

static void run_plane(const Depthwise *d, int64_t plane, float *laid) {
  const ConvParams *p = d->p;
  const ConvEpilogue *e = d->epilogue;
  int64_t in = p->in[0] * p->in[1] * p->in[2], slice = p->out[1] * p->out[2], channel = plane % p->groups;
  const float *from = d->input + plane * in;
  if (laid) flat_planes_lay_channel(&d->planes, d->kernels, &d->laying, from, laid);
  FlatPlane f = {.weights = d->weight + channel * d->planes.tap_count,
                 .tap_count = d->planes.tap_count,
                 .rows = p->out[1],
                 .length = p->out[2],
                 .row_stride = d->planes.extent[2],
                 .taps = d->planes.taps,
                 .step = d->step,
                 .scale = e->scale ? e->scale[channel] : 1,
                 .shift = e->shift ? e->shift[channel] : 0,
                 .activation = e->activation};
  for (int64_t z = 0; z < p->out[0]; z++) {
    int64_t at = (plane * p->out[0] + z) * slice;
    f.input = (laid ? laid : from) + z * d->planes.extent[1] * d->planes.extent[2];
    f.out = d->out + at;
    f.add = e->add ? e->add + at : NULL;
    run_slice(d, &f);
  }
}

static void run_planes(void *argument, int64_t begin, int64_t end) {
  Depthwise *d = argument;
  size_t bytes = d->planes.bytes ? (size_t)d->planes.channel_stride * sizeof(float) : 0;
  float *laid = bytes ? cache_alloc(bytes) : NULL;
  if (bytes && !laid) {
    atomic_store(&d->failed, true);
    return;
  }
  for (int64_t plane = begin; plane < end && !work_has_to_end(d->work); plane++) run_plane(d, plane, laid);
  if (laid) cache_free(laid, bytes);
}

/* Whether the loops pick every other input themselves, which costs less than to split planes. */
static bool steps_by_two(const ConvParams *p) {
  return p->kernel[0] == 1 && p->stride[0] == 1 && p->stride[1] == 2 && p->stride[2] == 2 && p->dilation[1] == 1 &&
         p->dilation[2] == 1 && p->kernel[1] == p->kernel[2] && (p->kernel[1] == 3 || p->kernel[1] == 5);
}

Status conv_depthwise_by(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                         const float *weight, const ConvEpilogue *epilogue, float *out) {
  assert(conv_is_depthwise(p));
  enum { ONE_THREAD_WORK = 1 << 17 };
  if (flat_direct_pays(p, kernels)) return flat_direct(kernels, work, p, input, weight, epilogue, out);
  if (flat_side_pays(p, kernels)) return flat_side_by_side(kernels, work, p, input, weight, epilogue, out);
  ConvParams simple = flat_simplify(p);
  Depthwise d = {.work = work,
                 .p = &simple,
                 .kernels = kernels,
                 .epilogue = epilogue,
                 .input = input,
                 .weight = weight,
                 .out = out,
                 .laying = simple,
                 .step = 1};
  if (steps_by_two(&simple)) {
    d.step = 2;
    for (int k = 1; k < CONV_SPATIAL; k++) {
      d.laying.stride[k] = 1;
      d.laying.out[k] = 2 * simple.out[k] - 1;
    }
  }
  TRY(flat_planes_init(&d.laying, &d.planes));
  int64_t cost = p->out[0] * p->out[1] * p->out[2] * d.planes.tap_count;
  parallel_for(work->threads, p->batch * p->groups, 1 + ONE_THREAD_WORK / (cost + 1), run_planes, &d);
  flat_planes_dispose(&d.planes);
  return atomic_load(&d.failed) ? status_out_of_memory() : work_check(work);
}

Status conv_depthwise(const Work *work, const ConvParams *p, const float *input, const float *weight,
                      const ConvEpilogue *epilogue, float *out) {
  return conv_depthwise_by(flat_kernels(), work, p, input, weight, epilogue, out);
}
