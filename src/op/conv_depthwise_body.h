/* Depthwise convolution of one plane, row by row: each tap adds a scaled run of the input row to the output row.
 * Compiled for several instruction sets by the files that include it, which define NAME and MULTIPLY_ADD(a, b, c). */
#include "op/conv.h"

/* out[i] += w * in[i * stride], for the outputs [begin, end) whose input lies inside the row. */
static inline void add_tap(float w, const float *in, int64_t stride, int64_t begin, int64_t end, float *out) {
  if (stride == 1)
    for (int64_t i = begin; i < end; i++) out[i] = MULTIPLY_ADD(w, in[i], out[i]);
  else if (stride == 2)
    for (int64_t i = begin; i < end; i++) out[i] = MULTIPLY_ADD(w, in[2 * i], out[i]);
  else
    for (int64_t i = begin; i < end; i++) out[i] = MULTIPLY_ADD(w, in[stride * i], out[i]);
}

void NAME(const ConvParams *p, const float *in, const float *weight, float bias, float *out) {
  for (int64_t o0 = 0; o0 < p->out[0]; o0++)
    for (int64_t o1 = 0; o1 < p->out[1]; o1++, out += p->out[2]) {
      for (int64_t i = 0; i < p->out[2]; i++) out[i] = bias;
      for (int64_t k0 = 0; k0 < p->kernel[0]; k0++) {
        int64_t x0 = o0 * p->stride[0] - p->padding[0] + k0 * p->dilation[0];
        if (x0 < 0 || x0 >= p->in[0]) continue;
        for (int64_t k1 = 0; k1 < p->kernel[1]; k1++) {
          int64_t x1 = o1 * p->stride[1] - p->padding[1] + k1 * p->dilation[1];
          if (x1 < 0 || x1 >= p->in[1]) continue;
          const float *row = in + (x0 * p->in[1] + x1) * p->in[2];
          const float *taps = weight + (k0 * p->kernel[1] + k1) * p->kernel[2];
          for (int64_t k2 = 0; k2 < p->kernel[2]; k2++) {
            int64_t shift = k2 * p->dilation[2] - p->padding[2], s = p->stride[2];
            int64_t begin = shift < 0 ? (-shift + s - 1) / s : 0,
                    end = shift < p->in[2] ? (p->in[2] - 1 - shift) / s + 1 : 0;
            if (end > p->out[2]) end = p->out[2];
            add_tap(taps[k2], row + shift, s, begin, end, out);
          }
        }
      }
    }
}
