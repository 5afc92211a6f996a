/* Views: other sizes and strides over the same storage. Their gradients are views of the gradient, or a zero tensor
 * with the gradient written into the same place (op/tensor/view_scatter.c). */
#include "op/tensor/view.h"

#include "call/row_extras.h"

/* ---- what the forms share ---- */

/* What a row shows of its arguments: a new tensor over input 0's storage (or, for reshape, a copy where no view can
 * show it). */
typedef struct View {
  Status (*of)(const Call *c, Tensor **out);
} View;
static Status view_of(const Call *c, Tensor **out) {
  const View *view = call_with(c);
  return view->of(c, out);
}

/* Output 0 is the view. */
static Status kernel_view(Call *c) {
  Tensor *out;
  TRY(view_of(c, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* Output 0 is a copy of the view, in its order of dimensions. */
static Status kernel_view_copy(Call *c) {
  Tensor *shown, *copy;
  TRY(view_of(c, &shown));
  Status status = tensor_clone(shown, &copy);
  if (status == OK) call_set_tensor(c, 0, copy);
  tensor_release(shown);
  return status;
}

/* self takes the view's sizes and strides, and is output 0. */
static Status kernel_view_self(Call *c) {
  Tensor *self = call_tensor(c, 0), *shown;
  TRY(view_of(c, &shown));
  Status status = tensor_set_storage(self, self->storage, shown->offset, shown->ndim, shown->sizes, shown->strides);
  tensor_release(shown);
  TRY(status);
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

Status view_ints(const Call *c, uint32_t i, const int64_t **out, int *out_count) {
  size_t count;
  *out = call_ints(c, i, &count);
  if (count > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  *out_count = (int)count;
  return OK;
}

/* ---- sizes ---- */

Status view_sizes_or_error(const Tensor *t, int ndim, const int64_t *sizes, Tensor **out) {
  TRY(tensor_view_sizes(t, ndim, sizes, out));
  if (*out) return OK;
  return status_new(
      ERROR_RUNTIME,
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
      "contiguous subspaces). Use .reshape(...) instead.");
}

Status view_reshaped(const Tensor *t, int ndim, const int64_t *sizes, Tensor **out) {
  TRY(tensor_view_sizes(t, ndim, sizes, out));
  if (*out) return OK;
  Tensor *copy;
  TRY(tensor_contiguous(t, &copy));
  Status status = view_sizes_or_error(copy, ndim, sizes, out);
  tensor_release(copy);
  return status;
}

static Status view_view(const Call *c, Tensor **out) {
  const int64_t *sizes;
  int ndim;
  TRY(view_ints(c, 1, &sizes, &ndim));
  return view_sizes_or_error(call_tensor(c, 0), ndim, sizes, out);
}

static Status view_reshape(const Call *c, Tensor **out) {
  const int64_t *sizes;
  int ndim;
  TRY(view_ints(c, 1, &sizes, &ndim));
  return view_reshaped(call_tensor(c, 0), ndim, sizes, out);
}

static Status view_reshape_alias(const Call *c, Tensor **out) {
  const int64_t *sizes, *strides;
  int ndim, stride_count;
  TRY(view_ints(c, 1, &sizes, &ndim));
  TRY(view_ints(c, 2, &strides, &stride_count));
  if (ndim != stride_count) return status_new(ERROR_RUNTIME, "mismatch in length of strides and shape");
  return tensor_as_strided(call_tensor(c, 0), ndim, sizes, strides, call_tensor(c, 0)->offset, out);
}

static Status view_view_as(const Call *c, Tensor **out) {
  const Tensor *other = call_tensor(c, 1);
  return view_sizes_or_error(call_tensor(c, 0), other->ndim, other->sizes, out);
}

static Status view_reshape_as(const Call *c, Tensor **out) {
  const Tensor *other = call_tensor(c, 1);
  return view_reshaped(call_tensor(c, 0), other->ndim, other->sizes, out);
}

static Status view_ravel(const Call *c, Tensor **out) {
  Tensor *dense; /* not a view with gaps, which reshape would give */
  TRY(tensor_contiguous(call_tensor(c, 0), &dense));
  Status status = view_reshaped(dense, 1, (const int64_t[]){-1}, out);
  tensor_release(dense);
  return status;
}

/* The last dimension takes up or gives the difference in element size. */
static Status view_view_dtype(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  DType dtype = (DType)call_int(c, 1);
  if (!dtype_is_valid(call_int(c, 1)))
    return status_new(ERROR_RUNTIME, "view: %lld is no dtype", (long long)call_int(c, 1));
  if (t->flags & (TENSOR_CONJ | TENSOR_NEG | TENSOR_QUANTIZED) || dtype_is_quantized(dtype))
    return status_new(ERROR_UNSUPPORTED, "view: lazily conjugated or quantized tensors as another dtype");
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], offset = t->offset;
  int64_t from = (int64_t)dtype_size((DType)t->dtype), to = (int64_t)dtype_size(dtype);
  int ndim = t->ndim;
  memcpy(sizes, t->sizes, (size_t)ndim * sizeof *sizes);
  memcpy(strides, t->strides, (size_t)ndim * sizeof *strides);
  if (from != to) {
    if (ndim == 0)
      return status_new(ERROR_RUNTIME, "self.dim() cannot be 0 to view %s as %s (different element sizes)",
                        dtype_scalar_name((DType)t->dtype), dtype_scalar_name(dtype));
    if (strides[ndim - 1] != 1)
      return status_new(ERROR_RUNTIME,
                        "self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %lld",
                        dtype_scalar_name((DType)t->dtype), dtype_scalar_name(dtype), (long long)strides[ndim - 1]);
    int64_t ratio = from > to ? from / to : to / from;
    if (from < to) {
      if (sizes[ndim - 1] % ratio)
        return status_new(
            ERROR_RUNTIME,
            "self.size(-1) must be divisible by %lld to view %s as %s (different element sizes), but got %lld",
            (long long)ratio, dtype_scalar_name((DType)t->dtype), dtype_scalar_name(dtype), (long long)sizes[ndim - 1]);
      if (offset % ratio)
        return status_new(
            ERROR_RUNTIME,
            "self.storage_offset() must be divisible by %lld to view %s as %s (different element sizes), but got %lld",
            (long long)ratio, dtype_scalar_name((DType)t->dtype), dtype_scalar_name(dtype), (long long)offset);
      sizes[ndim - 1] /= ratio;
      offset /= ratio;
    } else if (!int64_mul(sizes[ndim - 1], ratio, &sizes[ndim - 1]) || !int64_mul(offset, ratio, &offset)) {
      return status_out_of_memory();
    }
    for (int i = 0; i < ndim - 1; i++) {
      if (from > to) {
        if (!int64_mul(strides[i], ratio, &strides[i])) return status_out_of_memory();
        continue;
      }
      if (strides[i] % ratio)
        return status_new(
            ERROR_RUNTIME,
            "self.stride(%d) must be divisible by %lld to view %s as %s (different element sizes), but got %lld", i,
            (long long)ratio, dtype_scalar_name((DType)t->dtype), dtype_scalar_name(dtype), (long long)strides[i]);
      strides[i] /= ratio;
    }
  }
  TRY(tensor_from_storage(t->storage, dtype, ndim, sizes, strides, offset, out));
  (*out)->flags |= t->flags & TENSOR_META;
  return OK;
}

static Status view_flatten(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  int64_t start, end, sizes[TENSOR_MAX_DIMS];
  TRY(dim_wrap(call_int(c, 1), t->ndim, &start));
  TRY(dim_wrap(call_int(c, 2), t->ndim, &end));
  if (start > end) return status_new(ERROR_RUNTIME, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (t->ndim == 0) return view_reshaped(t, 1, (const int64_t[]){1}, out);
  if (start == end) return tensor_alias(t, out);
  int n = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (i > start && i <= end)
      sizes[n - 1] *= t->sizes[i]; /* within numel, or there is a zero */
    else
      sizes[n++] = t->sizes[i];
  }
  return view_reshaped(t, n, sizes, out);
}

static Status view_unflatten(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  const int64_t *given;
  int count, inferred = -1;
  int64_t dim, sizes[2 * TENSOR_MAX_DIMS], product = 1;
  TRY(dim_wrap(call_int(c, 1), t->ndim, &dim));
  TRY(view_ints(c, 2, &given, &count));
  if (count == 0) return status_new(ERROR_RUNTIME, "unflatten: sizes must be non-empty");
  if (t->ndim == 0) return status_new(ERROR_RUNTIME, "unflatten: a tensor without dimensions");
  for (int i = 0; i < count; i++) {
    if (given[i] == -1 && inferred < 0)
      inferred = i;
    else if (given[i] < 0)
      return status_new(ERROR_RUNTIME, "only one dimension can be inferred");
    else if (!int64_mul(product, given[i], &product))
      return status_new(ERROR_RUNTIME, "unflatten: sizes are too large");
  }
  bool fits = inferred < 0 ? product == t->sizes[dim] : product > 0 && t->sizes[dim] % product == 0;
  if (!fits)
    return status_new(
        ERROR_RUNTIME,
        "unflatten: Provided sizes %s don't multiply up to the size of dim %lld (%lld) in the input tensor",
        SIZES_TEXT(count, given), (long long)dim, (long long)t->sizes[dim]);
  int n = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (i != dim) {
      sizes[n++] = t->sizes[i];
      continue;
    }
    for (int k = 0; k < count; k++) sizes[n++] = k == inferred ? t->sizes[dim] / product : given[k];
  }
  if (n > TENSOR_MAX_DIMS) return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  return view_sizes_or_error(t, n, sizes, out);
}

static Status view_squeeze(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  int n = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (t->sizes[i] == 1) continue;
    sizes[n] = t->sizes[i];
    strides[n++] = t->strides[i];
  }
  return tensor_as_strided(t, n, sizes, strides, t->offset, out);
}

static Status view_squeeze_dim(const Call *c, Tensor **out) {
  return tensor_squeeze_dim(call_tensor(c, 0), call_int(c, 1), out);
}
/* Of the dimensions listed, those of size 1 go. */
static Status view_squeeze_dims(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  bool listed[TENSOR_MAX_DIMS] = {0};
  const int64_t *dims;
  int count, n = 0;
  TRY(view_ints(c, 1, &dims, &count));
  for (int i = 0; i < count; i++) {
    int64_t dim;
    TRY(dim_wrap(dims[i], t->ndim, &dim));
    if (t->ndim && listed[dim])
      return status_new(ERROR_RUNTIME, "dim %lld appears multiple times in the list of dims", (long long)dim);
    if (t->ndim) listed[dim] = true;
  }
  for (int i = 0; i < t->ndim; i++) {
    if (listed[i] && t->sizes[i] == 1) continue;
    sizes[n] = t->sizes[i];
    strides[n++] = t->strides[i];
  }
  return tensor_as_strided(t, n, sizes, strides, t->offset, out);
}
static Status view_unsqueeze(const Call *c, Tensor **out) {
  return tensor_unsqueeze(call_tensor(c, 0), call_int(c, 1), out);
}

/* ---- orders of dimensions ---- */

static Status view_transpose(const Call *c, Tensor **out) {
  return tensor_transpose(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), out);
}

static Status view_t(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim > 2)
    return status_new(ERROR_RUNTIME, "t() expects a tensor with <= 2 dimensions, but self is %dD", t->ndim);
  return t->ndim < 2 ? tensor_alias(t, out) : tensor_transpose(t, 0, 1, out);
}

static Status view_numpy_T(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  int64_t order[TENSOR_MAX_DIMS];
  for (int i = 0; i < t->ndim; i++) order[i] = t->ndim - 1 - i;
  return tensor_permute(t, order, out);
}

static Status view_mT(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim == 0) return tensor_alias(t, out);
  if (t->ndim < 2)
    return status_new(ERROR_RUNTIME, "tensor.mT is only supported on matrices or batches of matrices. Got %d-D tensor.",
                      t->ndim);
  return tensor_transpose(t, -2, -1, out);
}

/* A conjugated matrix shares the storage: the flag says how it reads. */
static Status conjugate_transpose(const Tensor *t, int64_t dim0, int64_t dim1, Tensor **out) {
  TRY(t->ndim == 0 ? tensor_alias(t, out) : tensor_transpose(t, dim0, dim1, out));
  if (dtype_is_complex((DType)t->dtype)) (*out)->flags ^= TENSOR_CONJ;
  return OK;
}

static Status view_mH(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim == 0) return conjugate_transpose(t, 0, 0, out);
  if (t->ndim < 2)
    return status_new(ERROR_RUNTIME, "tensor.mH is only supported on matrices or batches of matrices. Got %d-D tensor.",
                      t->ndim);
  return conjugate_transpose(t, -2, -1, out);
}

static Status view_adjoint(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim == 0) return conjugate_transpose(t, 0, 0, out);
  if (t->ndim < 2)
    return status_new(ERROR_RUNTIME,
                      "tensor.adjoint() is only supported on matrices or batches of matrices. Got %d-D tensor.",
                      t->ndim);
  return conjugate_transpose(t, -2, -1, out);
}

static Status view_matrix_H(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim != 0 && t->ndim != 2)
    return status_new(ERROR_RUNTIME, "tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor.%s",
                      t->ndim, t->ndim > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return conjugate_transpose(t, 0, t->ndim == 0 ? 0 : 1, out);
}

static Status view_permute(const Call *c, Tensor **out) {
  const Tensor *t = call_tensor(c, 0);
  const int64_t *dims;
  int count;
  TRY(view_ints(c, 1, &dims, &count));
  if (count != t->ndim)
    return status_new(ERROR_RUNTIME,
                      "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
                      "desired ordering "
                      "of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d",
                      t->ndim, count);
  return tensor_permute(t, dims, out);
}

static Status move_dims(const Tensor *t, int count, const int64_t *source, int destination_count,
                        const int64_t *destination, Tensor **out) {
  if (count != destination_count)
    return status_new(
        ERROR_RUNTIME,
        "movedim: Invalid source or destination dims: source (%s dims) should contain the same number of dims as "
        "destination (%s dims)",
        SIZES_TEXT(count, source), SIZES_TEXT(destination_count, destination));
  int64_t order[TENSOR_MAX_DIMS];
  bool moved[TENSOR_MAX_DIMS] = {false}, taken[TENSOR_MAX_DIMS] = {false};
  for (int i = 0; i < count; i++) {
    int64_t from, to;
    TRY(dim_wrap(source[i], t->ndim, &from));
    TRY(dim_wrap(destination[i], t->ndim, &to));
    if (t->ndim == 0) continue;
    if (moved[from])
      return status_new(ERROR_RUNTIME, "movedim: repeated dim in `source` (%s)", SIZES_TEXT(count, source));
    if (taken[to])
      return status_new(ERROR_RUNTIME, "movedim: repeated dim in `destination` (%s)", SIZES_TEXT(count, destination));
    moved[from] = taken[to] = true;
    order[to] = from;
  }
  for (int to = 0, from = 0; to < t->ndim; to++) {
    if (taken[to]) continue;
    while (moved[from]) from++;
    order[to] = from++;
  }
  return tensor_permute(t, order, out);
}

static Status view_movedim(const Call *c, Tensor **out) {
  return move_dims(call_tensor(c, 0), 1, (const int64_t[]){call_int(c, 1)}, 1, (const int64_t[]){call_int(c, 2)}, out);
}

static Status view_movedim_list(const Call *c, Tensor **out) {
  const int64_t *source, *destination;
  int count, destination_count;
  TRY(view_ints(c, 1, &source, &count));
  TRY(view_ints(c, 2, &destination, &destination_count));
  return move_dims(call_tensor(c, 0), count, source, destination_count, destination, out);
}

/* ---- parts ---- */

static Status view_select(const Call *c, Tensor **out) {
  return tensor_select(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), out);
}

Status view_slice(const Call *c, uint32_t first, const Tensor *t, Tensor **out) {
  return tensor_slice(t, call_int(c, first), call_int_or(c, first + 1, 0), call_int_or(c, first + 2, INT64_MAX),
                      call_int(c, first + 3), out);
}

static Status view_slice_tensor(const Call *c, Tensor **out) {
  return view_slice(c, 1, call_tensor(c, 0), out);
}

static Status view_narrow(const Call *c, Tensor **out) {
  return tensor_narrow(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_int(c, 3), out);
}

static Status view_narrow_tensor(const Call *c, Tensor **out) {
  const Tensor *start = call_tensor(c, 2);
  if (start->ndim != 0 || !(dtype_is_integral((DType)start->dtype)))
    return status_new(ERROR_RUNTIME, "start must be an 0-dim integral Tensor.");
  if (start->flags & TENSOR_META) return status_new(ERROR_UNSUPPORTED, "aten::narrow: start has no data");
  TRY(tensor_check_host(start));
  return tensor_narrow(call_tensor(c, 0), call_int(c, 1), tensor_item_int(start), call_int(c, 3), out);
}

Status view_diagonal(const Tensor *t, int64_t offset, int64_t dim1, int64_t dim2, Tensor **out) {
  int64_t d1, d2, sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  TRY(dim_wrap(dim1, t->ndim, &d1));
  TRY(dim_wrap(dim2, t->ndim, &d2));
  if (d1 == d2)
    return status_new(ERROR_RUNTIME, "diagonal dimensions cannot be identical %lld, %lld", (long long)dim1,
                      (long long)dim2);
  int64_t rows = t->sizes[d1], columns = t->sizes[d2], start = t->offset, length;
  if (offset >= 0)
    length = offset > columns ? 0 : rows < columns - offset ? rows : columns - offset;
  else
    length = -(offset + 1) >= rows ? 0 : rows + offset < columns ? rows + offset : columns;
  if (length < 0) length = 0;
  if (length > 0) start += offset >= 0 ? offset * t->strides[d2] : -offset * t->strides[d1];
  int n = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (i == d1 || i == d2) continue;
    sizes[n] = t->sizes[i];
    strides[n++] = t->strides[i];
  }
  sizes[n] = length;
  strides[n++] = t->strides[d1] + t->strides[d2];
  return tensor_as_strided(t, n, sizes, strides, start, out);
}

static Status view_diagonal_args(const Call *c, Tensor **out) {
  return view_diagonal(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_int(c, 3), out);
}

Status view_unfold(const Tensor *t, int64_t dimension, int64_t size, int64_t step, Tensor **out) {
  int64_t dim, sizes[TENSOR_MAX_DIMS + 1], strides[TENSOR_MAX_DIMS + 1];
  TRY(dim_wrap(dimension, t->ndim, &dim));
  int64_t length = t->ndim == 0 ? 1 : t->sizes[dim];
  if (size > length)
    return status_new(ERROR_RUNTIME, "maximum size for tensor at dimension %lld is %lld but size is %lld",
                      (long long)dim, (long long)length, (long long)size);
  if (step <= 0) return status_new(ERROR_RUNTIME, "step is %lld but must be > 0", (long long)step);
  if (size < 0) return status_new(ERROR_RUNTIME, "size is %lld but must be >= 0", (long long)size);
  if (t->ndim == TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  memcpy(sizes, t->sizes, t->ndim * sizeof *sizes);
  memcpy(strides, t->strides, t->ndim * sizeof *strides);
  sizes[t->ndim] = size;
  strides[t->ndim] = t->ndim == 0 ? 1 : t->strides[dim];
  if (t->ndim > 0) {
    sizes[dim] = (length - size) / step + 1;
    if (!int64_mul(strides[dim], step, &strides[dim])) {
      if (sizes[dim] > 1) return status_new(ERROR_RUNTIME, "step %lld is too large", (long long)step);
      strides[dim] = 1;
    }
  }
  return tensor_as_strided(t, t->ndim + 1, sizes, strides, t->offset, out);
}

static Status view_unfold_args(const Call *c, Tensor **out) {
  return view_unfold(call_tensor(c, 0), call_int(c, 1), call_int(c, 2), call_int(c, 3), out);
}

Status view_strided(const Call *c, uint32_t first, const Tensor *t, Tensor **out) {
  const int64_t *sizes, *strides;
  int ndim, stride_count;
  TRY(view_ints(c, first, &sizes, &ndim));
  TRY(view_ints(c, first + 1, &strides, &stride_count));
  if (ndim != stride_count) return status_new(ERROR_RUNTIME, "mismatch in length of strides and shape");
  for (int i = 0; i < ndim; i++)
    if (strides[i] < 0)
      return status_new(ERROR_RUNTIME, "as_strided: Negative strides are not supported at the moment, got strides: %s",
                        SIZES_TEXT(ndim, strides));
  return tensor_as_strided(t, ndim, sizes, strides, call_int_or(c, first + 2, t->offset), out);
}

static Status view_as_strided(const Call *c, Tensor **out) {
  return view_strided(c, 1, call_tensor(c, 0), out);
}

static Status view_expand(const Call *c, Tensor **out) {
  const int64_t *sizes;
  int ndim;
  TRY(view_ints(c, 1, &sizes, &ndim));
  return tensor_expand(call_tensor(c, 0), ndim, sizes, out);
}

static Status view_expand_as(const Call *c, Tensor **out) {
  const Tensor *other = call_tensor(c, 1);
  return tensor_expand(call_tensor(c, 0), other->ndim, other->sizes, out);
}

static Status view_alias(const Call *c, Tensor **out) {
  return tensor_alias(call_tensor(c, 0), out);
}

/* ---- kernels ---- */

/* narrow_copy is older than the other copying forms: always row-major. */
static Status kernel_narrow_row_major(Call *c) {
  Tensor *shown, *copy;
  TRY(view_narrow(c, &shown));
  Status status = tensor_contiguous(shown, &copy);
  if (status == OK && tensor_shares_storage(copy, shown)) {
    tensor_release(copy);
    status = tensor_clone(shown, &copy);
  }
  if (status == OK) call_set_tensor(c, 0, copy);
  tensor_release(shown);
  return status;
}

#define SHOWS(name)       \
  .with = &(const View) { \
    view_##name           \
  }
#define ROW(text, name, ...) \
  { .schema = text, .kernel = kernel_view, SHOWS(name), .flags = OP_VIEW, .grad = __VA_ARGS__ }
#define LIKE_ROW(text, name, gradient) \
  { .schema = text, .kernel = kernel_view, SHOWS(name), .grad = gradient, .flags = OP_VIEW | OP_METADATA_OTHERS }
#define EXACT_ROW(text, name, gradient) \
  { .schema = text, .kernel = kernel_view, SHOWS(name), .grad = gradient, .flags = OP_VIEW | OP_GRAD_EXACT }
#define COPY_ROW(text, name, gradient) \
  { .schema = text, .kernel = kernel_view_copy, SHOWS(name), .grad = gradient, .flags = OP_VIEW | OP_OUT }
#define SELF_ROW(text, name, ...) \
  { .schema = text, .kernel = kernel_view_self, SHOWS(name), .flags = OP_VIEW | OP_RESHAPES, .grad = __VA_ARGS__ }
#define GRAD_SIZES "self: grad.reshape(self.size())"
#define GRAD_SELECT "self: torch.select_backward(grad, self.size(), dim, index)"
#define GRAD_SLICE                                                                                                   \
  "self: torch.slice_backward(grad, self.size(), dim, 0 if start is None else start, 9223372036854775807 if end is " \
  "None else end, step)"
#define GRAD_NARROW                                                                                      \
  "self: torch.slice_backward(grad, self.size(), dim, start, start + length if start >= 0 else start + " \
  "self.size(dim) + length, 1)"
#define GRAD_PERMUTE "self: torch.movedim(grad, [i for i in range(len(dims))], dims)"
#define GRAD_DIAGONAL "self: torch.diagonal_backward(grad, self.size(), offset, dim1, dim2)"
#define GRAD_UNFOLD "self: torch.unfold_backward(grad, self.size(), dimension, size, step)"
#define GRAD_STRIDED "self: torch._as_strided_backward(grad, self, size, stride, storage_offset)"
#define GRAD_VIEW_DTYPE "self: grad.view(self.dtype)"

static const OpRow rows[] = {
    EXACT_ROW("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", view, GRAD_SIZES),
    /* Unlike view, its copying form takes any sizes. */
    COPY_ROW("aten::view_copy(Tensor self, SymInt[] size) -> Tensor", reshape, GRAD_SIZES),
    {.schema = "aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
     .kernel = kernel_view,
     SHOWS(view),
     .grad = GRAD_SIZES,
     .flags = OP_VIEW | OP_RETURNS_ARGUMENT},
    /* dtypes are ints here, so it would shadow view(int[]) */
    ROW("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", view_dtype, GRAD_VIEW_DTYPE,
        .extras = &(const RowExtras){.blocked = "dtype"}),
    COPY_ROW("aten::view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", view_dtype, GRAD_VIEW_DTYPE),
    ROW("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", reshape, GRAD_SIZES),
    ROW("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", reshape_alias, GRAD_SIZES),
    COPY_ROW("aten::_reshape_alias_copy(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor", reshape_alias,
             GRAD_SIZES),
    LIKE_ROW("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", view_as, GRAD_SIZES),
    LIKE_ROW("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", reshape_as, GRAD_SIZES),
    ROW("aten::ravel(Tensor(a) self) -> Tensor(a)", ravel, GRAD_SIZES),
    ROW("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", flatten, GRAD_SIZES),
    ROW("aten::unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", unflatten, GRAD_SIZES),
    ROW("aten::squeeze(Tensor(a) self) -> Tensor(a)", squeeze, GRAD_SIZES),
    COPY_ROW("aten::squeeze_copy(Tensor self) -> Tensor", squeeze, GRAD_SIZES),
    ROW("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeeze_dim, GRAD_SIZES),
    COPY_ROW("aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor", squeeze_dim, GRAD_SIZES),
    ROW("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeeze_dims, GRAD_SIZES),
    COPY_ROW("aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", squeeze_dims, GRAD_SIZES),
    SELF_ROW("aten::squeeze_(Tensor(a!) self) -> Tensor(a!)", squeeze, GRAD_SIZES),
    SELF_ROW("aten::squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", squeeze_dims, GRAD_SIZES),
    SELF_ROW("aten::squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", squeeze_dim, GRAD_SIZES),
    ROW("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueeze, "self: grad.squeeze(dim)"),
    COPY_ROW("aten::unsqueeze_copy(Tensor self, int dim) -> Tensor", unsqueeze, "self: grad.squeeze(dim)"),
    SELF_ROW("aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", unsqueeze, "self: grad.squeeze(dim)"),
    EXACT_ROW("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose,
              "self: grad.transpose(dim0, dim1)"),
    COPY_ROW("aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", transpose,
             "self: grad.transpose(dim0, dim1)"),
    SELF_ROW("aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", transpose,
             "self: grad.transpose(dim0, dim1)"),
    ROW("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose,
        "self: grad.transpose(dim0, dim1)", .same_as = "aten::transpose"),
    SELF_ROW("aten::swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", transpose,
             "self: grad.transpose(dim0, dim1)", .same_as = "aten::transpose_"),
    ROW("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", transpose,
        "self: grad.transpose(axis0, axis1)", .same_as = "aten::transpose"),
    SELF_ROW("aten::swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)", transpose,
             "self: grad.transpose(axis0, axis1)", .same_as = "aten::transpose_"),
    EXACT_ROW("aten::t(Tensor(a) self) -> Tensor(a)", t, "self: grad.t()"),
    COPY_ROW("aten::t_copy(Tensor self) -> Tensor", t, "self: grad.t()"),
    SELF_ROW("aten::t_(Tensor(a!) self) -> Tensor(a!)", t, "self: grad.t()"),
    ROW("aten::numpy_T(Tensor(a) self) -> Tensor(a)", numpy_T, "self: torch.numpy_T(grad)"),
    ROW("aten::numpy_T.a(Tensor(a) self) -> Tensor(a)", numpy_T, "self: torch.numpy_T(grad)"),
    ROW("aten::mT(Tensor(a) self) -> Tensor(a)", mT, "self: torch.mT(grad)"),
    ROW("aten::mT.a(Tensor(a) self) -> Tensor(a)", mT, "self: torch.mT(grad)"),
    ROW("aten::mH(Tensor(a) self) -> Tensor(a)", mH, "self: torch.adjoint(grad)"),
    ROW("aten::mH.a(Tensor(a) self) -> Tensor(a)", mH, "self: torch.adjoint(grad)"),
    ROW("aten::matrix_H(Tensor(a) self) -> Tensor(a)", matrix_H, "self: torch.matrix_H(grad)"),
    ROW("aten::matrix_H.a(Tensor(a) self) -> Tensor(a)", matrix_H, "self: torch.matrix_H(grad)"),
    ROW("aten::adjoint(Tensor(a) self) -> Tensor(a)", adjoint, "self: torch.adjoint(grad)"),
    EXACT_ROW("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", permute, GRAD_PERMUTE),
    COPY_ROW("aten::permute_copy(Tensor self, int[] dims) -> Tensor", permute, GRAD_PERMUTE),
    ROW("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", movedim,
        "self: torch.movedim(grad, destination, source)"),
    ROW("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", movedim_list,
        "self: torch.movedim(grad, destination, source)"),
    ROW("aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", movedim,
        "self: torch.movedim(grad, destination, source)", .same_as = "aten::movedim"),
    ROW("aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", movedim_list,
        "self: torch.movedim(grad, destination, source)", .same_as = "aten::movedim"),
    ROW("aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)", select, GRAD_SELECT),
    COPY_ROW("aten::select_copy.int(Tensor self, int dim, int index) -> Tensor", select, GRAD_SELECT),
    ROW("aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
        "Tensor(a)",
        slice_tensor, GRAD_SLICE),
    COPY_ROW("aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
             "Tensor",
             slice_tensor, GRAD_SLICE),
    ROW("aten::narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)", narrow, GRAD_NARROW),
    ROW("aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)", narrow_tensor,
        "self: torch.slice_backward(grad, self.size(), dim, int(start), int(start) + length if int(start) >= 0 else "
        "int(start) + self.size(dim) + length, 1)"),
    {.schema = "aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
     .kernel = kernel_narrow_row_major,
     .grad = GRAD_NARROW,
     .flags = OP_VIEW | OP_OUT},
    ROW("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", diagonal_args,
        GRAD_DIAGONAL),
    COPY_ROW("aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", diagonal_args,
             GRAD_DIAGONAL),
    ROW("aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)", diagonal_args,
        "A: torch.diagonal_backward(grad, A.size(), offset, dim1, dim2)"),
    ROW("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", unfold_args, GRAD_UNFOLD),
    COPY_ROW("aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", unfold_args, GRAD_UNFOLD),
    ROW("aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
        as_strided, GRAD_STRIDED),
    COPY_ROW(
        "aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
        as_strided, GRAD_STRIDED),
    SELF_ROW(
        "aten::as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
        as_strided, NULL),
    ROW("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", expand, "self: grad"),
    COPY_ROW("aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor", expand, "self: grad"),
    LIKE_ROW("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", expand_as, "self: grad"),
    ROW("aten::broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", expand, "self: grad"),
    {.schema = "aten::alias(Tensor(a) self) -> Tensor(a)",
     .kernel = kernel_view,
     SHOWS(alias),
     .grad = "self: grad",
     .flags = OP_VIEW | OP_ACCEPT_ANY},
    /* For bodies of operators whose gradient has a layout of its own. */
    ROW("aten::_gradient_in_format(Tensor(a) self, str format) -> Tensor(a)", alias,
        "self: gradient_in_format(grad, self, format)"),
    COPY_ROW("aten::alias_copy(Tensor self) -> Tensor", alias, "self: grad"),
    {.schema = "aten::lift(Tensor self) -> Tensor",
     .kernel = kernel_view,
     SHOWS(alias),
     .grad = "self: grad",
     .flags = OP_VIEW | OP_RETURNS_ARGUMENT},
    ROW("aten::lift_fresh(Tensor(a) self) -> Tensor(a)", alias, "self: grad"),
    COPY_ROW("aten::lift_fresh_copy(Tensor self) -> Tensor", alias, "self: grad"),
    {.schema = "aten::detach(Tensor(a) self) -> Tensor(a)",
     .kernel = kernel_view,
     SHOWS(alias),
     .flags = OP_VIEW | OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::detach_copy(Tensor self) -> Tensor",
     .kernel = kernel_view_copy,
     SHOWS(alias),
     .flags = OP_VIEW | OP_OUT | OP_NOT_DIFFERENTIABLE},
};
OP_TABLE(op_table_view, rows);
