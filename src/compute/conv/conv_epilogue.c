/* Epilogues of convolutions: chooses the instruction set, shares out the planes. */
#include <math.h>

#include "base/parallel.h"
#include "base/processor.h"
#define NAME conv_epilogue_portable
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "compute/conv/conv_epilogue_body.h"

void conv_epilogue_line(const ConvEpilogue *e, int64_t channel, int64_t n, const float *from, float *to) {
  ConvEpilogueLoop *loop = PROCESSOR_FORM(conv_epilogue);
  loop(n, from, to, e->scale ? e->scale[channel] : 1, e->shift ? e->shift[channel] : 0,
       e->activation == CONV_CLAMP ? e->low : -INFINITY, e->activation == CONV_CLAMP ? e->high : INFINITY);
}

typedef struct Planes {
  const ConvEpilogue *epilogue;
  int64_t channels, n;
  float *values;
} Planes;
static void finish_planes(void *argument, int64_t begin, int64_t end) {
  const Planes *p = argument;
  for (int64_t i = begin; i < end; i++) {
    float *plane = p->values + i * p->n;
    conv_epilogue_line(p->epilogue, i % p->channels, p->n, plane, plane);
  }
}
void conv_epilogue_planes(const ConvEpilogue *e, int threads, int64_t planes, int64_t channels, int64_t n,
                          float *values) {
  Planes p = {e, channels, n, values};
  parallel_for(threads, planes, 65536 / (n + 1) + 1, finish_planes, &p);
}
