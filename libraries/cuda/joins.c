/* What is put together of copies: cat, stack, constant padding; and sequences of numbers. */
#include "cuda/convert.h"
#include "cuda/operators.h"

/* The part [start, start + length) of a tensor along a dimension, as a view of its own sizes. */
static wick_tensor_view part_of(const wick_tensor_view *t, int dim, int64_t start, int64_t length, int64_t *sizes) {
  wick_tensor_view part = *t;
  for (int d = 0; d < t->ndim; d++) sizes[d] = d == dim ? length : t->sizes[d];
  part.sizes = sizes;
  part.data = (char *)t->data + (size_t)(start * t->strides[dim]) * wick_dtype_bytes(t->dtype);
  return part;
}

enum { MAX_DIMS = 64 };

static void cat(Work *w, int variant) {
  (void)variant;
  wick_tensor_view to, from;
  wick_value *list = work_argument(w, 0);
  int64_t start = 0, sizes[MAX_DIMS];
  if (!list || !work_result(w, 0, &to) || to.ndim > MAX_DIMS) return;
  int dim = view_dim(&to, work_int(w, 1));
  for (size_t i = 0; i < wick_value_length(list) && !w->status; i++) {
    wick_value *item = wick_value_item(list, i);
    if (work_view(w, item, &from) && view_count(&from)) {
      wick_tensor_view part = part_of(&to, dim, start, from.sizes[dim], sizes);
      work_take(w, convert(NULL, &part, &from, w->error));
      start += from.sizes[dim];
    }
    wick_value_release(item);
  }
}

static void stack(Work *w, int variant) {
  (void)variant;
  wick_tensor_view to, from;
  wick_value *list = work_argument(w, 0);
  int64_t sizes[MAX_DIMS], strides[MAX_DIMS];
  if (!list || !work_result(w, 0, &to) || to.ndim > MAX_DIMS) return;
  int64_t given = work_int(w, 1);
  int dim = (int)(given < 0 ? given + to.ndim : given);
  for (size_t i = 0; i < wick_value_length(list) && !w->status; i++) {
    wick_value *item = wick_value_item(list, i);
    wick_tensor_view part = to;
    if (work_view(w, item, &from) && view_count(&from)) {
      for (int d = 0, k = 0; d < to.ndim; d++)
        if (d != dim) sizes[k] = to.sizes[d], strides[k++] = to.strides[d];
      part.ndim = to.ndim - 1;
      part.sizes = sizes;
      part.strides = strides;
      part.data = (char *)to.data + (size_t)((int64_t)i * to.strides[dim]) * wick_dtype_bytes(to.dtype);
      work_take(w, convert(NULL, &part, &from, w->error));
    }
    wick_value_release(item);
  }
}

/* Negative padding leaves elements out. */
static void pad(Work *w, int variant) {
  (void)variant;
  wick_tensor_view to, from;
  int64_t given[2 * WORK_MAX_DIMS], to_sizes[MAX_DIMS];
  if (!work_tensor(w, 0, false, &from) || !work_result(w, 0, &to) || to.ndim > MAX_DIMS) return;
  int count = work_ints(w, 1, given, 2 * WORK_MAX_DIMS) / 2;
  work_call(w, "aten::fill_", "Scalar", (const wick_value *const[]){w->targets[0], work_argument(w, 2)}, 2);
  char *to_data = to.data, *from_data = from.data;
  for (int d = 0; d < to.ndim; d++) {
    int k = to.ndim - 1 - d;
    int64_t before = k < count ? given[2 * k] : 0, after = k < count ? given[2 * k + 1] : 0;
    int64_t cut = (before < 0 ? -before : 0) + (after < 0 ? -after : 0);
    if (before > 0) to_data += (size_t)(before * to.strides[d]) * wick_dtype_bytes(to.dtype);
    if (before < 0) from_data += (size_t)(-before * from.strides[d]) * wick_dtype_bytes(from.dtype);
    to_sizes[d] = from.sizes[d] - cut;
    if (to_sizes[d] <= 0) return;
  }
  to.sizes = from.sizes = to_sizes;
  to.data = to_data;
  from.data = from_data;
  if (!w->status) work_take(w, convert(NULL, &to, &from, w->error));
}

/* Copies side by side: each dimension of the result is two, of which the outer one repeats. */
static void repeat(Work *w, int variant) {
  (void)variant;
  wick_tensor_view to, from;
  int64_t sizes[MAX_DIMS], to_strides[MAX_DIMS], from_strides[MAX_DIMS];
  if (!work_tensor(w, 0, false, &from) || !work_result(w, 0, &to) || to.ndim > MAX_DIMS / 2) return;
  for (int d = 0; d < to.ndim; d++) {
    int own = d - (to.ndim - from.ndim);
    int64_t size = own < 0 ? 1 : from.sizes[own];
    sizes[2 * d] = size ? to.sizes[d] / size : 0;
    sizes[2 * d + 1] = size;
    to_strides[2 * d] = to.strides[d] * size;
    to_strides[2 * d + 1] = to.strides[d];
    from_strides[2 * d] = 0;
    from_strides[2 * d + 1] = own < 0 ? 0 : from.strides[own];
  }
  if (!view_count(&to)) return;
  to.ndim = from.ndim = 2 * to.ndim;
  to.sizes = from.sizes = sizes;
  to.strides = to_strides;
  from.strides = from_strides;
  work_take(w, convert(NULL, &to, &from, w->error));
}

/* ---- sequences ---- */

static Source sequence = SOURCE(
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, A *r, const f64 start, "
    "const f64 step, const i64 first, const i64 each) {\n"
    "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
    "  if (i < n) r[i] = A_store((N0 ? (value)(first + (i64)i * each) : (value)(start + (f64)i * step)));\n"
    "}\n");

static void arange(Work *w, int variant) { /* which argument the start is + 1, 0: none; likewise the step */
  int start_at = (variant & 15) - 1, step_at = (variant >> 4) - 1;
  wick_tensor_view to;
  if (!work_result(w, 0, &to)) return;
  double start = start_at < 0 ? 0 : work_real(w, (size_t)start_at),
         step = step_at < 0 ? 1 : work_real(w, (size_t)step_at);
  uint8_t type = source_type_of(to.dtype);
  bool is_whole = type == WICK_KERNEL_INT64;
  int64_t first = is_whole && start_at >= 0 ? work_int(w, (size_t)start_at) : 0,
          each = is_whole && step_at >= 0 ? work_int(w, (size_t)step_at) : 1, n = view_count(&to);
  uint32_t narrow = (uint32_t)n;
  bool is_wide = n > INT32_MAX;
  SourceUse use = {{(uint8_t)to.dtype, SOURCE_NO_DTYPE, SOURCE_NO_DTYPE}, type, is_wide, {is_whole}};
  void *data = to.data, *parameters[] = {is_wide ? (void *)&n : &narrow, &data, &start, &step, &first, &each};
  work_launch(w, &sequence, &use, n, parameters);
}

/* ---- triangles ---- */

static Source triangle = SOURCE(
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, const A *a, A *r, const place "
    "rows, "
    "const place columns, const i64 diagonal) {\n"
    "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
    "  if (i >= n) return;\n"
    "  const i64 from = (i64)(i % columns) - (i64)(i / columns % rows) - diagonal;\n"
    "  r[i] = (N0 ? from >= 0 : from <= 0) ? a[i] : (A)0;\n"
    "}\n");

static void cut_triangle(Work *w, int is_upper) {
  wick_tensor_view from, to;
  if (!work_tensor(w, 0, true, &from) || !work_result(w, 0, &to)) return;
  int64_t n = view_count(&to), diagonal = work_int(w, 1);
  size_t bytes = wick_dtype_bytes(to.dtype);
  if (bytes > 8 || n > INT32_MAX || to.ndim < 2) return work_refuse(w, "CUDA: the triangle of such a tensor");
  uint32_t count = (uint32_t)n, rows = (uint32_t)to.sizes[to.ndim - 2], columns = (uint32_t)to.sizes[to.ndim - 1];
  SourceUse use = {
      {source_raw_dtype(bytes), SOURCE_NO_DTYPE, SOURCE_NO_DTYPE}, WICK_KERNEL_INT64, false, {(uint8_t)is_upper}};
  void *in = from.data, *out = to.data, *parameters[] = {&count, &in, &out, &rows, &columns, &diagonal};
  work_launch(w, &triangle, &use, n, parameters);
}

const OperatorKernel joining_kernels[] = {
    {"aten::cat", cat, 0, true},
    {"aten::stack", stack, 0, true},
    {"aten::constant_pad_nd", pad, 0, true},
    {"aten::repeat", repeat, 0, true},
    {"aten::arange", arange, 0, true},
    {"aten::arange.start", arange, 1, true},
    {"aten::arange.start_step", arange, 1 | 3 << 4, true},
    {"aten::tril", cut_triangle, 0, true},
    {"aten::triu", cut_triangle, 1, true},
    {0},
};
