/* Sparse tensors: their parts, checked when they are put together. */
#include "tensor/sparse.h"

#include <assert.h>

const char *layout_name(Layout layout) {
  switch (layout) {
    case LAYOUT_SPARSE_COO:
      return "Sparse";
    case LAYOUT_SPARSE_CSR:
      return "SparseCsr";
    case LAYOUT_SPARSE_CSC:
      return "SparseCsc";
    default:
      return "Strided";
  }
}

/* ---- parts ---- */

static void free_parts(TensorExtension *extension) {
  SparseParts *parts = (SparseParts *)extension;
  tensor_release(parts->indices);
  tensor_release(parts->begins);
  tensor_release(parts->values);
  mem_free(parts);
}

/* Nobody may change indices that were checked: they are in memory of their own, which is never written. */
static Status own_indices(const Tensor *t, Tensor **out) {
  if (t->storage->flags & STORAGE_READ_ONLY && !t->storage->is_shown) return tensor_alias(t, out);
  TRY(tensor_empty((DType)t->dtype, t->ndim, t->sizes, out));
  Status status = tensor_copy(*out, t, 1);
  if (status) {
    tensor_release(*out);
    *out = NULL;
    return status;
  }
  (*out)->storage->flags |= STORAGE_READ_ONLY;
  return OK;
}

/* Indices are owned already; values are seen through an alias, whose sizes nobody else can change. */
static Status new_sparse(int ndim, const int64_t *sizes, const SparseParts *form, Tensor **out) {
  assert(form->indices && form->values);
  SparseParts *parts = mem_calloc(1, sizeof *parts);
  if (!parts) return status_out_of_memory();
  *parts = *form;
  parts->indices = parts->begins = parts->values = NULL;
  ref_init(&parts->base.refs);
  parts->base.kind = EXTENSION_SPARSE;
  parts->base.free = free_parts;
  Status status = tensor_alias(form->indices, &parts->indices);
  if (!status) status = tensor_alias(form->values, &parts->values);
  if (!status && form->begins) status = tensor_alias(form->begins, &parts->begins);
  if (!status) status = tensor_new_extended((DType)form->values->dtype, ndim, sizes, TENSOR_SPARSE, &parts->base, out);
  if (status) free_parts(&parts->base);
  return status;
}

static Status check_plain(const Tensor *t, const char *what) {
  if (!tensor_is_defined(t)) return status_new(ERROR_RUNTIME, "%s of a sparse tensor are undefined", what);
  if (t->flags & TENSOR_UNUSUAL || dtype_is_quantized((DType)t->dtype))
    return status_new(ERROR_RUNTIME, "%s of a sparse tensor must be a plain tensor", what);
  return OK;
}

/* ---- COO ---- */

static Status check_index_range(const Tensor *indices, const int64_t *sizes) {
  int64_t nnz = indices->sizes[1];
  for (int d = 0; d < indices->sizes[0]; d++) {
    const int64_t *at = (const int64_t *)tensor_data(indices) + d * indices->strides[0];
    for (int64_t i = 0; i < nnz; i++) {
      int64_t index = at[i * indices->strides[1]];
      if (index < 0) return status_new(ERROR_RUNTIME, "found negative index %lld for dim %d", (long long)index, d);
      if (index >= sizes[d])
        return status_new(ERROR_RUNTIME,
                          "size is inconsistent with indices: for dim %d, size is %lld but found index %lld", d,
                          (long long)sizes[d], (long long)index);
    }
  }
  return OK;
}

static Status check_coo(int ndim, const int64_t *sizes, const Tensor *indices, const Tensor *values) {
  if (indices->ndim != 2)
    return status_new(ERROR_RUNTIME, "indices must be sparse_dim x nnz, but got: %s",
                      SIZES_TEXT(indices->ndim, indices->sizes));
  if (indices->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "expected scalar type Long but found %s",
                      dtype_scalar_name((DType)indices->dtype));
  int sparse_dim = (int)indices->sizes[0], dense_dim = values->ndim - 1;
  if (values->ndim < 1 || indices->sizes[0] > TENSOR_MAX_DIMS || sparse_dim + dense_dim != ndim)
    return status_new(ERROR_RUNTIME, "number of dimensions must be sparse_dim (%lld) + dense_dim (%d), but got %d",
                      (long long)indices->sizes[0], dense_dim, ndim);
  if (indices->sizes[1] != values->sizes[0])
    return status_new(ERROR_RUNTIME,
                      "indices and values must have same nnz, but got nnz from indices: %lld, nnz from values: %lld",
                      (long long)indices->sizes[1], (long long)values->sizes[0]);
  for (int d = 0; d < dense_dim; d++)
    if (values->sizes[d + 1] != sizes[sparse_dim + d])
      return status_new(ERROR_RUNTIME, "values has incorrect size, expected size %lld of dimension %d, got %s",
                        (long long)sizes[sparse_dim + d], d + 1, SIZES_TEXT(values->ndim, values->sizes));
  int64_t extent;
  TRY(sizes_numel(sparse_dim, sizes, &extent)); /* so that places can be counted */
  return check_index_range(indices, sizes);
}

Status tensor_new_coo(int ndim, const int64_t *sizes, Tensor *indices, Tensor *values, bool coalesced, Tensor **out) {
  int64_t numel;
  TRY(sizes_numel(ndim, sizes, &numel));
  TRY(check_plain(indices, "indices"));
  TRY(check_plain(values, "values"));
  Tensor *own;
  TRY(own_indices(indices, &own));
  Status status = check_coo(ndim, sizes, own, values);
  if (!status) {
    SparseParts form = {.layout = LAYOUT_SPARSE_COO, .coalesced = coalesced, .indices = own, .values = values};
    form.sparse_dim = (int)own->sizes[0];
    status = new_sparse(ndim, sizes, &form, out);
  }
  tensor_release(own);
  return status;
}

int64_t tensor_coo_extent(const Tensor *t) {
  int64_t extent = 0;
  Status status = sizes_numel(tensor_sparse_parts(t)->sparse_dim, t->sizes, &extent);
  assert(!status && "checked when the tensor was made");
  (void)status;
  return extent;
}

Status tensor_coo_places(const Tensor *t, Tensor **out) {
  const SparseParts *parts = tensor_sparse_parts(t);
  const Tensor *indices = parts->indices;
  int64_t nnz = tensor_nnz(t);
  TRY(tensor_empty(DTYPE_INT64, 1, &nnz, out));
  tensor_fill_zero(*out);
  int64_t *places = tensor_data(*out);
  for (int d = 0; d < parts->sparse_dim; d++) {
    const int64_t *at = (const int64_t *)tensor_data(indices) + d * indices->strides[0];
    for (int64_t i = 0; i < nnz; i++) places[i] = places[i] * t->sizes[d] + at[i * indices->strides[1]];
  }
  return OK;
}

/* ---- CSR and CSC ---- */

static int64_t index_at(const Tensor *t, int64_t i) {
  assert(t->dtype == DTYPE_INT32 || t->dtype == DTYPE_INT64);
  const char *data = tensor_data(t);
  return t->dtype == DTYPE_INT32 ? ((const int32_t *)data)[i * t->strides[0]]
                                 : ((const int64_t *)data)[i * t->strides[0]];
}

static Status check_compressed(Layout layout, int ndim, const int64_t *sizes, const Tensor *begins,
                               const Tensor *indices, const Tensor *values) {
  bool by_rows = layout == LAYOUT_SPARSE_CSR;
  const char *begin_name = by_rows ? "crow_indices" : "ccol_indices", *name = by_rows ? "col_indices" : "row_indices";
  if (ndim != 2 || begins->ndim != 1 || indices->ndim != 1 || values->ndim != 1)
    return status_new(ERROR_UNSUPPORTED, "compressed sparse tensors other than single matrices");
  if (begins->dtype != indices->dtype || (begins->dtype != DTYPE_INT64 && begins->dtype != DTYPE_INT32))
    return status_new(ERROR_RUNTIME, "%s and %s must be int32 or int64 tensors of the same dtype, but got %s and %s",
                      begin_name, name, dtype_scalar_name((DType)begins->dtype),
                      dtype_scalar_name((DType)indices->dtype));
  int64_t lines = sizes[by_rows ? 0 : 1], across = sizes[by_rows ? 1 : 0], nnz = values->sizes[0];
  if (lines < 0 || begins->sizes[0] - 1 != lines)
    return status_new(ERROR_RUNTIME, "%s.shape[-1] must be equal to the number of %s plus 1 (=%lld), but got %lld",
                      begin_name, by_rows ? "rows" : "columns", (long long)lines + 1, (long long)begins->sizes[0]);
  if (indices->sizes[0] != nnz)
    return status_new(ERROR_RUNTIME, "number of elements in %s and values must be the same, but got %lld and %lld",
                      name, (long long)indices->sizes[0], (long long)nnz);
  if (index_at(begins, 0) != 0) return status_new(ERROR_RUNTIME, "`%s[..., 0] == 0` is not satisfied.", begin_name);
  if (index_at(begins, lines) != nnz)
    return status_new(ERROR_RUNTIME, "`%s[..., -1] == nnz` is not satisfied.", begin_name);
  for (int64_t i = 0; i < lines; i++)
    if (index_at(begins, i) > index_at(begins, i + 1) || index_at(begins, i + 1) - index_at(begins, i) > across)
      return status_new(ERROR_RUNTIME, "`0 <= %s[..., 1:] - %s[..., :-1] <= %s` is not satisfied.", begin_name,
                        begin_name, by_rows ? "ncols" : "nrows");
  for (int64_t i = 0; i < nnz; i++)
    if (index_at(indices, i) < 0 || index_at(indices, i) >= across)
      return status_new(ERROR_RUNTIME, "`0 <= %s < %s` is not satisfied.", name, by_rows ? "ncols" : "nrows");
  return OK;
}

Status tensor_new_compressed(Layout layout, int ndim, const int64_t *sizes, Tensor *begins, Tensor *indices,
                             Tensor *values, Tensor **out) {
  int64_t numel;
  TRY(sizes_numel(ndim, sizes, &numel));
  TRY(check_plain(begins, "compressed indices"));
  TRY(check_plain(indices, "indices"));
  TRY(check_plain(values, "values"));
  SparseParts form = {.layout = (uint8_t)layout, .sparse_dim = 2, .values = values};
  Status status = own_indices(begins, &form.begins);
  if (!status) status = own_indices(indices, &form.indices);
  if (!status) status = check_compressed(layout, ndim, sizes, form.begins, form.indices, values);
  if (!status) status = new_sparse(ndim, sizes, &form, out);
  tensor_release(form.begins);
  tensor_release(form.indices);
  return status;
}

Status tensor_as_coo(const Tensor *t, Tensor **out) {
  const SparseParts *parts = tensor_sparse_parts(t);
  if (parts->layout == LAYOUT_SPARSE_COO) return *out = tensor_retain(t), OK;
  bool by_rows = parts->layout == LAYOUT_SPARSE_CSR;
  int64_t nnz = tensor_nnz(t), lines = parts->begins->sizes[0] - 1;
  Tensor *indices;
  TRY(tensor_empty(DTYPE_INT64, 2, (const int64_t[]){2, nnz}, &indices));
  int64_t *line = (int64_t *)tensor_data(indices) + (by_rows ? 0 : nnz);
  int64_t *across = (int64_t *)tensor_data(indices) + (by_rows ? nnz : 0);
  for (int64_t i = 0; i < lines; i++)
    for (int64_t k = index_at(parts->begins, i); k < index_at(parts->begins, i + 1); k++) {
      line[k] = i;
      across[k] = index_at(parts->indices, k);
    }
  Status status = tensor_new_coo(t->ndim, t->sizes, indices, parts->values, false, out);
  tensor_release(indices);
  return status;
}

/* ---- other values ---- */

Status tensor_with_values(const Tensor *t, Tensor *values, Tensor **out) {
  SparseParts form = *tensor_sparse_parts(t);
  TRY(check_plain(values, "values"));
  if (!tensor_same_sizes(form.values, values))
    return status_internal("values of other sizes than the sparse tensor has");
  form.values = values;
  return new_sparse(t->ndim, t->sizes, &form, out);
}

void tensor_set_sparse_parts(Tensor *to, const Tensor *from) {
  assert(tensor_is_sparse(to) && tensor_is_sparse(from));
  TensorExtension *old = to->extension;
  ref_retain(&from->extension->refs);
  to->extension = from->extension;
  if (old && ref_release(&old->refs)) old->free(old);
}
