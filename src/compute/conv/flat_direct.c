/* Depthwise convolution of planes where they lie: nothing is laid out, each thread does some planes. */
#include <assert.h>

#include "base/parallel.h"
#include "compute/conv/flat_planes.h"

typedef struct Direct {
  const Work *work;
  const ConvParams *p;
  const FlatKernels *kernels;
  const ConvEpilogue *epilogue;
  const float *input, *weight;
  float *out;
} Direct;

bool flat_direct_pays(const ConvParams *p, const FlatKernels *kernels) {
  int64_t side = p->kernel[2], stride = p->stride[2];
  bool is_plane = p->in[0] == 1 && p->kernel[0] == 1 && p->padding[0] == 0 && p->out[0] == 1,
       is_square = p->kernel[1] == side && p->stride[1] == stride && p->dilation[1] == 1 && p->dilation[2] == 1,
       is_known = stride == 1 ? side == 3 || side == 5 || side == 7 : stride == 2 && (side == 3 || side == 5);
  bool is_short = 2 * p->out[2] <= kernels->vector; /* half of each vector and more is left out */
  return kernels->direct && is_plane && is_square && is_known && p->out[2] >= 7 &&
         !(is_short && flat_side_pays(p, kernels));
}

void flat_direct_inputs(const ConvParams *p, int64_t first, int64_t end, int64_t *begin, int64_t *stop) {
  int64_t from = first * p->stride[1] - p->padding[1], to = (end - 1) * p->stride[1] - p->padding[1] + p->kernel[1];
  *begin = from > 0 ? from : 0;
  *stop = to < p->in[1] ? to : p->in[1];
  if (*stop < *begin) *stop = *begin;
}

void flat_direct_rows(const FlatKernels *kernels, const ConvParams *p, const float *weight, const ConvEpilogue *e,
                      int64_t plane, int64_t first, int64_t end, const float *input, float *out) {
  int64_t channel = plane % p->groups, at = plane * p->out[1] * p->out[2] + first * p->out[2], begin, stop;
  flat_direct_inputs(p, first, end, &begin, &stop);
  kernels->direct(&(FlatDirect){.weights = weight + channel * p->kernel[1] * p->kernel[2],
                                .input = input,
                                .side = (int)p->kernel[2],
                                .stride = (int)p->stride[2],
                                .in_size = {stop - begin, p->in[2]},
                                .out_size = {end - first, p->out[2]},
                                .padding = {begin - (first * p->stride[1] - p->padding[1]), p->padding[2]},
                                .out = out + at,
                                .add = e->add ? e->add + at : NULL,
                                .scale = e->scale ? e->scale[channel] : 1,
                                .shift = e->shift ? e->shift[channel] : 0,
                                .activation = e->activation});
}

static void run_planes(void *argument, int64_t begin, int64_t end) {
  const Direct *d = argument;
  const ConvParams *p = d->p;
  int64_t size = p->in[1] * p->in[2];
  for (int64_t plane = begin; plane < end && !work_has_to_end(d->work); plane++)
    flat_direct_rows(d->kernels, p, d->weight, d->epilogue, plane, 0, p->out[1], d->input + plane * size, d->out);
}

Status flat_direct(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                   const float *weight, const ConvEpilogue *epilogue, float *out) {
  enum { ONE_THREAD_WORK = 1 << 16 };
  assert(conv_is_depthwise(p) && flat_direct_pays(p, kernels));
  Direct d = {work, p, kernels, epilogue, input, weight, out};
  int64_t cost = p->out[1] * p->out[2] * p->kernel[1] * p->kernel[2];
  parallel_for(work->threads, p->batch * p->groups, 1 + ONE_THREAD_WORK / (cost + 1), run_planes, &d);
  return work_check(work);
}
