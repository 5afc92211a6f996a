/* Laying planes out. */
#include "compute/conv/flat_planes.h"

#include "base/parallel.h"

static bool is_direct(const ConvParams *p) {
  for (int d = 0; d < CONV_SPATIAL; d++)
    if (p->stride[d] != 1 || p->padding[d] || p->padding_after[d]) return false;
  return true;
}

/* Distances of all taps, with phases numbered as `number` says. */
static void set_taps(const ConvParams *p, const int64_t *number, FlatPlanes *f) {
  int64_t at = 0, k[CONV_SPATIAL];
  for (k[0] = 0; k[0] < p->kernel[0]; k[0]++)
    for (k[1] = 0; k[1] < p->kernel[1]; k[1]++)
      for (k[2] = 0; k[2] < p->kernel[2]; k[2]++) {
        int64_t phase = 0, place = 0;
        for (int d = 0; d < CONV_SPATIAL; d++) {
          int64_t position = k[d] * p->dilation[d];
          phase = phase * p->stride[d] + position % p->stride[d];
          place = place * f->extent[d] + position / p->stride[d];
        }
        f->used[phase] = 1;
        f->taps[at++] = (number ? number[phase] : 0) * f->plane + place;
      }
}

ConvParams flat_simplify(const ConvParams *p) {
  ConvParams simple = *p;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    if (p->out[d] == 1) simple.stride[d] = 1;
    if (p->kernel[d] == 1) simple.dilation[d] = 1;
  }
  return simple;
}

bool flat_planes_pay(const ConvParams *p) {
  enum { LITTLE = 1 << 20, MUCH = 16 };
  double plane = 1, phases = 1, in = 1, out = 1;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    plane *= (double)(p->out[d] - 1) + (double)(p->kernel[d] - 1) * (double)p->dilation[d] / (double)p->stride[d] + 2;
    phases *= (double)(p->stride[d] < p->kernel[d] ? p->stride[d] : p->kernel[d]);
    in *= (double)p->in[d];
    out *= (double)p->out[d];
  }
  return plane * phases <= LITTLE || plane * phases <= MUCH * (in + out);
}

Status flat_planes_init(const ConvParams *p, FlatPlanes *f) {
  int64_t all;
  memset(f, 0, sizeof *f);
  f->tap_count = p->kernel[0] * p->kernel[1] * p->kernel[2];
  if (!int64_mul(p->stride[0] * p->stride[1], p->stride[2], &all)) return status_out_of_memory();
  f->taps = mem_alloc((size_t)(f->tap_count + all) * sizeof *f->taps);
  f->used = mem_calloc((size_t)all, 1);
  if (!f->taps || !f->used) {
    flat_planes_dispose(f);
    return status_out_of_memory();
  }
  int64_t *number = f->taps + f->tap_count;
  f->plane = f->positions = 1;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    int64_t span = (p->out[d] - 1) * p->stride[d] + (p->kernel[d] - 1) * p->dilation[d] + 1;
    f->extent[d] = is_direct(p) ? p->in[d] : (span + p->stride[d] - 1) / p->stride[d];
    f->plane *= f->extent[d];
  }
  f->positions = ((p->out[0] - 1) * f->extent[1] + p->out[1] - 1) * f->extent[2] + p->out[2];
  set_taps(p, NULL, f);
  for (int64_t i = 0; i < all; i++) number[i] = f->used[i] ? f->phases++ : 0;
  set_taps(p, number, f);
  f->channel_stride = f->phases * f->plane;
  if (!is_direct(p)) f->bytes = (size_t)(p->in_channels * f->channel_stride) * sizeof(float);
  return OK;
}

void flat_planes_dispose(FlatPlanes *f) {
  mem_free(f->taps);
  mem_free(f->used);
}

/* A row of a phase: the values of `row` that are a stride apart, from position `shift` on, and zero beyond its ends. */
static void lay_row(const FlatPlanes *f, const FlatKernels *kernels, const ConvParams *p, const float *row,
                    int64_t shift, float *to) {
  int64_t stride = p->stride[2], length = p->in[2], count = f->extent[2];
  int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
  int64_t end = shift < length ? (length - 1 - shift) / stride + 1 : 0;
  if (begin > count) begin = count;
  if (end > count) end = count;
  if (end < begin) end = begin;
  for (int64_t i = 0; i < begin; i++) to[i] = 0;
  kernels->gather(end - begin, stride, row + begin * stride + shift, to + begin);
  for (int64_t i = end; i < count; i++) to[i] = 0;
}

static void lay_phase(const FlatPlanes *f, const FlatKernels *kernels, const ConvParams *p, const float *plane,
                      const int64_t at[CONV_SPATIAL], float *to) {
  for (int64_t q0 = 0; q0 < f->extent[0]; q0++)
    for (int64_t q1 = 0; q1 < f->extent[1]; q1++, to += f->extent[2]) {
      int64_t x0 = q0 * p->stride[0] + at[0] - p->padding[0], x1 = q1 * p->stride[1] + at[1] - p->padding[1];
      if (x0 < 0 || x0 >= p->in[0] || x1 < 0 || x1 >= p->in[1])
        memset(to, 0, (size_t)f->extent[2] * sizeof *to);
      else
        lay_row(f, kernels, p, plane + (x0 * p->in[1] + x1) * p->in[2], at[2] - p->padding[2], to);
    }
}

void flat_planes_lay_channel(const FlatPlanes *f, const FlatKernels *kernels, const ConvParams *p, const float *plane,
                             float *to) {
  const uint8_t *used = f->used;
  int64_t at[CONV_SPATIAL];
  for (at[0] = 0; at[0] < p->stride[0]; at[0]++)
    for (at[1] = 0; at[1] < p->stride[1]; at[1]++)
      for (at[2] = 0; at[2] < p->stride[2]; at[2]++) {
        if (!*used++) continue;
        lay_phase(f, kernels, p, plane, at, to);
        to += f->plane;
      }
}

typedef struct Laying {
  const FlatPlanes *planes;
  const FlatKernels *kernels;
  const ConvParams *p;
  const float *image;
  float *to;
} Laying;
static void lay_channels(void *argument, int64_t begin, int64_t end) {
  const Laying *l = argument;
  int64_t size = l->p->in[0] * l->p->in[1] * l->p->in[2];
  for (int64_t channel = begin; channel < end; channel++)
    flat_planes_lay_channel(l->planes, l->kernels, l->p, l->image + channel * size,
                            l->to + channel * l->planes->channel_stride);
}

void flat_planes_lay(const FlatPlanes *planes, const FlatKernels *kernels, int threads, const ConvParams *p,
                     const float *image, float *to) {
  enum { ONE_THREAD_FLOATS = 32768 };
  Laying l = {planes, kernels, p, image, to};
  parallel_for(threads, p->in_channels, ONE_THREAD_FLOATS / (planes->channel_stride + 1) + 1, lay_channels, &l);
}
