/* Laying planes out. */
#include "compute/conv/flat_planes.h"

#include <assert.h>

#include "base/parallel.h"

static bool is_direct(const ConvParams *p) {
  for (int d = 0; d < CONV_SPATIAL; d++)
    if (p->stride[d] != 1 || p->padding[d] || p->padding_after[d]) return false;
  return true;
}

/* The phase of a tap and its position there; both are counted over all dimensions. */
static int64_t phase_of_tap(const ConvParams *p, const FlatPlanes *f, const int64_t k[CONV_SPATIAL], int64_t *place) {
  int64_t phase = *place = 0;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    int64_t position = k[d] * p->dilation[d];
    phase = phase * p->stride[d] + position % p->stride[d];
    *place = *place * f->extent[d] + position / p->stride[d];
  }
  return phase;
}

/* Where each tap reads, for phases numbered from 1 on as taps meet them: `number` is zero before. */
static void set_taps(const ConvParams *p, int64_t *number, FlatPlanes *f) {
  int64_t at = 0, place, k[CONV_SPATIAL];
  for (k[0] = 0; k[0] < p->kernel[0]; k[0]++)
    for (k[1] = 0; k[1] < p->kernel[1]; k[1]++)
      for (k[2] = 0; k[2] < p->kernel[2]; k[2]++) {
        int64_t *n = &number[phase_of_tap(p, f, k, &place)];
        if (!*n) *n = ++f->phases;
        f->taps[at++] = (*n - 1) * f->plane + place;
      }
}

/* Which positions of an extent lie within the input's dimension, where they are `shift` plus a multiple of the stride.
 */
static void clip(const FlatPlanes *f, const ConvParams *p, int d, int64_t shift, int64_t *out_begin, int64_t *out_end) {
  assert(d >= 0 && d < CONV_SPATIAL);
  int64_t stride = p->stride[d], count = f->extent[d];
  int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
  int64_t end = shift < p->in[d] ? (p->in[d] - 1 - shift) / stride + 1 : 0;
  if (begin > count) begin = count;
  if (end > count) end = count;
  *out_begin = begin;
  *out_end = end > begin ? end : begin;
}

static void set_phases(const ConvParams *p, const int64_t *number, FlatPlanes *f) {
  int64_t at[CONV_SPATIAL];
  for (at[0] = 0; at[0] < p->stride[0]; at[0]++)
    for (at[1] = 0; at[1] < p->stride[1]; at[1]++)
      for (at[2] = 0; at[2] < p->stride[2]; at[2]++) {
        int64_t n = *number++;
        if (!n) continue;
        FlatPhase *phase = &f->phase[n - 1];
        for (int d = 0; d < CONV_SPATIAL; d++) {
          phase->shift[d] = at[d] - p->padding[d];
          clip(f, p, d, phase->shift[d], &phase->begin[d], &phase->end[d]);
        }
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

bool flat_images_are_dealt(int threads, int64_t batch, double cost) {
  const double most = 1 << 22;
  return threads > 1 && batch >= 4 * threads && cost <= most;
}

Status flat_planes_init(const ConvParams *p, FlatPlanes *f) {
  int64_t all;
  memset(f, 0, sizeof *f);
  f->tap_count = p->kernel[0] * p->kernel[1] * p->kernel[2];
  if (!int64_mul(p->stride[0] * p->stride[1], p->stride[2], &all)) return status_out_of_memory();
  int64_t most = all < f->tap_count ? all : f->tap_count;
  int64_t *number = mem_calloc((size_t)all, sizeof *number); /* of a phase, among those that some tap reads */
  f->taps = mem_alloc((size_t)f->tap_count * sizeof *f->taps);
  f->phase = mem_alloc((size_t)most * sizeof *f->phase);
  if (!f->taps || !f->phase || !number) {
    mem_free(number);
    flat_planes_dispose(f);
    return status_out_of_memory();
  }
  f->plane = f->positions = 1;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    int64_t span = (p->out[d] - 1) * p->stride[d] + (p->kernel[d] - 1) * p->dilation[d] + 1;
    f->extent[d] = is_direct(p) ? p->in[d] : (span + p->stride[d] - 1) / p->stride[d];
    f->plane *= f->extent[d];
  }
  f->positions = ((p->out[0] - 1) * f->extent[1] + p->out[1] - 1) * f->extent[2] + p->out[2];
  set_taps(p, number, f);
  set_phases(p, number, f);
  mem_free(number);
  f->channel_stride = f->phases * f->plane;
  if (!is_direct(p)) f->bytes = (size_t)(p->in_channels * f->channel_stride) * sizeof(float);
  return OK;
}

void flat_planes_dispose(FlatPlanes *f) {
  mem_free(f->taps);
  mem_free(f->phase);
}

/* The values that are a stride apart, and zero beyond the input's ends. */
void flat_planes_lay_phase(const FlatPlanes *f, const FlatKernels *kernels, const ConvParams *p, int64_t at,
                           const float *plane, float *to) {
  assert(at >= 0 && at < f->phases);
  const FlatPhase *phase = &f->phase[at];
  const int64_t *begin = phase->begin, *end = phase->end, *shift = phase->shift;
  int64_t row = f->extent[2];
  for (int64_t q = 0; q < f->extent[0]; q++, to += f->extent[1] * row) {
    if (q < begin[0] || q >= end[0] || begin[1] == end[1] || begin[2] == end[2]) {
      memset(to, 0, (size_t)(f->extent[1] * row) * sizeof *to);
      continue;
    }
    int64_t x0 = q * p->stride[0] + shift[0], x1 = begin[1] * p->stride[1] + shift[1];
    if (begin[1]) memset(to, 0, (size_t)(begin[1] * row) * sizeof *to);
    kernels->lay(&(FlatRows){.rows = end[1] - begin[1],
                             .before = begin[2],
                             .count = end[2] - begin[2],
                             .after = row - end[2],
                             .stride = p->stride[2],
                             .from = plane + (x0 * p->in[1] + x1) * p->in[2] + begin[2] * p->stride[2] + shift[2],
                             .from_step = p->stride[1] * p->in[2],
                             .to = to + begin[1] * row});
    if (end[1] < f->extent[1]) memset(to + end[1] * row, 0, (size_t)((f->extent[1] - end[1]) * row) * sizeof *to);
  }
}

void flat_planes_lay_channel(const FlatPlanes *f, const FlatKernels *kernels, const ConvParams *p, const float *plane,
                             float *to) {
  enum { MOST = 1 << 16, LINE = 16 };
  int64_t size = p->in[0] * p->in[1] * p->in[2];
  for (int64_t i = size; i < 2 * size && size <= MOST; i += LINE) /* the next plane, which is read in pieces */
    __builtin_prefetch(plane + i, 0, 2);
  for (int64_t i = 0; i < f->phases; i++, to += f->plane) flat_planes_lay_phase(f, kernels, p, i, plane, to);
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
  enum { ONE_THREAD_FLOATS = 12288 };
  Laying l = {planes, kernels, p, image, to};
  parallel_for(threads, p->in_channels, ONE_THREAD_FLOATS / (planes->channel_stride + 1) + 1, lay_channels, &l);
}
