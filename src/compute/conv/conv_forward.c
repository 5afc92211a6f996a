/* Which engine does a convolution of float32. */
#include <assert.h>

#include "base/parallel.h"
#include "compute/conv/conv_backward.h"
#include "compute/conv/conv_patches.h"
#include "compute/conv/conv_weights.h"
#include "compute/conv/flat_conv.h"
#include "compute/conv/flat_expand.h"
#include "compute/conv/flat_planes.h"
#include "compute/conv/flat_product.h"
#include "compute/conv/flat_winograd.h"

static Status run_flat(const Work *work, const ConvParams *p, const Tensor *input, const Tensor *weight,
                       const ConvEpilogue *epilogue, Tensor *out) {
  WeightLayout layout;
  flat_conv_layout(p, &layout);
  PackedWeight *packed = packed_weight_take(work, weight, &layout);
  if (!packed) return status_out_of_memory();
  Status status = flat_conv(work, p, tensor_data(input), packed_weight_data(packed), epilogue, tensor_data(out));
  packed_weight_give_back(packed);
  return status;
}

static Status run_product(const Work *work, const ConvParams *p, const Tensor *input, const Tensor *weight,
                          const ConvEpilogue *epilogue, Tensor *out) {
  WeightLayout layout;
  flat_product_layout(p, flat_kernels(), &layout);
  PackedWeight *packed = packed_weight_take(work, weight, &layout);
  if (!packed) return status_out_of_memory();
  Status status =
      flat_product(flat_kernels(), work, p, tensor_data(input), packed_weight_data(packed), epilogue, tensor_data(out));
  packed_weight_give_back(packed);
  return status;
}

/* *done false: some result is not finite. */
static Status run_winograd(const Work *work, const ConvParams *p, int side, const Tensor *input, const Tensor *weight,
                           const ConvEpilogue *epilogue, Tensor *out, bool *done) {
  WeightLayout layout;
  bool is_kept = flat_winograd_keeps(p, side);
  flat_winograd_layout(p, side, is_kept, &layout);
  PackedWeight *packed = packed_weight_take(work, weight, &layout);
  if (!packed) return status_out_of_memory();
  Status status = flat_winograd(flat_kernels(), work, p, side, is_kept, tensor_data(input), packed_weight_data(packed),
                                epilogue, tensor_data(out), done);
  packed_weight_give_back(packed);
  return status;
}

/* The epilogue alone, on all results. */
typedef struct Finish {
  const ConvParams *p;
  const ConvEpilogue *epilogue;
  float *out;
} Finish;

static void finish_some(void *argument, int64_t begin, int64_t end) {
  const Finish *f = argument;
  const ConvEpilogue *e = f->epilogue;
  int64_t size = f->p->out[0] * f->p->out[1] * f->p->out[2];
  for (int64_t plane = begin; plane < end; plane++) {
    int64_t channel = plane % f->p->out_channels;
    float *out = f->out + plane * size, scale = e->scale ? e->scale[channel] : 1,
          shift = e->shift ? e->shift[channel] : 0;
    FlatTile t = {.out = out, .out_stride = size, .rows = 1, .activation = e->activation};
    for (int64_t i = 0; i < size; i++) out[i] = out[i] * scale + shift;
    flat_kernels()->finish_rows(&t, 0, size, size, e->add ? e->add + plane * size : NULL, out);
  }
}

static void finish_planes(const Work *work, const ConvParams *p, const ConvEpilogue *e, float *out) {
  enum { ONE_THREAD_FLOATS = 32768 };
  Finish f = {p, e, out};
  int64_t size = p->out[0] * p->out[1] * p->out[2];
  parallel_for(work->threads, p->batch * p->out_channels, 1 + ONE_THREAD_FLOATS / (size + 1), finish_some, &f);
}

bool conv_takes_gate(const ConvParams *p) {
  return conv_is_product(p) && p->groups == 1 && p->out[0] * p->out[1] * p->out[2] > FLAT_COLUMNS && flat_conv_takes(p);
}

bool conv_takes_channels_last(const Work *work, const ConvParams *p) {
  return flat_side_last_pays(p, flat_kernels()) || conv_patches_takes(work, p);
}

Status conv_forward_channels_last(const Work *work, const ConvParams *p, const Tensor *input, const Tensor *weight,
                                  const float *bias, Tensor *out) {
  if (conv_patches_takes(work, p)) return conv_patches(work, p, tensor_data(input), weight, bias, tensor_data(out));
  ConvEpilogue bias_only = {.shift = bias};
  TRY(tensor_restore(weight));
  return flat_side_last(flat_kernels(), work, p, tensor_data(input), tensor_data(weight), &bias_only, tensor_data(out));
}

bool conv_takes_expansion(const Expansion *both) {
  return flat_expand_takes(flat_kernels(), both);
}

Status conv_forward_expansion(const Work *work, const Expansion *both, const Tensor *input, const Tensor *expand_weight,
                              const Tensor *depthwise_weight, Tensor *out) {
  WeightLayout layout;
  TRY(tensor_restore(depthwise_weight));
  flat_conv_layout(both->expand, &layout);
  PackedWeight *packed = packed_weight_take(work, expand_weight, &layout);
  if (!packed) return status_out_of_memory();
  Status status = flat_expand(flat_kernels(), work, both, tensor_data(input), packed_weight_data(packed),
                              tensor_data(depthwise_weight), tensor_data(out));
  packed_weight_give_back(packed);
  return status;
}

Status conv_forward(const Work *work, const ConvParams *p, const Tensor *input, const Tensor *weight,
                    const ConvEpilogue *epilogue, Tensor *out) {
  assert(!epilogue->gate || conv_takes_gate(p));
  if (conv_is_depthwise(p) && flat_conv_takes(p)) {
    TRY(tensor_restore(weight));
    return conv_depthwise(work, p, tensor_data(input), tensor_data(weight), epilogue, tensor_data(out));
  }
  int side = flat_winograd_side(p, flat_kernels());
  if (side) {
    bool done = false;
    TRY(run_winograd(work, p, side, input, weight, epilogue, out, &done));
    if (done) return OK;
  }
  if (flat_conv_takes(p))
    return (flat_product_pays(p, flat_kernels()) ? run_product : run_flat)(work, p, input, weight, epilogue, out);
  TRY(tensor_restore(weight));
  if (p->transposed && conv_spread_takes(p)) {
    TRY(conv_spread_by_kept(work, p, input, weight, out));
    finish_planes(work, p, epilogue, tensor_data(out));
    return OK;
  }
  TRY(conv_forward_portable(work, p, DTYPE_FLOAT32, tensor_data(input), tensor_data(weight), NULL, tensor_data(out)));
  finish_planes(work, p, epilogue, tensor_data(out));
  return OK;
}
