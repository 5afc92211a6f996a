/* Depthwise convolution: chooses the instruction set and spreads planes over threads. */
#define NAME conv_depthwise_plane
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "op/conv_depthwise_body.h"

#include "base/parallel.h"

void conv_depthwise_plane_avx2(const ConvParams *p, const float *in, const float *weight, float bias, float *out);

bool conv_is_depthwise(const ConvParams *p) {
  return !p->transposed && p->groups == p->in_channels && p->groups == p->out_channels && p->groups > 1;
}

typedef struct Planes {
  const ConvParams *p;
  const float *input, *weight, *bias;
  float *out;
  void (*plane)(const ConvParams *p, const float *in, const float *weight, float bias, float *out);
} Planes;

static void run_planes(void *argument, int64_t begin, int64_t end) {
  const Planes *a = argument;
  const ConvParams *p = a->p;
  int64_t in = p->in[0] * p->in[1] * p->in[2], out = p->out[0] * p->out[1] * p->out[2],
          kernel = p->kernel[0] * p->kernel[1] * p->kernel[2];
  for (int64_t i = begin; i < end; i++) {
    int64_t channel = i % p->groups;
    a->plane(p, a->input + i * in, a->weight + channel * kernel, a->bias ? a->bias[channel] : 0, a->out + i * out);
  }
}

void conv_depthwise(int threads, const ConvParams *p, const float *input, const float *weight, const float *bias,
                    float *out) {
  Planes planes = {p, input, weight, bias, out, conv_depthwise_plane};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) planes.plane = conv_depthwise_plane_avx2;
#endif
  int64_t work = p->out[0] * p->out[1] * p->out[2] * p->kernel[0] * p->kernel[1] * p->kernel[2];
  parallel_for(threads, p->batch * p->groups, 1 + 131072 / (work + 1), run_planes, &planes);
}
