/* Which engine does a convolution of float32. */
#include "compute/conv/conv_depthwise.h"
#include "compute/conv/conv_weights.h"
#include "compute/conv/flat_winograd.h"

static Status run_flat(Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *weight,
                       const ConvEpilogue *epilogue, Tensor *out) {
  WeightLayout layout;
  flat_conv_layout(p, &layout);
  PackedWeight *packed = packed_weight_take(exec->threads, weight, &layout);
  if (!packed) return status_out_of_memory();
  Status status = flat_conv(exec, p, tensor_data(input), packed_weight_data(packed), epilogue, tensor_data(out));
  packed_weight_give_back(packed);
  return status;
}

/* *done false: some result is not finite. */
static Status run_winograd(Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *weight,
                           const ConvEpilogue *epilogue, Tensor *out, bool *done) {
  WeightLayout layout;
  flat_winograd_layout(p, &layout);
  PackedWeight *packed = packed_weight_take(exec->threads, weight, &layout);
  if (!packed) return status_out_of_memory();
  Status status = flat_winograd(flat_kernels(), exec, p, tensor_data(input), packed_weight_data(packed), epilogue,
                                tensor_data(out), done);
  packed_weight_give_back(packed);
  return status;
}

Status conv_forward(Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *weight,
                    const ConvEpilogue *epilogue, Tensor *out) {
  if (conv_is_depthwise(p))
    return conv_depthwise(exec->threads, p, tensor_data(input), tensor_data(weight), epilogue, tensor_data(out));
  if (flat_winograd_pays(p, flat_kernels())) {
    bool done = false;
    TRY(run_winograd(exec, p, input, weight, epilogue, out, &done));
    if (done) return OK;
  }
  if (flat_conv_takes(p)) return run_flat(exec, p, input, weight, epilogue, out);
  TRY(conv_forward_portable(exec, p, DTYPE_FLOAT32, tensor_data(input), tensor_data(weight), NULL, tensor_data(out)));
  int64_t planes = p->batch * p->out_channels;
  conv_epilogue_planes(epilogue, exec->threads, planes, p->out_channels, out->numel / planes, tensor_data(out));
  return OK;
}
