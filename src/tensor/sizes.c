/* Arithmetic on sizes and strides, with PyTorch's messages. */
#include "tensor/tensor.h"

#include <assert.h>
#include <stdio.h>

SizesText sizes_text(int ndim, const int64_t *sizes) {
  SizesText result;
  size_t length = 0;
  result.text[length++] = '[';
  for (int i = 0; i < ndim; i++) {
    if (length + 32 > sizeof result.text) {
      memcpy(result.text + length, ", ...", 5);
      length += 5;
      break;
    }
    length += (size_t)snprintf(result.text + length, sizeof result.text - length, "%s%lld", i ? ", " : "",
                               (long long)sizes[i]);
  }
  result.text[length++] = ']';
  result.text[length] = 0;
  return result;
}

Status dim_wrap(int64_t dim, int64_t ndim, int64_t *out) {
  int64_t n = ndim > 0 ? ndim : 1;
  if (dim < -n || dim >= n)
    return status_exception("IndexError",
                            "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                            (long long)-n, (long long)(n - 1), (long long)dim);
  *out = dim < 0 ? dim + n : dim;
  return OK;
}

Status sizes_broadcast(int ndim_a, const int64_t *a, int ndim_b, const int64_t *b, int *out_ndim, int64_t *out) {
  assert(ndim_a >= 0 && ndim_a <= TENSOR_MAX_DIMS && ndim_b >= 0 && ndim_b <= TENSOR_MAX_DIMS);
  int ndim = ndim_a > ndim_b ? ndim_a : ndim_b;
  int64_t result[TENSOR_MAX_DIMS];
  for (int i = ndim - 1; i >= 0; i--) {
    int ia = i - (ndim - ndim_a), ib = i - (ndim - ndim_b);
    int64_t size_a = ia >= 0 ? a[ia] : 1, size_b = ib >= 0 ? b[ib] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1)
      return status_new(
          ERROR_RUNTIME,
          "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton dimension %d",
          (long long)size_a, (long long)size_b, i);
    result[i] = size_a == 1 ? size_b : size_a;
  }
  memcpy(out, result, (size_t)ndim * sizeof *out);
  *out_ndim = ndim;
  return OK;
}

/* Strides grow from the last to the first dimension of `order`; sizes of zero count as one, as PyTorch has it.
 * The products fit: sizes_numel saw to it. */
static void strides_in_order(int ndim, const int64_t *sizes, const int *order, int64_t *out) {
  int64_t stride = 1;
  for (int i = ndim - 1; i >= 0; i--) {
    int d = order ? order[i] : i;
    out[d] = stride;
    if (sizes[d] > 1) stride = (int64_t)((uint64_t)stride * (uint64_t)sizes[d]);
  }
}

void strides_contiguous(int ndim, const int64_t *sizes, int64_t *out) {
  strides_in_order(ndim, sizes, NULL, out);
}

static const int channels_last_order[] = {0, 2, 3, 1}, channels_last_3d_order[] = {0, 2, 3, 4, 1};

void strides_channels_last(int ndim, const int64_t *sizes, int64_t *out) {
  assert(ndim == 4 || ndim == 5);
  const int *order = ndim == 5 ? channels_last_3d_order : channels_last_order;
  int64_t stride = 1; /* of sizes of zero come strides of zero; products fit otherwise: sizes_numel saw to it */
  for (int i = ndim - 1; i >= 0; i--) {
    out[order[i]] = stride;
    stride = (int64_t)((uint64_t)stride * (uint64_t)sizes[order[i]]);
  }
}

Status sizes_numel(int ndim, const int64_t *sizes, int64_t *out) {
  if (ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  int64_t extent = 1, numel = 1;
  for (int i = 0; i < ndim; i++) {
    if (sizes[i] < 0)
      return status_new(ERROR_RUNTIME, "Trying to create tensor with negative dimension %lld: %s", (long long)sizes[i],
                        SIZES_TEXT(ndim, sizes));
    if (!int64_mul(extent, sizes[i] ? sizes[i] : 1, &extent))
      return status_new(ERROR_RUNTIME, "Storage size calculation overflowed with sizes=%s", SIZES_TEXT(ndim, sizes));
    numel = sizes[i] ? numel : 0;
  }
  *out = numel ? extent : 0;
  return OK;
}

Status sizes_infer(int ndim, const int64_t *sizes, int64_t numel, int64_t *out) {
  if (ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  int64_t known = 1;
  int inferred = -1;
  bool fits = true;
  for (int i = 0; i < ndim; i++) {
    if (sizes[i] == -1) {
      if (inferred >= 0) return status_new(ERROR_RUNTIME, "only one dimension can be inferred");
      inferred = i;
    } else if (sizes[i] < 0) {
      return status_new(ERROR_RUNTIME, "invalid shape dimension %lld", (long long)sizes[i]);
    } else {
      fits = int64_mul(known, sizes[i], &known) && fits;
    }
    out[i] = sizes[i];
  }
  if (fits && inferred < 0 && known == numel) return OK;
  if (!fits || inferred < 0 || (known > 0 ? numel % known != 0 : numel != 0))
    return status_new(ERROR_RUNTIME, "shape '%s' is invalid for input of size %lld", SIZES_TEXT(ndim, sizes),
                      (long long)numel);
  if (known == 0)
    return status_new(
        ERROR_RUNTIME,
        "cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size -1 can be any "
        "value and is ambiguous",
        SIZES_TEXT(ndim, sizes));
  out[inferred] = numel / known;
  return OK;
}

/* Whether dimension a belongs further out than b: 1 yes, -1 no, 0 the strides don't say. */
static int compare_dims(const int64_t *sizes, int count, const int64_t *const *strides, int a, int b) {
  for (int k = 0; k < count; k++) {
    int64_t stride_a = strides[k][a], stride_b = strides[k][b];
    if (stride_a == 0 || stride_b == 0) continue;
    if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

void dims_sort(int ndim, const int64_t *sizes, int count, const int64_t *const *strides, int *order) {
  assert(ndim >= 0 && ndim <= TENSOR_MAX_DIMS);
  for (int i = 0; i < ndim; i++) order[i] = ndim - 1 - i;
  for (int i = 1; i < ndim; i++) {
    for (int j = i - 1, at = i; j >= 0; j--) {
      int comparison = compare_dims(sizes, count, strides, order[j], order[at]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      int moved = order[at];
      order[at] = order[j];
      order[j] = moved;
      at = j;
    }
  }
}

void strides_preserve(int ndim, const int64_t *sizes, const int64_t *strides, int64_t *out) {
  int order[TENSOR_MAX_DIMS], outermost_first[TENSOR_MAX_DIMS];
  dims_sort(ndim, sizes, 1, &strides, order);
  for (int i = 0; i < ndim; i++) outermost_first[i] = order[ndim - 1 - i];
  strides_in_order(ndim, sizes, outermost_first, out);
}

static bool strides_match(const Tensor *t, const int *order) {
  int64_t expected = 1;
  for (int i = t->ndim - 1; i >= 0; i--) {
    int d = order[i];
    if (t->sizes[d] == 1) continue;
    if (t->strides[d] != expected) return false;
    expected *= t->sizes[d];
  }
  return true;
}

bool tensor_is_channels_last(const Tensor *t) {
  return tensor_has_format(t, t->ndim == 5 ? FORMAT_CHANNELS_LAST_3D : FORMAT_CHANNELS_LAST);
}

bool tensor_has_format(const Tensor *t, MemoryFormat format) {
  switch (format) {
    case FORMAT_CHANNELS_LAST:
      return t->ndim == 4 && strides_match(t, channels_last_order);
    case FORMAT_CHANNELS_LAST_3D:
      return t->ndim == 5 && strides_match(t, channels_last_3d_order);
    default:
      return t->contiguous;
  }
}

/* Strides that only a channels-last tensor has, gaps allowed; among ambiguous ones those of N111 and plain NCHW are
 * not. */
static bool strides_look_channels_last(int ndim, const int64_t *sizes, const int64_t *strides, const int *order) {
  int64_t least = 0;
  if (strides[1] == 0) return false;
  for (int i = ndim - 1; i >= 0; i--) {
    int d = order[i];
    if (sizes[d] == 0 || strides[d] < least) return false;
    if (d == 0 && least == strides[1]) return false;
    least = strides[d];
    if (sizes[d] > 1 && !int64_mul(least, sizes[d], &least)) return false;
  }
  return true;
}

MemoryFormat strides_suggested_format(int ndim, const int64_t *sizes, const int64_t *strides) {
  if (ndim == 4 && strides_look_channels_last(ndim, sizes, strides, channels_last_order)) return FORMAT_CHANNELS_LAST;
  if (ndim == 5 && strides_look_channels_last(ndim, sizes, strides, channels_last_3d_order))
    return FORMAT_CHANNELS_LAST_3D;
  return FORMAT_CONTIGUOUS;
}

MemoryFormat tensor_suggested_format(const Tensor *t) {
  return strides_suggested_format(t->ndim, t->sizes, t->strides);
}

Status strides_of_format(MemoryFormat format, int ndim, const int64_t *sizes, const Tensor *like, int64_t *out) {
  switch (format) {
    case FORMAT_CHANNELS_LAST:
      if (ndim != 4) return status_new(ERROR_RUNTIME, "required rank 4 tensor to use channels_last format");
      strides_channels_last(ndim, sizes, out);
      return OK;
    case FORMAT_CHANNELS_LAST_3D:
      if (ndim != 5) return status_new(ERROR_RUNTIME, "required rank 5 tensor to use channels_last_3d format");
      strides_channels_last(ndim, sizes, out);
      return OK;
    case FORMAT_PRESERVE:
      if (like && like->ndim == ndim) {
        if (tensor_is_dense(like) && memcmp(sizes, like->sizes, (size_t)ndim * sizeof *sizes) == 0)
          memcpy(out, like->strides, (size_t)ndim * sizeof *out);
        else
          strides_preserve(ndim, sizes, like->strides, out);
        return OK;
      }
      strides_contiguous(ndim, sizes, out);
      return OK;
    case FORMAT_CONTIGUOUS:
      strides_contiguous(ndim, sizes, out);
      return OK;
  }
  return status_new(ERROR_RUNTIME, "Unsupported memory format %d", (int)format);
}
