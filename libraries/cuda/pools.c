/* Pooling, and padding by what is there: each element of the result looks at a window. One, two or three dimensions are
 * three. */
#include "cuda/operators.h"

/* ORDER pool, as the kernel's N0 */
enum { POOL_MAX, POOL_AVERAGE, POOL_ADAPTIVE_AVERAGE, POOL_ADAPTIVE_MAX };
/* As the kernel has it. */
typedef struct Window {
  int64_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3], divisor, counts_pad;
} Window;

static Source source = SOURCE(
    "enum { MAX, AVERAGE, ADAPTIVE_AVERAGE, ADAPTIVE_MAX };\n"
    "struct window { i64 in[3], out[3], kernel[3], stride[3], pad[3], dilation[3], divisor, counts_pad; };\n"
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, const A *a, A *r, i64 *indices, "
    "const struct window w) {\n"
    "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
    "  int begin[3], end[3], step[3], places = 1;\n"
    "  place rest = i;\n"
    "  if (i >= n) return;\n"
    "#pragma unroll\n"
    "  for (int d = 3; d-- > 0;) {\n"
    "    const int x = (int)(rest % (place)w.out[d]), size = (int)w.in[d], out = (int)w.out[d];\n"
    "    rest /= (place)w.out[d];\n"
    "    if (N0 >= ADAPTIVE_AVERAGE) {\n"
    "      begin[d] = (int)((i64)x * size / out);\n"
    "      end[d] = (int)(((i64)(x + 1) * size + out - 1) / out);\n"
    "      step[d] = 1;\n"
    "    } else {\n"
    "      begin[d] = x * (int)w.stride[d] - (int)w.pad[d];\n"
    "      step[d] = N0 == MAX ? (int)w.dilation[d] : 1;\n"
    "      end[d] = begin[d] + ((int)w.kernel[d] - 1) * step[d] + 1;\n"
    "      if (N0 == AVERAGE) {\n"
    "        const int last = size + (int)w.pad[d];\n"
    "        places *= (end[d] < last ? end[d] : last) - begin[d];\n"
    "      }\n"
    "      while (begin[d] < 0) begin[d] += step[d];\n"
    "      if (end[d] > size) end[d] = size;\n"
    "    }\n"
    "  }\n"
    "  const place plane = (place)w.in[1] * (place)w.in[2], base = rest * (place)w.in[0] * plane;\n"
    "  value v = 0;\n"
    "  i64 best = -1;\n"
    "  int count = 0;\n"
    "  for (int z = begin[0]; z < end[0]; z += step[0])\n"
    "    for (int y = begin[1]; y < end[1]; y += step[1])\n"
    "      for (int x = begin[2]; x < end[2]; x += step[2]) {\n"
    "        const place at = (place)z * plane + (place)y * (place)w.in[2] + (place)x;\n"
    "        const value found = A_load(a[base + at]);\n"
    "        count++;\n"
    "        if (N0 == AVERAGE || N0 == ADAPTIVE_AVERAGE) v += found;\n"
    "        else if (best < 0 || found > v || found != found) v = found, best = (i64)at;\n"
    "      }\n"
    "  if (N0 == ADAPTIVE_AVERAGE) v /= (value)count;\n"
    "  if (N0 == AVERAGE) v /= (value)(w.divisor ? w.divisor : w.counts_pad ? places : count);\n"
    "  r[i] = A_store(v);\n"
    "  if (N0 == MAX || N0 == ADAPTIVE_MAX) indices[i] = best;\n"
    "}\n");

/* Fewer numbers than dimensions are one for all. */
static void spread(Work *w, size_t argument, int dims, int64_t otherwise, int64_t *out) {
  int64_t given[3];
  int count = argument < work_argument_count(w) ? work_ints(w, argument, given, 3) : 0;
  for (int d = 0; d < 3; d++) out[d] = otherwise;
  for (int d = 0; d < dims && count; d++) out[3 - dims + d] = given[count == 1 ? 0 : d];
}

static void sizes_of(const wick_tensor_view *t, int dims, int64_t *out) {
  for (int d = 0; d < 3; d++) out[d] = d < 3 - dims ? 1 : t->sizes[t->ndim - 3 + d];
}

static void launch(Work *w, int kind, const Window *window, const wick_tensor_view *from, const wick_tensor_view *to,
                   void *indices) {
  int64_t n = view_count(to);
  bool is_wide = n > INT32_MAX / 2 || view_count(from) > INT32_MAX / 2;
  uint32_t narrow = (uint32_t)n;
  SourceUse use = {
      {(uint8_t)from->dtype, SOURCE_NO_DTYPE, SOURCE_NO_DTYPE}, source_type_of(from->dtype), is_wide, {(uint8_t)kind}};
  Window copy = *window;
  void *in = from->data, *out = to->data;
  void *parameters[] = {is_wide ? (void *)&n : &narrow, &in, &out, &indices, &copy};
  work_launch(w, &source, &use, n, parameters);
}

static void pool(Work *w, int variant) {
  int kind = variant >> 4, dims = variant & 15;
  Window window = {.counts_pad = 1};
  wick_tensor_view from, to, indices = {.size = sizeof indices};
  if (!work_tensor(w, 0, true, &from) || !work_result(w, 0, &to)) return;
  if (kind == POOL_MAX && !work_result(w, 1, &indices)) return;
  sizes_of(&from, dims, window.in);
  sizes_of(&to, dims, window.out);
  spread(w, 1, dims, 1, window.kernel);
  spread(w, 2, dims, 0, window.stride);
  for (int d = 0; d < 3; d++)
    if (!window.stride[d]) window.stride[d] = window.kernel[d];
  spread(w, 3, dims, 0, window.pad);
  spread(w, kind == POOL_MAX ? 4 : 99, dims, 1, window.dilation);
  if (kind == POOL_AVERAGE) {
    window.counts_pad = work_int(w, 5);
    window.divisor = work_argument_count(w) > 6 && !work_is_none(w, 6) ? work_int(w, 6) : 0;
  }
  launch(w, kind, &window, &from, &to, indices.data);
}

static void adaptive(Work *w, int variant) {
  int kind = variant >> 4, dims = variant & 15;
  Window window = {.counts_pad = 1};
  wick_tensor_view from, to, indices = {.size = sizeof indices};
  if (!work_tensor(w, 0, true, &from) || !work_result(w, 0, &to)) return;
  if (kind == POOL_ADAPTIVE_MAX && !work_result(w, 1, &indices)) return;
  sizes_of(&from, dims, window.in);
  sizes_of(&to, dims, window.out);
  launch(w, kind, &window, &from, &to, indices.data);
}

/* ---- padding, and nearest elements: one element of the input for each of the result ---- */

/* ORDER source, as the kernel's N0 */
enum { PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR, NEAREST };
static Source pad_source = SOURCE(
    "enum { REFLECT, REPLICATE, CIRCULAR, NEAREST };\n"
    "struct window { i64 in[3], out[3], kernel[3], stride[3], pad[3], dilation[3], divisor, counts_pad; };\n"
    "struct scales { f32 by[3]; };\n"
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, const A *a, A *r, "
    "const struct window w, const struct scales s) {\n"
    "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
    "  place rest = i, at = 0, step = 1;\n"
    "  if (i >= n) return;\n"
    "#pragma unroll\n"
    "  for (int d = 3; d-- > 0;) {\n"
    "    const i64 size = w.in[d], out = (i64)(rest % (place)w.out[d]);\n"
    "    i64 x = out - w.pad[d];\n"
    "    rest /= (place)w.out[d];\n"
    "    if (N0 == REFLECT) x = x < 0 ? -x : x >= size ? 2 * size - 2 - x : x;\n"
    "    if (N0 == REPLICATE) x = x < 0 ? 0 : x >= size ? size - 1 : x;\n"
    "    if (N0 == CIRCULAR) x = x < 0 ? x + size : x >= size ? x - size : x;\n"
    "    if (N0 == NEAREST) {\n"
    "      x = (i64)floorf((f32)out * s.by[d]);\n"
    "      if (x > size - 1) x = size - 1;\n"
    "    }\n"
    "    at += (place)x * step;\n"
    "    step *= (place)size;\n"
    "  }\n"
    "  r[i] = a[at + rest * step];\n"
    "}\n");

static void move(Work *w, int kind, const Window *window, const float *scales, const wick_tensor_view *from,
                 const wick_tensor_view *to) {
  size_t bytes = wick_dtype_bytes(from->dtype);
  int64_t n = view_count(to);
  bool is_wide = n > INT32_MAX / 2 || view_count(from) > INT32_MAX / 2;
  uint32_t narrow = (uint32_t)n;
  if (bytes > 8) return work_refuse(w, "CUDA: padding of %s", wick_dtype_name(from->dtype));
  SourceUse use = {
      {source_raw_dtype(bytes), SOURCE_NO_DTYPE, SOURCE_NO_DTYPE}, WICK_KERNEL_INT64, is_wide, {(uint8_t)kind}};
  Window copy = *window;
  float by[3] = {scales[0], scales[1], scales[2]};
  void *in = from->data, *out = to->data;
  void *parameters[] = {is_wide ? (void *)&n : &narrow, &in, &out, &copy, by};
  work_launch(w, &pad_source, &use, n, parameters);
}

static void pad(Work *w, int kind) {
  static const float none[3] = {0};
  Window window = {.divisor = 0};
  wick_tensor_view from, to;
  int64_t given[6];
  if (!work_tensor(w, 0, true, &from) || !work_result(w, 0, &to)) return;
  int count = work_ints(w, 1, given, 6), dims = count / 2;
  if (dims > from.ndim) return work_refuse(w, "CUDA: padding of more dimensions than there are");
  for (int d = 0; d < 3; d++) window.in[d] = window.out[d] = 1;
  for (int d = 0; d < dims; d++) { /* the last dimension's come first */
    window.in[2 - d] = from.sizes[from.ndim - 1 - d];
    window.out[2 - d] = to.sizes[to.ndim - 1 - d];
    window.pad[2 - d] = given[2 * d];
  }
  move(w, kind, &window, none, &from, &to);
}

/* Where scales are given they say which element is nearest, else the sizes. */
static void nearest(Work *w, int variant) {
  int dims = variant & 15;
  bool has_list = variant >> 4;
  Window window = {.divisor = 0};
  wick_tensor_view from, to;
  float by[3];
  if (!work_tensor(w, 0, true, &from) || !work_result(w, 0, &to)) return;
  sizes_of(&from, dims, window.in);
  sizes_of(&to, dims, window.out);
  wick_value *list = has_list ? work_argument(w, 2) : NULL;
  for (int d = 0; d < 3; d++) {
    int own = d - (3 - dims);
    double scale = 0;
    if (own >= 0 && list && wick_value_kind(list) == WICK_LIST) {
      wick_value *item = work_hold(w, wick_value_item(list, (size_t)own));
      scale = item ? wick_value_to_double(item) : 0;
    } else if (own >= 0 && !has_list && !work_is_none(w, (size_t)(2 + own))) {
      scale = work_real(w, (size_t)(2 + own));
    }
    by[d] = scale > 0 ? (float)(1 / scale) : (float)window.in[d] / (float)window.out[d];
  }
  move(w, NEAREST, &window, by, &from, &to);
}

#define POOL(kind, dims) ((kind) << 4 | (dims))
const OperatorKernel pooling_kernels[] = {
    {"aten::max_pool1d_with_indices", pool, POOL(POOL_MAX, 1), true},
    {"aten::max_pool2d_with_indices", pool, POOL(POOL_MAX, 2), true},
    {"aten::max_pool3d_with_indices", pool, POOL(POOL_MAX, 3), true},
    {"aten::avg_pool1d", pool, POOL(POOL_AVERAGE, 1), true},
    {"aten::avg_pool2d", pool, POOL(POOL_AVERAGE, 2), true},
    {"aten::avg_pool3d", pool, POOL(POOL_AVERAGE, 3), true},
    {"aten::adaptive_avg_pool1d", adaptive, POOL(POOL_ADAPTIVE_AVERAGE, 1), true},
    {"aten::adaptive_avg_pool2d", adaptive, POOL(POOL_ADAPTIVE_AVERAGE, 2), true},
    {"aten::adaptive_avg_pool3d", adaptive, POOL(POOL_ADAPTIVE_AVERAGE, 3), true},
    {"aten::adaptive_max_pool1d", adaptive, POOL(POOL_ADAPTIVE_MAX, 1), true},
    {"aten::adaptive_max_pool2d", adaptive, POOL(POOL_ADAPTIVE_MAX, 2), true},
    {"aten::adaptive_max_pool3d", adaptive, POOL(POOL_ADAPTIVE_MAX, 3), true},
    {"aten::reflection_pad1d", pad, PAD_REFLECT, true},
    {"aten::reflection_pad2d", pad, PAD_REFLECT, true},
    {"aten::reflection_pad3d", pad, PAD_REFLECT, true},
    {"aten::replication_pad1d", pad, PAD_REPLICATE, true},
    {"aten::replication_pad2d", pad, PAD_REPLICATE, true},
    {"aten::replication_pad3d", pad, PAD_REPLICATE, true},
    {"aten::_pad_circular", pad, PAD_CIRCULAR, true},
    {"aten::upsample_nearest1d", nearest, 1, true},
    {"aten::upsample_nearest2d", nearest, 2, true},
    {"aten::upsample_nearest3d", nearest, 3, true},
    {"aten::upsample_nearest1d.vec", nearest, POOL(1, 1), true},
    {"aten::upsample_nearest2d.vec", nearest, POOL(1, 2), true},
    {"aten::upsample_nearest3d.vec", nearest, POOL(1, 3), true},
    {0},
};
