/* Convolutions: depthwise ones directly, a thread for each element; those of one place, and small ones, as a product of
 * the weights and the windows (im2col); others by cuDNN, or where it is not there in one of those ways. */
#include "cuda/cudnn.h"
#include "cuda/operators.h"
#include "cuda/products.h"

#include <stdlib.h>
#include <string.h>

#define SHAPE_TEXT                                                                                             \
  "struct shape { i64 batch, groups, in_channels, out_channels, in[3], out[3], kernel[3], stride[3], pad[3], " \
  "dilation[3]; };\n"

/* N0: transposed. */
static Source direct = SOURCE(
    SHAPE_TEXT
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, const A *x, const A *weight, "
    "A *r, const struct shape s) {\n"
    "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
    "  place rest = i;\n"
    "  int at[3];\n"
    "  if (i >= n) return;\n"
    "#pragma unroll\n"
    "  for (int d = 3; d-- > 0;) at[d] = (int)(rest % (place)s.out[d]), rest /= (place)s.out[d];\n"
    "  const int channel = (int)(rest % (place)s.out_channels), ins = (int)(s.in_channels / s.groups);\n"
    "  const int windows[3] = {(int)s.kernel[0], (int)s.kernel[1], (int)s.kernel[2]};\n"
    "  const int outs = (int)(s.out_channels / s.groups), group = channel / outs;\n"
    "  const place image = rest / (place)s.out_channels, window = (place)(windows[0] * windows[1] * windows[2]);\n"
    "  const place plane = (place)(s.in[0] * s.in[1] * s.in[2]);\n"
    "  const A *from = x + (image * (place)s.in_channels + (place)(group * ins)) * plane;\n"
    "  const A *by = weight + (N0 ? ((place)(group * ins * outs) + (place)(channel - group * outs)) * window\n"
    "                             : (place)channel * (place)ins * window);\n"
    "  const place next = N0 ? (place)outs * window : window;\n"
    "  value sum = 0;\n"
    "  int k[3];\n"
    "  place tap = 0;\n"
    "  for (k[0] = 0; k[0] < windows[0]; k[0]++)\n"
    "    for (k[1] = 0; k[1] < windows[1]; k[1]++)\n"
    "      for (k[2] = 0; k[2] < windows[2]; k[2]++, tap++) {\n"
    "        place place_in = 0;\n"
    "        int is_there = 1;\n"
    "#pragma unroll\n"
    "        for (int d = 0; d < 3; d++) {\n"
    "          const int step = (int)s.stride[d], size = (int)s.in[d];\n"
    "          int p = N0 ? at[d] + (int)s.pad[d] - k[d] * (int)s.dilation[d]\n"
    "                     : at[d] * step - (int)s.pad[d] + k[d] * (int)s.dilation[d];\n"
    "          if (N0) is_there &= p % step == 0, p /= step;\n"
    "          is_there &= p >= 0 && p < size;\n"
    "          place_in = place_in * (place)size + (place)p;\n"
    "        }\n"
    "        if (!is_there) continue;\n"
    "        for (int c = 0; c < ins; c++)\n"
    "          sum += A_load(from[(place)c * plane + place_in]) * A_load(by[(place)c * next + tap]);\n"
    "      }\n"
    "  r[i] = A_store(sum);\n"
    "}\n");

/* Depthwise, of two dimensions: a thread for each element, of a window that is known when this is compiled. N0, N1: the
 * window; N2: the stride of both dimensions, or 0: as the shape says; N3: one output for each input channel. */
static Source depthwise = SOURCE(
    SHAPE_TEXT
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, const A *x, const A *weight, "
    "A *r, const struct shape s) {\n"
    "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
    "  const place wide = (place)s.out[2], places = (place)s.out[1] * wide;\n"
    "  if (i >= n) return;\n"
    "  const place plane = i / places, at = i - plane * places, row = at / wide;\n"
    "  const place channel = plane % (place)s.out_channels, outs = N3 ? 1 : (place)(s.out_channels / s.groups);\n"
    "  const int high = (int)s.in[1], size = (int)s.in[2];\n"
    "  const int y0 = (int)row * (N2 ? N2 : (int)s.stride[1]) - (int)s.pad[1];\n"
    "  const int x0 = (int)(at - row * wide) * (N2 ? N2 : (int)s.stride[2]) - (int)s.pad[2];\n"
    "  const int down = (int)s.dilation[1], right = (int)s.dilation[2];\n"
    "  const A *from = x + (N3 ? plane : plane / (place)s.out_channels * (place)s.in_channels + channel / outs) *\n"
    "                          (place)(high * size);\n"
    "  const A *by = weight + channel * (N0 * N1);\n"
    "  value sum = 0;\n"
    "#pragma unroll\n"
    "  for (int ky = 0; ky < N0; ky++) {\n"
    "    const int py = y0 + ky * down;\n"
    "#pragma unroll\n"
    "    for (int kx = 0; kx < N1; kx++) {\n"
    "      const int px = x0 + kx * right;\n"
    "      if (py >= 0 && py < high && px >= 0 && px < size)\n"
    "        sum += A_load(from[py * size + px]) * A_load(by[ky * N1 + kx]);\n"
    "    }\n"
    "  }\n"
    "  r[i] = A_store(sum);\n"
    "}\n");

/* [in_channels * window, places of the output] of each image. */
static Source windows =
    SOURCE(SHAPE_TEXT
           "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, const A *x, A *r, "
           "const struct shape s) {\n"
           "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
           "  place rest = i, from = 0;\n"
           "  int at[3], k[3], is_there = 1;\n"
           "  if (i >= n) return;\n"
           "#pragma unroll\n"
           "  for (int d = 3; d-- > 0;) at[d] = (int)(rest % (place)s.out[d]), rest /= (place)s.out[d];\n"
           "#pragma unroll\n"
           "  for (int d = 3; d-- > 0;) k[d] = (int)(rest % (place)s.kernel[d]), rest /= (place)s.kernel[d];\n"
           "#pragma unroll\n"
           "  for (int d = 0; d < 3; d++) {\n"
           "    const int p = at[d] * (int)s.stride[d] - (int)s.pad[d] + k[d] * (int)s.dilation[d];\n"
           "    is_there &= p >= 0 && p < (int)s.in[d];\n"
           "    from = from * (place)s.in[d] + (place)p;\n"
           "  }\n"
           "  r[i] = is_there ? x[rest * (place)(s.in[0] * s.in[1] * s.in[2]) + from] : (A)0;\n"
           "}\n");

static int64_t volume(const int64_t *sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

static bool is_depthwise(const Conv *c) {
  return c->shape.in_channels == c->shape.groups && !c->is_transposed;
}

/* A product as it stands. */
static bool is_plain(const Conv *c) {
  const ConvShape *s = &c->shape;
  return s->groups == 1 && !c->is_transposed && volume(s->kernel) == 1 && volume(s->stride) == 1 && !s->pad[0] &&
         !s->pad[1] && !s->pad[2];
}

/* Such small ones that what cuDNN does around them would take longer. */
static bool is_small(const Conv *c) {
  const ConvShape *s = &c->shape;
  double depth = (double)(s->in_channels / s->groups * volume(s->kernel));
  return 2 * depth * (double)(s->batch * s->out_channels * volume(s->out)) <= 3e8;
}

/* ---- ways ---- */

static void convolve_directly(Work *w, const Conv *c) {
  ConvShape shape = c->shape;
  int64_t n = shape.batch * shape.out_channels * volume(shape.out),
          in = shape.batch * shape.in_channels * volume(shape.in);
  bool is_wide = n > INT32_MAX / 2 || in > INT32_MAX / 2;
  uint32_t narrow = (uint32_t)n;
  SourceUse use = {
      {(uint8_t)c->dtype, SOURCE_NO_DTYPE, SOURCE_NO_DTYPE}, source_type_of(c->dtype), is_wide, {c->is_transposed}};
  bool is_flat = is_depthwise(c) && volume(shape.kernel) <= 64 && shape.in[0] == 1 && shape.kernel[0] == 1 &&
                 shape.out[0] == 1 && shape.in[1] * shape.in[2] < INT32_MAX;
  if (is_flat) {
    const uint8_t stride = shape.stride[1] == shape.stride[2] && shape.stride[1] < 8 ? (uint8_t)shape.stride[1] : 0;
    const uint8_t numbers[] = {(uint8_t)shape.kernel[1], (uint8_t)shape.kernel[2], stride,
                               shape.in_channels == shape.out_channels};
    memcpy(use.numbers, numbers, sizeof numbers);
  }
  void *x = c->x, *weight = c->weight, *y = c->y;
  void *parameters[] = {is_wide ? (void *)&n : &narrow, &x, &weight, &y, &shape};
  work_launch(w, is_flat ? &depthwise : &direct, &use, n, parameters);
}

static void find_windows(Work *w, const Conv *c, int64_t images, const void *x, void *room) {
  ConvShape shape = c->shape;
  int64_t n = images * shape.in_channels * volume(shape.kernel) * volume(shape.out);
  size_t bytes = wick_dtype_bytes(c->dtype);
  bool is_wide = n > INT32_MAX / 2;
  uint32_t narrow = (uint32_t)n;
  SourceUse use = {{source_raw_dtype(bytes), SOURCE_NO_DTYPE, SOURCE_NO_DTYPE}, WICK_KERNEL_INT64, is_wide, {0}};
  void *parameters[] = {is_wide ? (void *)&n : &narrow, &x, &room, &shape};
  work_launch(w, &windows, &use, n, parameters);
}

/* As many images at once as fit into a room of some size. */
static void convolve_by_products(Work *w, const Conv *c) {
  enum { MOST_ROOM = 256 << 20 };
  const ConvShape *s = &c->shape;
  size_t item = wick_dtype_bytes(c->dtype);
  int64_t places = volume(s->out), depth = s->in_channels * volume(s->kernel);
  bool plain = is_plain(c);
  enum Precision precision = c->allows_tf32 && !is_small(c) ? TF32 : PRECISE;
  size_t each = (size_t)(depth * places) * item;
  int64_t at_once = plain || each * (size_t)s->batch <= MOST_ROOM ? s->batch : (int64_t)(MOST_ROOM / each);
  void *room = NULL;
  if (at_once < 1) at_once = 1;
  if (!plain && each) work_take(w, card_allocate(NULL, w->card->index, each * (size_t)at_once, &room, w->error));
  for (int64_t begin = 0; begin < s->batch && each && !w->status; begin += at_once) {
    int64_t images = s->batch - begin < at_once ? s->batch - begin : at_once;
    void *x = (char *)c->x + (size_t)(begin * s->in_channels * volume(s->in)) * item;
    void *y = (char *)c->y + (size_t)(begin * s->out_channels * places) * item;
    if (!plain) find_windows(w, c, images, x, room);
    const Matrices weights = {images, s->out_channels, depth, 0, depth, 1, c->weight};
    const Matrices columns = {images, depth, places, depth * places, places, 1, plain ? x : room};
    const Matrices out = {images, s->out_channels, places, s->out_channels * places, places, 1, y};
    if (!w->status)
      work_take(w, multiply(w->card->index, c->dtype, precision, &weights, &columns, &out, 1, 0, w->error));
  }
  if (room) card_free(NULL, w->card->index, room, each * (size_t)at_once);
}

static void add_bias(Work *w, const Conv *c) {
  wick_value *bias = work_argument(w, 2), *one = work_hold(w, wick_value_int(-1)), *shape = NULL;
  wick_value *rest = work_hold(w, wick_value_int(1));
  if (!c->bias) return;
  const wick_value *sizes[] = {one, rest, rest, rest};
  if (wick_value_list(sizes, (size_t)c->dims + 1, &shape, NULL)) shape = NULL;
  const wick_value *arguments[] = {bias, work_hold(w, shape)};
  wick_value *spread = work_call(w, "aten::view", NULL, arguments, 2);
  work_call(w, "aten::add_", "Tensor", (const wick_value *const[]){w->targets[0], spread}, 2);
}

static void convolve(Work *w, const Conv *c) {
  const ConvShape *s = &c->shape;
  if (!s->batch || !s->out_channels || !volume(s->out)) return;
  bool is_product = s->groups == 1 && !c->is_transposed;
  bool is_own = is_depthwise(c) || is_plain(c) || (is_product && is_small(c));
  wick_status status = is_own ? WICK_UNSUPPORTED : cudnn_convolve(w->card, c, w->error);
  if (status == WICK_UNSUPPORTED) {
    if (is_product)
      convolve_by_products(w, c);
    else
      convolve_directly(w, c);
  } else {
    work_take(w, status);
  }
  add_bias(w, c);
}

/* ---- arguments ---- */

/* Where a schema has them; -1: nowhere. */
typedef struct Places {
  int stride, padding, dilation, groups, transposed;
  bool is_transposed;
} Places;
enum { IN_SHORT, IN_TRANSPOSED, IN_FULL };
static const Places places_of[] = {
    [IN_SHORT] = {3, 4, 5, 6, -1, false}, [IN_TRANSPOSED] = {3, 4, 7, 6, -1, true}, [IN_FULL] = {3, 4, 5, 8, 6, false}};

static void read_sizes(Work *w, int argument, int dims, int64_t otherwise, int64_t *out) {
  int64_t given[3];
  int count = work_ints(w, (size_t)argument, given, 3);
  for (int d = 0; d < 3; d++) out[d] = otherwise;
  for (int d = 0; d < dims && count; d++) out[3 - dims + d] = given[count == 1 ? 0 : d];
}

/* "same": what the output lacks of the input's size, the smaller half before; "valid": none. */
static void read_padding(Work *w, int argument, int dims, ConvShape *s) {
  wick_value *v = work_argument(w, (size_t)argument);
  if (v && wick_value_kind(v) != WICK_STRING) return read_sizes(w, argument, dims, 0, s->pad);
  bool is_same = v && !strcmp(wick_value_to_string(v, NULL), "same");
  for (int d = 0; d < 3; d++) s->pad[d] = is_same ? s->dilation[d] * (s->kernel[d] - 1) / 2 : 0;
}

static void spatial(const wick_tensor_view *t, int dims, int64_t *out) {
  for (int d = 0; d < 3; d++) out[d] = d < 3 - dims ? 1 : t->sizes[t->ndim - 3 + d];
}

/* As PyTorch has it by default; WICK_CUDA_TF32=0 forbids it, and so may the program. */
static bool allows_tf32(Work *w) {
  enum { OWN = 12 }; /* of aten::_convolution */
  const char *text = getenv("WICK_CUDA_TF32");
  return (!text || strcmp(text, "0") != 0) && (work_argument_count(w) <= OWN || work_int(w, OWN));
}

static void convolution(Work *w, int variant) {
  const Places *p = &places_of[variant];
  wick_tensor_view x, weight, bias, y;
  Conv c = {.dtype = 0};
  ConvShape *s = &c.shape;
  if (!work_tensor(w, 0, true, &x) || !work_tensor(w, 1, true, &weight) || !work_result(w, 0, &y)) return;
  int dims = weight.ndim - 2;
  if (dims < 1 || dims > 3 || x.dtype != weight.dtype || source_type_of(x.dtype) == WICK_KERNEL_INT64)
    return work_refuse(w, "CUDA: a convolution of %d dimensions, of %s by %s", dims, wick_dtype_name(x.dtype),
                       wick_dtype_name(weight.dtype));
  c.allows_tf32 = allows_tf32(w);
  c.is_transposed = p->transposed < 0 ? p->is_transposed : work_int(w, (size_t)p->transposed);
  c.dtype = x.dtype;
  c.dims = dims;
  s->batch = x.ndim == dims + 2 ? x.sizes[0] : 1;
  s->in_channels = x.sizes[x.ndim - dims - 1];
  s->out_channels = y.sizes[y.ndim - dims - 1];
  spatial(&x, dims, s->in);
  spatial(&y, dims, s->out);
  spatial(&weight, dims, s->kernel);
  s->groups = work_int(w, (size_t)p->groups);
  read_sizes(w, p->stride, dims, 1, s->stride);
  read_sizes(w, p->dilation, dims, 1, s->dilation);
  read_padding(w, p->padding, dims, s);
  c.bias = work_tensor(w, 2, true, &bias) ? bias.data : NULL;
  c.x = x.data, c.weight = weight.data, c.y = y.data;
  if (!w->status) convolve(w, &c);
}

const OperatorKernel convolution_kernels[] = {
    {"aten::conv1d", convolution, IN_SHORT, true},
    {"aten::conv2d", convolution, IN_SHORT, true},
    {"aten::conv3d", convolution, IN_SHORT, true},
    {"aten::conv1d.padding", convolution, IN_SHORT, true},
    {"aten::conv2d.padding", convolution, IN_SHORT, true},
    {"aten::conv3d.padding", convolution, IN_SHORT, true},
    {"aten::_convolution_mode", convolution, IN_SHORT, true},
    {"aten::conv_transpose1d", convolution, IN_TRANSPOSED, true},
    {"aten::conv_transpose2d.input", convolution, IN_TRANSPOSED, true},
    {"aten::conv_transpose3d.input", convolution, IN_TRANSPOSED, true},
    {"aten::convolution", convolution, IN_FULL, true},
    {"aten::_convolution", convolution, IN_FULL, true},
    {"aten::_convolution.deprecated", convolution, IN_FULL, true},
    {0},
};
