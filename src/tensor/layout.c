/* Rules of layout. Strides of dimensions with one element, or none, follow from them as well: programs can see them. */
#include "tensor/layout.h"

#include <assert.h>

enum { MAX_INPUTS = 16 };

static void set_strides(TensorSpec *spec, const int64_t *strides) {
  spec->has_strides = true;
  memcpy(spec->strides, strides, (size_t)spec->ndim * sizeof *strides);
}

void layout_preserve(const Tensor *like, TensorSpec *spec) {
  assert(spec->ndim == like->ndim);
  spec->has_strides = false;
  if (like->row_major) return;
  set_strides(spec, like->strides);
  if (!tensor_is_dense(like)) strides_preserve(like->ndim, like->sizes, like->strides, spec->strides);
}

void layout_suggested(const Tensor *like, TensorSpec *spec) {
  spec->has_strides = false;
  if (spec->ndim != like->ndim || tensor_suggested_format(like) == FORMAT_CONTIGUOUS) return;
  spec->has_strides = true;
  strides_channels_last(spec->ndim, spec->sizes, spec->strides);
}

void layout_of_lines(const Tensor *like, TensorSpec *spec) {
  spec->has_strides = false;
  if (like->ndim != 3 || spec->ndim != 3) return;
  const int64_t *n = like->sizes, *s = like->strides;
  int64_t sizes[] = {n[0], n[1], 1, n[2]}, strides[] = {s[0], s[1], n[2] * s[2], s[2]};
  if (strides_suggested_format(4, sizes, strides) == FORMAT_CONTIGUOUS) return;
  spec->has_strides = true;
  spec->strides[0] = spec->sizes[1] * spec->sizes[2];
  spec->strides[1] = 1;
  spec->strides[2] = spec->sizes[1];
}

static bool have_sizes(int count, const Tensor *const *inputs, const TensorSpec *spec) {
  for (int i = 0; i < count; i++)
    if (inputs[i]->ndim != spec->ndim ||
        memcmp(inputs[i]->sizes, spec->sizes, (size_t)spec->ndim * sizeof *spec->sizes))
      return false;
  return true;
}

static bool have_format(int count, const Tensor *const *inputs, MemoryFormat format) {
  for (int i = 0; i < count; i++)
    if (!tensor_has_format(inputs[i], format)) return false;
  return true;
}

static bool have_strides(int count, const Tensor *const *inputs) {
  for (int i = 0; i < count; i++)
    if (memcmp(inputs[i]->strides, inputs[0]->strides, inputs[0]->ndim * sizeof *inputs[0]->strides)) return false;
  return true;
}

/* An input's strides along the dimensions of the broadcast sizes; 0 where it is repeated. */
static void spread_strides(const Tensor *t, const TensorSpec *spec, int64_t *out) {
  assert(t->ndim <= spec->ndim);
  for (int d = 0; d < spec->ndim; d++) {
    int own = d - (spec->ndim - t->ndim);
    out[d] = own < 0 || (t->sizes[own] == 1 && spec->sizes[d] != 1) ? 0 : t->strides[own];
  }
}

static bool is_row_major_order(int ndim, const int *order) {
  for (int i = 0; i < ndim; i++)
    if (order[i] != ndim - 1 - i) return false;
  return true;
}

void layout_ordered(int count, const int64_t *const *strides, TensorSpec *spec) {
  assert(spec->ndim <= TENSOR_MAX_DIMS);
  int order[TENSOR_MAX_DIMS];
  int64_t stride = 1;
  spec->has_strides = false;
  dims_sort(spec->ndim, spec->sizes, count, strides, order);
  if (is_row_major_order(spec->ndim, order)) return;
  for (int i = 0; i < spec->ndim; i++) {
    spec->strides[order[i]] = stride;                               /* beyond a size of zero they are zero, too */
    if (!int64_mul(stride, spec->sizes[order[i]], &stride)) return; /* the tensor is too large to be made */
  }
  spec->has_strides = true;
}

static void order_strides(int count, const Tensor *const *inputs, TensorSpec *spec) {
  int64_t strides[MAX_INPUTS][TENSOR_MAX_DIMS];
  const int64_t *rows[MAX_INPUTS];
  if (count > MAX_INPUTS) count = MAX_INPUTS;
  for (int i = 0; i < count; i++) spread_strides(inputs[i], spec, strides[i]), rows[i] = strides[i];
  layout_ordered(count, rows, spec);
}

void layout_iterated(int count, const Tensor *const *inputs, bool has_number, TensorSpec *spec) {
  spec->has_strides = false;
  if (spec->ndim == 0 || layout_is_row_major(count, inputs)) return;
  if (!has_number && have_sizes(count, inputs, spec)) {
    if (have_format(count, inputs, FORMAT_CONTIGUOUS)) return;
    if (have_format(count, inputs, FORMAT_CHANNELS_LAST)) {
      spec->has_strides = true;
      strides_channels_last(spec->ndim, spec->sizes, spec->strides);
      return;
    }
    bool dense = true;
    for (int i = 0; i < count && dense; i++) dense = tensor_is_dense(inputs[i]);
    if (dense && have_strides(count, inputs)) {
      set_strides(spec, inputs[0]->strides);
      return;
    }
  }
  order_strides(count, inputs, spec);
}

bool layout_stays_row_major(int ndim, const int64_t *sizes, const Tensor *other) {
  int64_t dense[TENSOR_MAX_DIMS], spread[TENSOR_MAX_DIMS];
  TensorSpec spec;
  spec.ndim = ndim;
  memcpy(spec.sizes, sizes, (size_t)ndim * sizeof *sizes);
  if (layout_is_row_major(1, &other)) return true;
  if (have_sizes(1, &other, &spec) && tensor_has_format(other, FORMAT_CONTIGUOUS)) return true;
  strides_contiguous(ndim, sizes, dense);
  spread_strides(other, &spec, spread);
  layout_ordered(2, (const int64_t *const[]){dense, spread}, &spec);
  if (spec.has_strides) return false;
  layout_ordered(2, (const int64_t *const[]){spread, dense}, &spec);
  return !spec.has_strides;
}
