/* Views: new tensors over the same storage. */
#include "tensor/layout.h"

#include <assert.h>

#include "tensor/quantizer.h"

/* Bounds need no check: the view shows a part of what t shows. */
static Status view(const Tensor *t, int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,
                   Tensor **out) {
  return tensor_as_strided(t, ndim, sizes, strides, offset, out);
}

/* The view again, or nothing if what becomes of its quantizer failed. */
static Status with_quantizer(Status status, Tensor **view) {
  if (!status) return OK;
  tensor_release(*view);
  *view = NULL;
  return status;
}

static void copy_dims(const Tensor *t, int64_t *sizes, int64_t *strides) {
  memcpy(sizes, t->sizes, t->ndim * sizeof *sizes);
  memcpy(strides, t->strides, t->ndim * sizeof *strides);
}

/* Each run of dimensions that follow each other without gaps is cut anew. */
bool layout_of_view(const Tensor *t, int ndim, const int64_t *sizes, int64_t *out) {
  assert(ndim <= TENSOR_MAX_DIMS);
  if (t->numel == 0) {
    if (tensor_is_defined(t) && t->ndim == ndim && memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0)
      memcpy(out, t->strides, (size_t)ndim * sizeof *out);
    else
      strides_contiguous(ndim, sizes, out);
    return true;
  }
  if (t->ndim == 0) {
    for (int i = 0; i < ndim; i++) out[i] = 1;
    return true;
  }
  int new_dim = ndim - 1;
  int64_t run_stride = t->strides[t->ndim - 1], run_numel = 1, new_numel = 1;
  for (int d = t->ndim - 1; d >= 0; d--) {
    run_numel *= t->sizes[d];
    bool run_ends = d == 0 || (t->sizes[d - 1] != 1 && t->strides[d - 1] != run_numel * run_stride);
    if (!run_ends) continue;
    while (new_dim >= 0 && (new_numel < run_numel || sizes[new_dim] == 1)) {
      out[new_dim] = new_numel * run_stride;
      new_numel *= sizes[new_dim--];
    }
    if (new_numel != run_numel) return false;
    if (d > 0) {
      run_stride = t->strides[d - 1];
      run_numel = new_numel = 1;
    }
  }
  return new_dim == -1;
}

Status tensor_view_sizes(const Tensor *t, int ndim, const int64_t *sizes, Tensor **out) {
  *out = NULL;
  int64_t resolved[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  TRY(sizes_infer(ndim, sizes, t->numel, resolved));
  if (!layout_of_view(t, ndim, resolved, strides)) return OK;
  return view(t, ndim, resolved, strides, t->offset, out);
}

Status tensor_expand(const Tensor *t, int ndim, const int64_t *sizes, Tensor **out) {
  *out = NULL;
  if (ndim < t->ndim)
    return status_new(
        ERROR_RUNTIME,
        "expand(torch.%sTensor{%s}, size=%s): the number of sizes provided (%d) must be greater or equal to the "
        "number of dimensions in the tensor (%d)",
        dtype_scalar_name((DType)t->dtype), SIZES_TEXT(t->ndim, t->sizes), SIZES_TEXT(ndim, sizes), ndim, t->ndim);
  if (ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  int64_t new_sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  for (int i = ndim - 1; i >= 0; i--) {
    int d = i - (ndim - t->ndim);
    int64_t size = d >= 0 ? t->sizes[d] : 1, target = sizes[i];
    int64_t stride = d >= 0 ? t->strides[d] : i + 1 < ndim ? new_sizes[i + 1] * strides[i + 1] : 1;
    if (target == -1) {
      if (d < 0)
        return status_new(ERROR_RUNTIME,
                          "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension %d",
                          i);
      target = size;
    }
    if (target != size) {
      if (size != 1)
        return status_new(ERROR_RUNTIME,
                          "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton "
                          "dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                          (long long)target, (long long)size, i, SIZES_TEXT(ndim, sizes),
                          SIZES_TEXT(t->ndim, t->sizes));
      stride = 0;
    }
    new_sizes[i] = target;
    strides[i] = stride;
  }
  return view(t, ndim, new_sizes, strides, t->offset, out);
}

Status tensor_transpose(const Tensor *t, int64_t dim0, int64_t dim1, Tensor **out) {
  *out = NULL;
  TRY(dim_wrap(dim0, t->ndim, &dim0));
  TRY(dim_wrap(dim1, t->ndim, &dim1));
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  copy_dims(t, sizes, strides);
  if (t->ndim > 0) {
    sizes[dim0] = t->sizes[dim1], sizes[dim1] = t->sizes[dim0];
    strides[dim0] = t->strides[dim1], strides[dim1] = t->strides[dim0];
  }
  TRY(view(t, t->ndim, sizes, strides, t->offset, out));
  if (!tensor_is_quantized(t)) return OK;
  int64_t order[TENSOR_MAX_DIMS];
  for (int i = 0; i < t->ndim; i++) order[i] = i == dim0 ? dim1 : i == dim1 ? dim0 : i;
  return with_quantizer(tensor_quantizer_reorder(*out, order), out);
}

Status tensor_permute(const Tensor *t, const int64_t *order, Tensor **out) {
  *out = NULL;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  int64_t wrapped[TENSOR_MAX_DIMS];
  uint32_t seen = 0;
  for (int i = 0; i < t->ndim; i++) {
    int64_t d;
    TRY(dim_wrap(order[i], t->ndim, &d));
    if (seen >> d & 1) return status_new(ERROR_RUNTIME, "permute(): duplicate dims are not allowed.");
    seen |= 1u << d;
    wrapped[i] = d;
    sizes[i] = t->sizes[d];
    strides[i] = t->strides[d];
  }
  TRY(view(t, t->ndim, sizes, strides, t->offset, out));
  return tensor_is_quantized(t) ? with_quantizer(tensor_quantizer_reorder(*out, wrapped), out) : OK;
}

Status tensor_select(const Tensor *t, int64_t dim, int64_t index, Tensor **out) {
  *out = NULL;
  if (t->ndim == 0) return status_exception("IndexError", "select() cannot be applied to a 0-dim tensor.");
  TRY(dim_wrap(dim, t->ndim, &dim));
  int64_t size = t->sizes[dim];
  if (index < -size || index >= size)
    return status_exception("IndexError", "select(): index %lld out of range for tensor of size %s at dimension %lld",
                            (long long)index, SIZES_TEXT(t->ndim, t->sizes), (long long)dim);
  if (index < 0) index += size;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  int n = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (i == dim) continue;
    sizes[n] = t->sizes[i];
    strides[n++] = t->strides[i];
  }
  TRY(view(t, n, sizes, strides, t->offset + index * t->strides[dim], out));
  return tensor_is_quantized(t) ? with_quantizer(tensor_quantizer_select(*out, dim, index), out) : OK;
}

Status tensor_slice(const Tensor *t, int64_t dim, int64_t start, int64_t end, int64_t step, Tensor **out) {
  *out = NULL;
  if (t->ndim == 0) return status_exception("IndexError", "slice() cannot be applied to a 0-dim tensor.");
  TRY(dim_wrap(dim, t->ndim, &dim));
  if (step <= 0) return status_new(ERROR_RUNTIME, "slice step must be positive");
  int64_t size = t->sizes[dim];
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = start < 0 ? 0 : start > size ? size : start;
  end = end < start ? start : end > size ? size : end;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  copy_dims(t, sizes, strides);
  sizes[dim] = end > start ? 1 + (end - start - 1) / step : 0;
  if (!int64_mul(strides[dim], step, &strides[dim]))
    return status_new(ERROR_RUNTIME, "slice step %lld is too large", (long long)step);
  TRY(view(t, t->ndim, sizes, strides, t->offset + start * t->strides[dim], out));
  return tensor_is_quantized(t) ? with_quantizer(tensor_quantizer_slice(*out, dim, start, step), out) : OK;
}

Status tensor_narrow(const Tensor *t, int64_t dim, int64_t start, int64_t length, Tensor **out) {
  *out = NULL;
  if (t->ndim == 0) return status_new(ERROR_RUNTIME, "narrow() cannot be applied to a 0-dim tensor.");
  TRY(dim_wrap(dim, t->ndim, &dim));
  int64_t size = t->sizes[dim];
  if (start != size) TRY(dim_wrap(start, size, &start));
  if (length < 0 || start > size - length)
    return status_new(ERROR_RUNTIME, "start (%lld) + length (%lld) exceeds dimension size (%lld).", (long long)start,
                      (long long)length, (long long)size);
  return tensor_slice(t, dim, start, start + length, 1, out);
}

Status tensor_squeeze_dim(const Tensor *t, int64_t dim, Tensor **out) {
  *out = NULL;
  TRY(dim_wrap(dim, t->ndim, &dim));
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], order[TENSOR_MAX_DIMS];
  int n = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (i == dim && t->sizes[i] == 1) continue;
    sizes[n] = t->sizes[i];
    order[n] = i;
    strides[n++] = t->strides[i];
  }
  TRY(view(t, n, sizes, strides, t->offset, out));
  return tensor_is_quantized(t) ? with_quantizer(tensor_quantizer_reorder(*out, order), out) : OK;
}

Status tensor_unsqueeze(const Tensor *t, int64_t dim, Tensor **out) {
  *out = NULL;
  if (t->ndim == TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  TRY(dim_wrap(dim, t->ndim + 1, &dim));
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], order[TENSOR_MAX_DIMS];
  for (int i = 0; i <= t->ndim; i++) {
    int d = i > dim ? i - 1 : i;
    order[i] = i == dim ? -1 : d;
    sizes[i] = i == dim ? 1 : t->sizes[d];
    strides[i] = i != dim ? t->strides[d] : dim < t->ndim ? t->sizes[dim] * t->strides[dim] : 1;
  }
  TRY(view(t, t->ndim + 1, sizes, strides, t->offset, out));
  return tensor_is_quantized(t) ? with_quantizer(tensor_quantizer_reorder(*out, order), out) : OK;
}
