/* A window's rows are runs of memory. One after the other they are a row of a matrix, whose product with the weight is
 * the results as they shall lie. */
#include "compute/conv/conv_patches.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "compute/conv/conv_weights.h"
#include "compute/gemm/gemm.h"

typedef struct Patches {
  const ConvParams *p;
  const float *input;
  float *rows;
} Patches;

bool conv_patches_takes(const Work *work, const ConvParams *p) {
  for (int d = 1; d < CONV_SPATIAL; d++)
    if (p->stride[d] != p->kernel[d] || p->padding[d] || p->padding_after[d] ||
        (p->kernel[d] > 1 && p->dilation[d] != 1))
      return false;
  return p->spatial == 2 && !p->transposed && p->groups == 1 && p->in_channels > 0 && p->kernel[1] > 0 &&
         p->kernel[2] > 0 && p->out_channels > 4 && p->out[1] * p->out[2] > 4 &&
         !gemm_is_to_be_attended(work, DTYPE_FLOAT32, p->batch * p->out[1] * p->out[2], p->out_channels,
                                 p->kernel[1] * p->kernel[2] * p->in_channels);
}

/* Of the rows of results [begin, end), counted through all images. */
static void put_rows(void *argument, int64_t begin, int64_t end) {
  const Patches *w = argument;
  const ConvParams *p = w->p;
  int64_t line = p->in[2] * p->in_channels, run = p->kernel[2] * p->in_channels, depth = p->kernel[1] * run;
  for (int64_t y = begin; y < end; y++) {
    const float *from = w->input + (y / p->out[1] * p->in[1] + y % p->out[1] * p->kernel[1]) * line;
    float *to = w->rows + y * p->out[2] * depth;
    for (int64_t x = 0; x < p->out[2]; x++, from += run)
      for (int64_t k = 0; k < p->kernel[1]; k++, to += run) memcpy(to, from + k * line, (size_t)run * sizeof *to);
  }
}

/* Windows of one row without a rest after the last: the input is that matrix as it lies. */
static bool is_matrix(const ConvParams *p) {
  return p->kernel[1] == 1 && p->in[2] == p->out[2] * p->kernel[2];
}

/* gemm_panels_layout's, with the weight's taps before its channels. */
static void panels_layout(const ConvParams *p, WeightLayout *out) {
  int64_t taps = p->kernel[1] * p->kernel[2];
  gemm_panels_layout(p->out_channels, taps * p->in_channels, out);
  out->ndim = 3;
  out->sizes[1] = p->in_channels;
  out->sizes[2] = taps;
  out->strides[2] = p->in_channels * out->strides[1];
}

Status conv_patches(const Work *work, const ConvParams *p, const float *input, const Tensor *weight, const float *bias,
                    float *out) {
  assert(conv_patches_takes(work, p));
  enum { ONE_THREAD_FLOATS = 1 << 15 };
  int64_t depth = p->kernel[1] * p->kernel[2] * p->in_channels, lines = p->batch * p->out[1], each = p->out[2] * depth;
  size_t bytes = 0;
  if (!is_matrix(p) && !size_mul((size_t)(lines * each), sizeof(float), &bytes)) return status_out_of_memory();
  WeightLayout layout;
  panels_layout(p, &layout);
  PackedWeight *packed = packed_weight_take(work, weight, &layout);
  Patches patches = {p, input, bytes ? cache_alloc(bytes) : NULL};
  Status status = packed && (patches.rows || !bytes) ? OK : status_out_of_memory();
  if (!status && bytes) parallel_for(work->threads, lines, 1 + ONE_THREAD_FLOATS / each, put_rows, &patches);
  if (!status)
    status = gemm_panels(work, &(GemmPanels){.m = lines * p->out[2],
                                             .n = p->out_channels,
                                             .k = depth,
                                             .a = bytes ? patches.rows : input,
                                             .a_stride = depth,
                                             .panels = packed_weight_data(packed),
                                             .bias = bias,
                                             .c = out,
                                             .ldc = p->out_channels});
  if (patches.rows) cache_free(patches.rows, bytes);
  if (packed) packed_weight_give_back(packed);
  return status;
}
