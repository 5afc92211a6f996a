/* Elements by index: index_select, gather, index and their inverses. All are one kernel: an element of the result is at
 * a place that its coordinates say, of which up to four are looked up in tensors of indices. Elements move as integers
 * of their size. An index that is out of range reads 0 and writes nothing. */
#include "cuda/operators.h"

#include <string.h>

enum { MAX_INDICES = 4 };
/* As the kernel has it, so without gaps. */
typedef struct Places {
  int64_t sizes[WORK_MAX_DIMS];                    /* of what is gone over */
  int64_t own[WORK_MAX_DIMS];                      /* strides of what is indexed; 0 where a coordinate is looked up */
  int64_t other[WORK_MAX_DIMS];                    /* of the other side */
  int64_t steps[MAX_INDICES][WORK_MAX_DIMS];       /* of tensors of indices */
  int64_t limits[MAX_INDICES], jumps[MAX_INDICES]; /* the size that an index is below, and its stride */
} Places;

/* N0 dimensions, N1 tensors of indices; N2: whether it writes. A moves, B are indices. */
static Source source = SOURCE(
    "struct places {\n"
    "  i64 sizes[8], own[8], other[8], steps[4][8], limits[4], jumps[4];\n"
    "};\n"
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, A *whole, A *part, const B *b0, "
    "const B *b1, const B *b2, const B *b3, const struct places p) {\n"
    "  const place i = (place)blockIdx.x * GROUP + threadIdx.x;\n"
    "  const B *const indices[4] = {b0, b1, b2, b3};\n"
    "  place rest = i, own = 0, other = 0, at[4] = {0, 0, 0, 0};\n"
    "  int is_there = 1;\n"
    "  if (i >= n) return;\n"
    "#pragma unroll\n"
    "  for (int d = N0; d-- > 0;) {\n"
    "    const place x = d ? rest % (place)p.sizes[d] : rest;\n"
    "    rest = d ? rest / (place)p.sizes[d] : 0;\n"
    "    own += x * (place)p.own[d];\n"
    "    other += x * (place)p.other[d];\n"
    "    for (int k = 0; k < N1; k++) at[k] += x * (place)p.steps[k][d];\n"
    "  }\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < N1; k++) {\n"
    "    i64 index = B_load(indices[k][at[k]]);\n"
    "    if (index < 0) index += p.limits[k];\n"
    "    is_there &= index >= 0 && index < p.limits[k];\n"
    "    own += (place)index * (place)p.jumps[k];\n"
    "  }\n"
    "#if N2\n"
    "  if (is_there) whole[own] = part[other];\n"
    "#else\n"
    "  part[other] = is_there ? whole[own] : (A)0;\n"
    "#endif\n"
    "}\n");

typedef struct Move {
  Places places;
  int dims, indices;
  wick_tensor_view whole, part, index[MAX_INDICES];
} Move;

static void move(Work *w, Move *m, bool writes) {
  int64_t n = 1;
  size_t bytes = wick_dtype_bytes(m->whole.dtype);
  if (w->status) return;
  if (bytes > 8) return work_refuse(w, "CUDA: indexing of %s", wick_dtype_name(m->whole.dtype));
  for (int d = 0; d < m->dims; d++) n *= m->places.sizes[d];
  bool is_wide = n > INT32_MAX / 2 || view_count(&m->whole) > INT32_MAX / 2;
  SourceUse use = {{source_raw_dtype(bytes), (uint8_t)m->index[0].dtype, SOURCE_NO_DTYPE},
                   WICK_KERNEL_INT64,
                   is_wide,
                   {(uint8_t)m->dims, (uint8_t)m->indices, writes}};
  uint32_t narrow = (uint32_t)n;
  void *parameters[] = {is_wide ? (void *)&n : &narrow,
                        &m->whole.data,
                        &m->part.data,
                        &m->index[0].data,
                        &m->index[1].data,
                        &m->index[2].data,
                        &m->index[3].data,
                        &m->places};
  work_launch(w, &source, &use, n, parameters);
}

static void set_dims(Move *m, const wick_tensor_view *like) {
  m->dims = like->ndim;
  for (int d = 0; d < like->ndim; d++) m->places.sizes[d] = like->sizes[d];
}

static bool fits(Work *w, const wick_tensor_view *t) {
  if (!w->status && t->ndim > WORK_MAX_DIMS) work_refuse(w, "CUDA: indexing of more than %d dimensions", WORK_MAX_DIMS);
  return !w->status;
}

/* ---- index_select ---- */

static void index_select(Work *w, int variant) {
  (void)variant;
  Move m = {.indices = 1};
  if (!work_tensor(w, 0, false, &m.whole) || !work_tensor(w, 2, false, &m.index[0]) || !work_result(w, 0, &m.part) ||
      !fits(w, &m.part))
    return;
  int dim = view_dim(&m.whole, work_int(w, 1));
  set_dims(&m, &m.part);
  for (int d = 0; d < m.dims; d++) {
    m.places.other[d] = m.part.strides[d];
    m.places.own[d] = d == dim ? 0 : m.whole.strides[d];
  }
  if (m.dims) m.places.steps[0][dim] = m.index[0].ndim ? m.index[0].strides[0] : 0;
  m.places.limits[0] = m.whole.ndim ? m.whole.sizes[dim] : 1;
  m.places.jumps[0] = m.whole.ndim ? m.whole.strides[dim] : 0;
  move(w, &m, 0);
}

/* ---- gather and scatter: the index has the sizes of what is gone over ---- */

static void along(Move *m, int dim) {
  set_dims(m, &m->index[0]);
  for (int d = 0; d < m->dims; d++) {
    m->places.own[d] = d == dim ? 0 : m->whole.strides[d];
    m->places.steps[0][d] = m->index[0].strides[d];
  }
  m->indices = 1;
  m->places.limits[0] = m->whole.ndim ? m->whole.sizes[dim] : 1;
  m->places.jumps[0] = m->whole.ndim ? m->whole.strides[dim] : 0;
}

static void gather(Work *w, int variant) {
  (void)variant;
  Move m = {.indices = 1};
  if (!work_tensor(w, 0, false, &m.whole) || !work_tensor(w, 2, false, &m.index[0]) || !work_result(w, 0, &m.part) ||
      !fits(w, &m.part))
    return;
  along(&m, view_dim(&m.whole, work_int(w, 1)));
  for (int d = 0; d < m.dims; d++) m.places.other[d] = m.part.strides[d];
  move(w, &m, 0);
}

/* One element of self's dtype, for all that is written. */
static void one_number(Work *w, wick_value *number, wick_tensor_view *out) {
  wick_value *one = work_hold(w, wick_value_int(1)), *size = NULL;
  if (!one || wick_value_list((const wick_value *const[]){one}, 1, &size, NULL)) size = NULL;
  const wick_value *const arguments[] = {w->targets[0], work_hold(w, size), number};
  work_view(w, work_call(w, "aten::new_full", NULL, arguments, 3), out);
}

static void scatter(Work *w, int writes_number) {
  Move m = {.indices = 1};
  wick_value *from = work_argument(w, 0);
  if (!work_tensor(w, 2, false, &m.index[0]) || !work_result(w, 0, &m.whole) || !fits(w, &m.whole)) return;
  work_call(w, "aten::copy_", NULL, (const wick_value *const[]){w->targets[0], from}, 2);
  along(&m, view_dim(&m.whole, work_int(w, 1)));
  if (writes_number)
    one_number(w, work_argument(w, 3), &m.part);
  else if (work_tensor(w, 3, false, &m.part))
    for (int d = 0; d < m.dims; d++) m.places.other[d] = m.part.strides[d];
  move(w, &m, true);
}

/* ---- index: tensors of indices for some of the dimensions, which broadcast together ---- */

typedef struct Indices {
  int at[WORK_MAX_DIMS]; /* which of the tensors is for a dimension, or -1 */
  int first;             /* dimension of the result where theirs begin */
  int ndim;
  int64_t sizes[WORK_MAX_DIMS];
} Indices;

static bool see_index(Work *w, Move *m, const wick_value *tensor, Indices *found) {
  wick_tensor_view *view = &m->index[m->indices];
  if (!work_view(w, tensor, view)) return false;
  if (view->dtype == WICK_BOOL8 || view->dtype == WICK_UINT8 || view->device_type != WICK_DEVICE_CUDA ||
      view->dtype != m->index[0].dtype)
    return work_refuse(w, "CUDA: indexing by masks, by indices of several dtypes or on the host"), false;
  if (view->ndim > found->ndim) {
    memmove(found->sizes + (view->ndim - found->ndim), found->sizes, sizeof(int64_t) * (size_t)found->ndim);
    for (int d = 0; d < view->ndim - found->ndim; d++) found->sizes[d] = 1;
    found->ndim = view->ndim;
  }
  for (int d = 0; d < view->ndim; d++) {
    int64_t *size = &found->sizes[found->ndim - view->ndim + d];
    if (*size == 1) *size = view->sizes[d];
    if (view->sizes[d] != 1 && view->sizes[d] != *size)
      return work_refuse(w, "CUDA: tensors of indices that don't broadcast together"), false;
  }
  m->indices++;
  return true;
}

/* In the place of the first dimension that has one, if these are side by side; else in front. */
static bool find_indices(Work *w, Move *m, Indices *found) {
  wick_value *list = work_argument(w, 1);
  size_t count = list ? wick_value_length(list) : 0;
  int last = -1, gaps = 0;
  *found = (Indices){.first = -1};
  for (int d = 0; d < m->whole.ndim; d++) {
    wick_value *item = (size_t)d < count ? work_hold(w, wick_value_item(list, (size_t)d)) : NULL;
    wick_tensor_info info = {.size = sizeof info};
    found->at[d] = -1;
    if (!item || wick_value_kind(item) != WICK_TENSOR || wick_tensor_info_of(item, &info, NULL) ||
        info.flags & WICK_INFO_UNDEFINED)
      continue;
    if (m->indices == MAX_INDICES) return work_refuse(w, "CUDA: indexing by so many tensors"), false;
    found->at[d] = m->indices;
    gaps += last >= 0 && last != d - 1;
    if (last < 0) found->first = d;
    last = d;
    if (!see_index(w, m, item, found)) return false;
  }
  if (gaps) found->first = 0;
  if (count > (size_t)m->whole.ndim || !m->indices) work_refuse(w, "CUDA: no such tensors of indices");
  return !w->status;
}

static void add_dim(Work *w, Move *m, int64_t size, int64_t own) {
  if (m->dims == WORK_MAX_DIMS) return work_refuse(w, "CUDA: indexing gives more than %d dimensions", WORK_MAX_DIMS);
  m->places.sizes[m->dims] = size;
  m->places.own[m->dims++] = own;
}

static void add_broadcast_dims(Work *w, Move *m, const Indices *found) {
  for (int d = 0; d < found->ndim; d++) {
    for (int k = 0; k < m->indices && m->dims < WORK_MAX_DIMS; k++) {
      const wick_tensor_view *t = &m->index[k];
      int own = d - (found->ndim - t->ndim);
      m->places.steps[k][m->dims] = own < 0 || t->sizes[own] == 1 ? 0 : t->strides[own];
    }
    add_dim(w, m, found->sizes[d], 0);
  }
}

static void find_result(Work *w, Move *m, const Indices *found) {
  int kept = 0;
  bool is_done = false;
  for (int d = 0; d < m->whole.ndim; d++) {
    if (!is_done && kept == found->first && (found->at[d] >= 0 || found->first == 0)) {
      add_broadcast_dims(w, m, found);
      is_done = true;
    }
    int k = found->at[d];
    if (k >= 0) {
      m->places.limits[k] = m->whole.sizes[d];
      m->places.jumps[k] = m->whole.strides[d];
    } else {
      add_dim(w, m, m->whole.sizes[d], m->whole.strides[d]);
      kept++;
    }
  }
}

static wick_value *new_like(Work *w, const wick_value *like, const Move *m) {
  wick_value *items[WORK_MAX_DIMS], *size = NULL;
  for (int d = 0; d < m->dims; d++) items[d] = work_hold(w, wick_value_int(m->places.sizes[d]));
  if (w->status || wick_value_list((const wick_value *const *)items, (size_t)m->dims, &size, NULL)) size = NULL;
  return work_call(w, "aten::new_empty", NULL, (const wick_value *const[]){like, work_hold(w, size)}, 2);
}

static void index_tensors(Work *w, int variant) {
  (void)variant;
  Move m = {.indices = 0};
  Indices found;
  if (!work_tensor(w, 0, false, &m.whole) || !fits(w, &m.whole) || !find_indices(w, &m, &found)) return;
  find_result(w, &m, &found);
  wick_value *result = w->status ? NULL : new_like(w, work_argument(w, 0), &m);
  if (!work_view(w, result, &m.part)) return;
  for (int d = 0; d < m.dims; d++) m.places.other[d] = m.part.strides[d];
  move(w, &m, false);
  wick_call_set_result(w->call, 0, result);
}

static void index_put(Work *w, int variant) {
  (void)variant;
  Move m = {.indices = 0};
  Indices found;
  wick_value *from = work_argument(w, 0);
  if (work_argument_count(w) > 3 && work_int(w, 3))
    return work_refuse(w, "aten::index_put with accumulate does not run on device 'cuda'");
  if (!work_result(w, 0, &m.whole) || !fits(w, &m.whole) || !find_indices(w, &m, &found)) return;
  work_call(w, "aten::copy_", NULL, (const wick_value *const[]){w->targets[0], from}, 2);
  find_result(w, &m, &found);
  if (!work_tensor(w, 2, false, &m.part)) return;
  for (int d = 0; d < m.dims; d++) {
    int own = d - (m.dims - m.part.ndim);
    m.places.other[d] = own < 0 || m.part.sizes[own] == 1 ? 0 : m.part.strides[own];
  }
  move(w, &m, true);
}

const OperatorKernel indexing_kernels[] = {
    {"aten::index_select", index_select, 0, true},
    {"aten::gather", gather, 0, true},
    {"aten::scatter.src", scatter, 0, true},
    {"aten::scatter.value", scatter, 1, true},
    {"aten::index.Tensor", index_tensors, 0, false},
    {"aten::index.Tensor_hacked_twin", index_tensors, 0, false},
    {"aten::index_put", index_put, 0, true},
    {"aten::index_put.hacked_twin", index_put, 0, true},
    {0},
};
