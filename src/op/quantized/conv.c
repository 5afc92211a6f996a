/* Convolutions of quantized weights, one to three dimensions, also transposed. Channels are innermost: the patches of
 * some output pixels are laid out as rows of bytes and multiplied with the packed weights; what lies outside is the
 * zero point, which adds nothing. One input channel a group goes tap by tap without patches. */
#include <math.h>

#include "base/parallel.h"
#include "op/quantized/packed.h"

typedef struct Conv {
  const ConvParams *p;
  const LayerInput *input;
  const LayerOutput *output;
  int64_t batch, in[3], out[3], kernel[3], stride[3], padding[3], dilation[3]; /* three dimensions, first ones of 1 */
  int64_t pixels;                                                              /* of one image */
  int64_t depth, ld;                                                           /* bytes of a patch, and of its row */
  uint8_t *to;
  bool direct; /* the input's pixels are the patches */
  _Atomic bool failed;
} Conv;

/* Input position of output position o under tap k; false: outside. */
static inline bool position(const Conv *v, int d, int64_t o, int64_t k, int64_t *out) {
  int64_t at;
  if (v->p->transpose) {
    at = o + v->padding[d] - k * v->dilation[d];
    if (at < 0 || at % v->stride[d]) return false;
    at /= v->stride[d];
  } else {
    at = o * v->stride[d] - v->padding[d] + k * v->dilation[d];
  }
  *out = at;
  return at >= 0 && at < v->in[d];
}

static void copy_channels(uint8_t *to, const uint8_t *from, int64_t n) {
  if (n >= 16) {
    memcpy(to, from, (size_t)n);
    return;
  }
  for (int64_t i = 0; i < n; i++) to[i] = from[i];
}

/* The taps of one line (depth and height known): a run of neighbors is one copy. */
static void gather_line(const Conv *v, uint8_t *to, const uint8_t *line, int64_t x, int64_t channels, int64_t first,
                        int64_t count) {
  int64_t taps = v->kernel[2];
  bool whole = count == channels && v->dilation[2] == 1 && !v->p->transpose;
  if (whole) {
    int64_t start = x * v->stride[2] - v->padding[2], low = start < 0 ? -start : 0,
            high = v->in[2] - start < taps ? v->in[2] - start : taps;
    low = low > taps ? taps : low;
    high = high < low ? low : high;
    memset(to, v->input->zero, (size_t)(low * channels));
    if (high > low) copy_channels(to + low * channels, line + (start + low) * channels, (high - low) * channels);
    memset(to + high * channels, v->input->zero, (size_t)((taps - high) * channels));
    return;
  }
  for (int64_t k = 0; k < taps; k++, to += count) {
    int64_t at;
    if (position(v, 2, x, k, &at))
      copy_channels(to, line + at * channels + first, count);
    else
      memset(to, v->input->zero, (size_t)count);
  }
}

/* The patch of output pixel (z, y, x) of an image: `count` channels from `first` on. */
static void gather_patch(const Conv *v, uint8_t *to, const uint8_t *image, int64_t pixel, int64_t first,
                         int64_t count) {
  int64_t channels = v->p->inputs, x = pixel % v->out[2], y = pixel / v->out[2] % v->out[1],
          z = pixel / v->out[2] / v->out[1], line_bytes = v->kernel[2] * count;
  for (int64_t kz = 0; kz < v->kernel[0]; kz++) {
    int64_t iz = 0, iy = 0;
    bool in_depth = position(v, 0, z, kz, &iz);
    for (int64_t ky = 0; ky < v->kernel[1]; ky++, to += line_bytes) {
      if (in_depth && position(v, 1, y, ky, &iy))
        gather_line(v, to, image + (iz * v->in[1] + iy) * v->in[2] * channels, x, channels, first, count);
      else
        memset(to, v->input->zero, (size_t)line_bytes);
    }
  }
}

static int64_t image_bytes(const Conv *v) {
  return v->in[0] * v->in[1] * v->in[2] * v->p->inputs;
}

/* Pixels [begin, end) counted over all images. */
static void run_pixels(void *argument, int64_t begin, int64_t end) {
  Conv *v = argument;
  const ConvParams *p = v->p;
  int64_t inputs = p->inputs / p->groups, outputs = p->outputs / p->groups;
  int32_t *scratch = mem_alloc(LAYER_SCRATCH * sizeof *scratch);
  uint8_t *patches = v->direct ? NULL : mem_calloc((size_t)LAYER_ROWS, (size_t)v->ld);
  if (!scratch || (!patches && !v->direct)) {
    atomic_store(&v->failed, true);
    end = begin;
  }
  const uint8_t *bytes = tensor_data(v->input->bytes);
  for (int64_t at = begin; at < end;) {
    int64_t count = end - at < LAYER_ROWS ? end - at : LAYER_ROWS;
    uint8_t *to = v->to + at * p->outputs;
    for (int64_t g = 0; g < p->groups; g++) {
      for (int64_t i = 0; i < count && !v->direct; i++)
        gather_patch(v, patches + i * v->ld, bytes + (at + i) / v->pixels * image_bytes(v), (at + i) % v->pixels,
                     g * inputs, inputs);
      layer_run_here(&p->layer, v->output, (int)g, count, v->direct ? bytes + at * p->inputs : patches,
                     v->direct ? p->inputs : v->ld, to + g * outputs, p->outputs, scratch);
    }
    at += count;
  }
  mem_free(patches);
  mem_free(scratch);
}

static void depthwise_pixel(const Conv *v, const uint8_t *image, int64_t pixel, int32_t *sums) {
  const QuantizedLoops *loops = quantized_loops();
  int64_t channels = v->p->inputs, x = pixel % v->out[2], y = pixel / v->out[2] % v->out[1],
          z = pixel / v->out[2] / v->out[1];
  const int16_t *w = v->p->depthwise;
  memset(sums, 0, (size_t)channels * sizeof *sums);
  for (int64_t kz = 0; kz < v->kernel[0]; kz++)
    for (int64_t ky = 0; ky < v->kernel[1]; ky++)
      for (int64_t kx = 0; kx < v->kernel[2]; kx++, w += channels) {
        int64_t iz, iy, ix;
        if (!position(v, 0, z, kz, &iz) || !position(v, 1, y, ky, &iy) || !position(v, 2, x, kx, &ix)) continue;
        loops->multiply_add(channels, sums, image + ((iz * v->in[1] + iy) * v->in[2] + ix) * channels, v->input->zero,
                            w);
      }
}

/* The sums are free of the weights' zero points: no row sum is taken off. */
static void run_depthwise(void *argument, int64_t begin, int64_t end) {
  Conv *v = argument;
  const ConvParams *p = v->p;
  int32_t *sums = mem_alloc((size_t)(p->outputs + 16) * sizeof *sums);
  if (!sums) atomic_store(&v->failed, true);
  const uint8_t *bytes = tensor_data(v->input->bytes);
  for (int64_t at = begin; at < end && sums; at++) {
    depthwise_pixel(v, bytes + at / v->pixels * image_bytes(v), at % v->pixels, sums);
    layer_output_row(v->output, &p->layer, 0, p->outputs, sums, 0, v->to + at * p->outputs);
  }
  mem_free(sums);
}

static Status run(Conv *v, const Exec *exec) {
  const ConvParams *p = v->p;
  int64_t work = (v->depth + 1) * (p->outputs + 1), grain = 1 + (1 << 20) / (work + 1);
  if (p->depthwise)
    parallel_for(exec->threads, v->batch * v->pixels, grain, run_depthwise, v);
  else
    parallel_for(exec->threads, v->batch * v->pixels, grain < LAYER_ROWS ? LAYER_ROWS : grain, run_pixels, v);
  return atomic_load(&v->failed) ? status_out_of_memory() : exec_attend(exec);
}

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

static Status set_up(const Call *c, const ConvParams *p, const Tensor *x, Conv *v, int64_t *sizes) {
  *v = (Conv){.p = p, .batch = x->sizes[0]};
  int missing = 3 - p->spatial;
  sizes[0] = x->sizes[0];
  sizes[1] = p->outputs;
  for (int d = 0; d < 3; d++) v->in[d] = v->out[d] = v->kernel[d] = v->stride[d] = v->dilation[d] = 1;
  for (int i = 0; i < p->spatial; i++) {
    int d = i + missing;
    v->in[d] = x->sizes[2 + i];
    v->kernel[d] = p->kernel[i];
    v->stride[d] = p->stride[i];
    v->padding[d] = p->padding[i];
    v->dilation[d] = p->dilation[i];
    TRY(output_size(c, p, i, v->in[d], &v->out[d]));
    sizes[2 + i] = v->out[d];
  }
  v->pixels = v->out[0] * v->out[1] * v->out[2];
  v->depth = p->layer.depth;
  v->ld = (v->depth + QGEMM_DEPTH - 1) / QGEMM_DEPTH * QGEMM_DEPTH;
  bool pointwise = p->groups == 1 && p->inputs % QGEMM_DEPTH == 0;
  for (int d = 0; d < 3; d++) pointwise &= v->kernel[d] == 1 && v->stride[d] == 1 && v->padding[d] == 0;
  v->direct = pointwise && !p->transpose;
  return OK;
}

static void innermost_channels(int ndim, int64_t *order) {
  order[0] = 0;
  for (int i = 1; i < ndim - 1; i++) order[i] = i + 1;
  order[ndim - 1] = 1;
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
  Conv v;
  LayerOutput output = {0};
  int64_t sizes[TENSOR_MAX_DIMS];
  *out = NULL;
  TRY(set_up(c, p, x, &v, sizes));
  Status status = layer_output_integers(c, &p->layer, input, dtype, scale, zero, relu, p->depthwise != NULL, &output);
  if (!status) status = new_output(p, sizes, dtype, scale, zero, out);
  if (!status && (*out)->numel) {
    v.input = input;
    v.output = &output;
    v.to = tensor_data(*out);
    status = run(&v, c->exec);
  }
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

static Status conv_static(Call *c, Layer layer) { /* (qx, packed, ..., scale, zero_point) */
  const ConvParams *p;
  Tensor *x, *out;
  LayerInput input = {0};
  int64_t order[TENSOR_MAX_DIMS];
  TRY(packed_conv_params(call_value(c, 1), layer.dimensions == 3 ? 3 : 2, &p));
  TRY(expect_transpose(c, p, layer.transpose));
  TRY(widened(c, layer.dimensions, call_tensor(c, 0), &x));
  innermost_channels(x->ndim, order);
  Status status = check_input(c, p, x);
  if (!status) status = layer_input(c, x, order, &input);
  if (!status)
    status = convolve(c, p, x, &input, (DType)x->dtype, call_double(c, layer.scale), call_int(c, layer.scale + 1),
                      layer.relu, &out);
  layer_input_dispose(&input);
  tensor_release(x);
  return status ? status : set_result(c, layer.dimensions, out);
}

/* (x, packed, reduce_range): the result is quantized as the input was, and made numbers again. */
static Status conv_dynamic(Call *c, Layer layer) {
  const ConvParams *p;
  Tensor *x, *out, *numbers;
  LayerInput input = {0};
  int64_t order[TENSOR_MAX_DIMS];
  TRY(packed_conv_params(call_value(c, 1), layer.dimensions == 3 ? 3 : 2, &p));
  TRY(expect_transpose(c, p, layer.transpose));
  TRY(widened(c, layer.dimensions, call_tensor(c, 0), &x));
  innermost_channels(x->ndim, order);
  Status status = check_input(c, p, x);
  bool reduce_range = call_bool(c, 2);
  if (!status) status = layer_input_dynamic(c, x, reduce_range, order, &input);
  if (!status) status = convolve(c, p, x, &input, DTYPE_QUINT8, input.scale, input.zero, false, &out);
  layer_input_dispose(&input);
  tensor_release(x);
  TRY(status);
  status = tensor_dequantize(out, &numbers);
  tensor_release(out);
  return status ? status : set_result(c, layer.dimensions, numbers);
}

#define CONV(name, dimensions, relu, transpose)                     \
  static Status kernel_##name(Call *c) {                            \
    return conv_static(c, (Layer){dimensions, relu, transpose, 2}); \
  }
#define CONV_LEGACY(name, dimensions, relu)                     \
  static Status kernel_##name##_legacy(Call *c) {               \
    return conv_static(c, (Layer){dimensions, relu, false, 6}); \
  }
#define CONV_DYNAMIC(name, dimensions, transpose)                     \
  static Status kernel_##name##_dynamic(Call *c) {                    \
    return conv_dynamic(c, (Layer){dimensions, false, transpose, 0}); \
  }
CONV(conv1d, 1, false, false)
CONV(conv2d, 2, false, false)
CONV(conv3d, 3, false, false)
CONV(conv1d_relu, 1, true, false)
CONV(conv2d_relu, 2, true, false)
CONV(conv3d_relu, 3, true, false)
CONV(conv_transpose1d, 1, false, true)
CONV(conv_transpose2d, 2, false, true)
CONV(conv_transpose3d, 3, false, true)
CONV_LEGACY(conv2d, 2, false)
CONV_LEGACY(conv2d_relu, 2, true)
CONV_LEGACY(conv3d, 3, false)
CONV_LEGACY(conv3d_relu, 3, true)
CONV_DYNAMIC(conv1d, 1, false)
CONV_DYNAMIC(conv2d, 2, false)
CONV_DYNAMIC(conv3d, 3, false)
CONV_DYNAMIC(conv_transpose1d, 1, true)
CONV_DYNAMIC(conv_transpose2d, 2, true)
CONV_DYNAMIC(conv_transpose3d, 3, true)

#define CONV_ROW(space, name, overload, class_name, kernel_function)                        \
  {                                                                                         \
    .schema = space "::" name overload "(Tensor qx, " class_name                            \
                    " packed_weight, float output_scale, int output_zero_point) -> Tensor", \
    .kernel = kernel_function, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED         \
  }
#define LEGACY_ROW(name, class_name, kernel_function)                                                      \
  {                                                                                                        \
    .schema = "quantized::" name "(Tensor qx, " class_name                                                 \
              " weight, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int " \
              "output_zero_point) -> Tensor",                                                              \
    .kernel = kernel_function, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED                        \
  }
#define DYNAMIC_ROW(name, class_name)                                 \
  {                                                                   \
    .schema = "quantized::" #name "_dynamic(Tensor qx, " class_name   \
              " packed_weight, bool reduce_range=False) -> "          \
              "Tensor",                                               \
    .kernel = kernel_##name##_dynamic, .flags = OP_NOT_DIFFERENTIABLE \
  }

static const OpRow rows[] = {
    CONV_ROW("quantized", "conv1d", "", CONV2D_PARAMS, kernel_conv1d),
    CONV_ROW("quantized", "conv1d_relu", "", CONV2D_PARAMS, kernel_conv1d_relu),
    CONV_ROW("quantized", "conv2d", ".new", CONV2D_PARAMS, kernel_conv2d),
    CONV_ROW("quantized", "conv2d_relu", ".new", CONV2D_PARAMS, kernel_conv2d_relu),
    CONV_ROW("quantized", "conv3d", ".new", CONV3D_PARAMS, kernel_conv3d),
    CONV_ROW("quantized", "conv3d_relu", ".new", CONV3D_PARAMS, kernel_conv3d_relu),
    CONV_ROW("quantized", "conv_transpose1d", "", CONV2D_PARAMS, kernel_conv_transpose1d),
    CONV_ROW("quantized", "conv_transpose2d", "", CONV2D_PARAMS, kernel_conv_transpose2d),
    CONV_ROW("quantized", "conv_transpose3d", "", CONV3D_PARAMS, kernel_conv_transpose3d),
    LEGACY_ROW("conv2d", CONV2D_PARAMS, kernel_conv2d_legacy),
    LEGACY_ROW("conv2d_relu", CONV2D_PARAMS, kernel_conv2d_relu_legacy),
    LEGACY_ROW("conv3d", CONV3D_PARAMS, kernel_conv3d_legacy),
    LEGACY_ROW("conv3d_relu", CONV3D_PARAMS, kernel_conv3d_relu_legacy),
    CONV_ROW("_quantized", "conv2d", "", CONV2D_PARAMS, kernel_conv2d),
    CONV_ROW("_quantized", "conv2d_relu", "", CONV2D_PARAMS, kernel_conv2d_relu),
    CONV_ROW("_quantized", "conv3d", "", CONV3D_PARAMS, kernel_conv3d),
    CONV_ROW("_quantized", "conv3d_relu", "", CONV3D_PARAMS, kernel_conv3d_relu),
    CONV_ROW("_quantized", "conv_transpose1d", "", CONV2D_PARAMS, kernel_conv_transpose1d),
    CONV_ROW("_quantized", "conv_transpose2d", "", CONV2D_PARAMS, kernel_conv_transpose2d),
    DYNAMIC_ROW(conv1d, CONV2D_PARAMS),
    DYNAMIC_ROW(conv2d, CONV2D_PARAMS),
    DYNAMIC_ROW(conv3d, CONV3D_PARAMS),
    DYNAMIC_ROW(conv_transpose1d, CONV2D_PARAMS),
    DYNAMIC_ROW(conv_transpose2d, CONV2D_PARAMS),
    DYNAMIC_ROW(conv_transpose3d, CONV3D_PARAMS),
};
OP_TABLE(op_table_quantized_conv, rows);
