/* Convolutions of quantized weights, one to three dimensions, also transposed: their operators. */
#include <assert.h>
#include <math.h>

#include "call/row_extras.h"
#include "op/quantized/conv_run.h"
#include "tensor/quantizer.h"

/* ---- sizes ---- */

static Status check_input(const Call *c, const ConvParams *p, const Tensor *x) {
  if (x->ndim != p->spatial + 2)
    return status_new(ERROR_RUNTIME, STR_FMT ": expected a %d-dimensional input, got sizes %s", STR_ARG(c->op->name),
                      p->spatial + 2, SIZES_TEXT(x->ndim, x->sizes));
  if (x->sizes[1] != p->inputs)
    return status_new(ERROR_RUNTIME, STR_FMT ": the input has %lld channels, the weight takes %lld",
                      STR_ARG(c->op->name), (long long)x->sizes[1], (long long)p->inputs);
  return OK;
}

static Status output_size(const Call *c, const ConvParams *p, int i, int64_t in, int64_t *out) {
  assert(i >= 0 && i < p->spatial);
  int64_t extent, padded, size = 0;
  bool fine = int64_mul(p->dilation[i], p->kernel[i] - 1, &extent) && in <= INT32_MAX;
  if (fine && p->transpose) {
    fine = int64_mul(in - 1, p->stride[i], &size) && int64_add(size, extent + p->output_padding[i] + 1, &size);
    size -= 2 * p->padding[i];
  } else if (fine) {
    padded = in + 2 * p->padding[i] - extent - 1;
    fine = padded >= 0;
    size = padded / p->stride[i] + 1;
  }
  if (!fine || size < 1)
    return status_new(ERROR_RUNTIME, STR_FMT ": an input of size %lld is too small (or large) for the kernel",
                      STR_ARG(c->op->name), (long long)in);
  *out = size;
  return OK;
}

static Status set_up(const Call *c, const ConvParams *p, const Tensor *x, ConvShape *s, int64_t *sizes) {
  *s = (ConvShape){.batch = x->sizes[0]};
  int missing = 3 - p->spatial;
  sizes[0] = x->sizes[0];
  sizes[1] = p->outputs;
  for (int d = 0; d < 3; d++) s->in[d] = s->out[d] = s->kernel[d] = s->stride[d] = s->dilation[d] = 1;
  for (int i = 0; i < p->spatial; i++) {
    int d = i + missing;
    s->in[d] = x->sizes[2 + i];
    s->kernel[d] = p->kernel[i];
    s->stride[d] = p->stride[i];
    s->padding[d] = p->padding[i];
    s->dilation[d] = p->dilation[i];
    TRY(output_size(c, p, i, s->in[d], &s->out[d]));
    sizes[2 + i] = s->out[d];
  }
  return OK;
}

static Status new_output(const ConvParams *p, const int64_t *sizes, DType dtype, double scale, int64_t zero,
                         Tensor **out) {
  int64_t strides[TENSOR_MAX_DIMS];
  Quantizer *q;
  TRY(quantizer_new_per_tensor(scale, zero, &q));
  strides_channels_last(p->spatial + 2, sizes, strides);
  Status status = tensor_new_quantized(dtype, p->spatial + 2, sizes, strides, q, out);
  quantizer_release(q);
  return status;
}

/* One quantized result in *out. */
static Status convolve(Call *c, const ConvParams *p, const Tensor *x, LayerInput *input, DType dtype, double scale,
                       int64_t zero, bool relu, Tensor **out) {
  ConvShape shape;
  LayerOutput output = {0};
  int64_t sizes[TENSOR_MAX_DIMS];
  *out = NULL;
  TRY(set_up(c, p, x, &shape, sizes));
  Status status = layer_output_integers(c, &p->layer, input, dtype, scale, zero, relu, p->depthwise != NULL, &output);
  if (!status) status = new_output(p, sizes, dtype, scale, zero, out);
  if (!status && (*out)->numel) status = conv_run(p, &shape, input, &output, tensor_data(*out), c->exec);
  layer_output_dispose(&output);
  if (status) {
    tensor_release(*out);
    *out = NULL;
  }
  return status;
}

/* ---- kernels ---- */

/* The input as the parameters see it: one-dimensional ones have a dimension of 1 before the last. */
static Status widened(const Call *c, int dimensions, const Tensor *x, Tensor **out) {
  assert(dimensions >= 1 && dimensions <= 3);
  if (dimensions != 1) return *out = tensor_retain(x), OK;
  if (x->ndim != 3)
    return status_new(ERROR_RUNTIME, STR_FMT ": expected a 3-dimensional input, got sizes %s", STR_ARG(c->op->name),
                      SIZES_TEXT(x->ndim, x->sizes));
  return tensor_unsqueeze(x, 2, out);
}
static Status set_result(Call *c, int dimensions, Tensor *out) { /* takes out over */
  if (dimensions == 1) {
    Tensor *narrow;
    Status status = tensor_squeeze_dim(out, 2, &narrow);
    tensor_release(out);
    TRY(status);
    out = narrow;
  }
  call_set_tensor(c, 0, out);
  return OK;
}

typedef struct Layer { /* what the operator's name says */
  int dimensions;
  bool relu, transpose;
  uint32_t scale; /* argument */
} Layer;

static Status expect_transpose(const Call *c, const ConvParams *p, bool transpose) {
  if (p->transpose == transpose) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT ": the packed weight is %sof a transposed convolution", STR_ARG(c->op->name),
                    p->transpose ? "" : "not ");
}

static Status kernel_conv(Call *c) { /* (qx, packed, ..., scale, zero_point) */
  const Layer *layer = call_with(c);
  const ConvParams *p;
  Tensor *x, *out;
  LayerInput input = {0};
  TRY(packed_conv_params(call_value(c, 1), layer->dimensions == 3 ? 3 : 2, &p));
  TRY(expect_transpose(c, p, layer->transpose));
  TRY(widened(c, layer->dimensions, call_tensor(c, 0), &x));
  Status status = check_input(c, p, x);
  if (!status) status = layer_input(c, x, &input);
  if (!status)
    status = convolve(c, p, x, &input, (DType)x->dtype, call_double(c, layer->scale), call_int(c, layer->scale + 1),
                      layer->relu, &out);
  layer_input_dispose(&input);
  tensor_release(x);
  return status ? status : set_result(c, layer->dimensions, out);
}

/* (x, packed, reduce_range): the result is quantized as the input was, and made numbers again. */
static Status kernel_conv_dynamic(Call *c) {
  const Layer *layer = call_with(c);
  const ConvParams *p;
  Tensor *x, *out, *numbers;
  LayerInput input = {0};
  TRY(packed_conv_params(call_value(c, 1), layer->dimensions == 3 ? 3 : 2, &p));
  TRY(expect_transpose(c, p, layer->transpose));
  TRY(widened(c, layer->dimensions, call_tensor(c, 0), &x));
  Status status = check_input(c, p, x);
  bool reduce_range = call_bool(c, 2);
  if (!status) status = layer_input_dynamic(c, x, reduce_range, false, &input);
  if (!status) status = convolve(c, p, x, &input, DTYPE_QUINT8, input.scale, input.zero, false, &out);
  layer_input_dispose(&input);
  tensor_release(x);
  TRY(status);
  status = tensor_dequantize(out, &numbers);
  tensor_release(out);
  return status ? status : set_result(c, layer->dimensions, numbers);
}

#define LAYER_ROW(text, kernel_function, accepts, form, ...)                                    \
  {                                                                                             \
    .schema = text, .kernel = kernel_function, .with = &(const Layer){__VA_ARGS__},             \
    .extras = &(const RowExtras){.quantizes = form}, .flags = OP_NOT_DIFFERENTIABLE | (accepts) \
  }
#define CONV_ROW(name, class_name, form, ...)                                                                      \
  LAYER_ROW(name "(Tensor qx, " class_name " packed_weight, float output_scale, int output_zero_point) -> Tensor", \
            kernel_conv, OP_ACCEPT_QUANTIZED, form, .scale = 2, __VA_ARGS__)
#define LEGACY_ROW(name, class_name, ...)                                   \
  LAYER_ROW("quantized::" name "(Tensor qx, " class_name                    \
            " weight, int[] stride, int[] padding, int[] dilation, int "    \
            "groups, float output_scale, int output_zero_point) -> Tensor", \
            kernel_conv, OP_ACCEPT_QUANTIZED, NULL, .scale = 6, __VA_ARGS__)
#define DYNAMIC_ROW(name, class_name, ...)                                                                             \
  LAYER_ROW("quantized::" name "_dynamic(Tensor qx, " class_name " packed_weight, bool reduce_range=False) -> Tensor", \
            kernel_conv_dynamic, 0, NULL, __VA_ARGS__)
#define FORM(name, relu_after) \
  (&(const QuantizedForm){"aten::" name, .unpack = "quantized::" name "_unpack", .relu = relu_after})

static const OpRow rows[] = {
    CONV_ROW("quantized::conv1d", CONV2D_PARAMS, FORM("conv1d", false), .dimensions = 1),
    CONV_ROW("quantized::conv1d_relu", CONV2D_PARAMS, FORM("conv1d", true), .dimensions = 1, .relu = true),
    CONV_ROW("quantized::conv2d.new", CONV2D_PARAMS, FORM("conv2d", false), .dimensions = 2),
    CONV_ROW("quantized::conv2d_relu.new", CONV2D_PARAMS, FORM("conv2d", true), .dimensions = 2, .relu = true),
    CONV_ROW("quantized::conv3d.new", CONV3D_PARAMS, FORM("conv3d", false), .dimensions = 3),
    CONV_ROW("quantized::conv3d_relu.new", CONV3D_PARAMS, FORM("conv3d", true), .dimensions = 3, .relu = true),
    CONV_ROW("quantized::conv_transpose1d", CONV2D_PARAMS, NULL, .dimensions = 1, .transpose = true),
    CONV_ROW("quantized::conv_transpose2d", CONV2D_PARAMS, NULL, .dimensions = 2, .transpose = true),
    CONV_ROW("quantized::conv_transpose3d", CONV3D_PARAMS, NULL, .dimensions = 3, .transpose = true),
    LEGACY_ROW("conv2d", CONV2D_PARAMS, .dimensions = 2),
    LEGACY_ROW("conv2d_relu", CONV2D_PARAMS, .dimensions = 2, .relu = true),
    LEGACY_ROW("conv3d", CONV3D_PARAMS, .dimensions = 3),
    LEGACY_ROW("conv3d_relu", CONV3D_PARAMS, .dimensions = 3, .relu = true),
    CONV_ROW("_quantized::conv2d", CONV2D_PARAMS, NULL, .dimensions = 2),
    CONV_ROW("_quantized::conv2d_relu", CONV2D_PARAMS, NULL, .dimensions = 2, .relu = true),
    CONV_ROW("_quantized::conv3d", CONV3D_PARAMS, NULL, .dimensions = 3),
    CONV_ROW("_quantized::conv3d_relu", CONV3D_PARAMS, NULL, .dimensions = 3, .relu = true),
    CONV_ROW("_quantized::conv_transpose1d", CONV2D_PARAMS, NULL, .dimensions = 1, .transpose = true),
    CONV_ROW("_quantized::conv_transpose2d", CONV2D_PARAMS, NULL, .dimensions = 2, .transpose = true),
    DYNAMIC_ROW("conv1d", CONV2D_PARAMS, .dimensions = 1),
    DYNAMIC_ROW("conv2d", CONV2D_PARAMS, .dimensions = 2),
    DYNAMIC_ROW("conv3d", CONV3D_PARAMS, .dimensions = 3),
    DYNAMIC_ROW("conv_transpose1d", CONV2D_PARAMS, .dimensions = 1, .transpose = true),
    DYNAMIC_ROW("conv_transpose2d", CONV2D_PARAMS, .dimensions = 2, .transpose = true),
    DYNAMIC_ROW("conv_transpose3d", CONV3D_PARAMS, .dimensions = 3, .transpose = true),
};
OP_TABLE(op_table_quantized_conv, rows);
