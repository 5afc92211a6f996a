/* Packed parameters: what objects of the native classes of quantized layers hold. */
#pragma once

#include "call/native_class.h"
#include "op/quantized/layer.h"

#define LINEAR_PARAMS "__torch__.torch.classes.quantized.LinearPackedParamsBase"
#define CONV2D_PARAMS "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"
#define CONV3D_PARAMS "__torch__.torch.classes.quantized.Conv3dPackedParamsBase"
#define EMBEDDING_PARAMS "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"
#define CELL_PARAMS "__torch__.torch.classes.rnn.CellParamsBase"
extern const NativeClass native_linear_params, native_conv2d_params, native_conv3d_params, native_embedding_params,
    native_cell_params;

typedef struct LinearParams {
  NativeValue base;
  Tensor *weight, *bias; /* as given: qint8 (outputs, inputs), or half-precision numbers as float32; bias may be NULL */
  bool is_fp16;
  LayerWeights layer; /* unless is_fp16 */
} LinearParams;
Status packed_linear_params(IValue object, const LinearParams **out) MUST_CHECK; /* borrowed as long as the object */
Status linear_params_new(const Tensor *weight, const Tensor *bias_or_null, bool is_fp16, IValue *out) MUST_CHECK;

/* Output i: the bias of packed parameters; where there is none, zeros if the parameters are QNNPACK's, else None. */
Status set_packed_bias(Call *c, uint32_t i, const Tensor *bias, const LayerWeights *layer) MUST_CHECK;

typedef struct ConvParams {
  NativeValue base;
  Tensor *weight, *bias;
  int spatial; /* 2 or 3; one-dimensional ones are of two, the first of size 1 */
  int64_t stride[3], padding[3], dilation[3], output_padding[3], kernel[3];
  int64_t groups;
  bool transpose;
  int64_t inputs, outputs; /* channels */
  LayerWeights layer;      /* rows: for each output channel its taps, each with the group's input channels */
  int16_t *depthwise;      /* one input channel a group: taps x outputs, free of zero points; else NULL */
} ConvParams;
Status packed_conv_params(IValue object, int spatial, const ConvParams **out) MUST_CHECK;
