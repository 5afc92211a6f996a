/* Forms of operators that move, join and select dimensions of sparse tensors: they go through the indices. */
#include <assert.h>
#include <stdlib.h>

#include "call/kind_form.h"
#include "call/operator.h"
#include "op/sparse/sparse.h"
#include "tensor/sparse.h"

/* ---- dimensions ---- */

/* Dimension d of the result is order[d] of self; sparse ones stay in front. */
static Status reorder(Call *c, const Tensor *self, const int64_t *order) {
  static OpRef index_select = OP_REF("aten::index_select", "");
  TRY(expect_coo(c, self));
  const SparseParts *parts = tensor_sparse_parts(self);
  int64_t sizes[TENSOR_MAX_DIMS], dense[TENSOR_MAX_DIMS + 1] = {0};
  Tensor *lines = NULL, *indices = NULL, *values = NULL, *out = NULL;
  bool moved = false;
  for (int d = 0; d < self->ndim; d++) {
    sizes[d] = self->sizes[order[d]];
    if ((d < parts->sparse_dim) != (order[d] < parts->sparse_dim))
      return status_new(ERROR_RUNTIME, STR_FMT ": sparse and dense dimensions can't change places",
                        STR_ARG(c->op->name));
    if (d >= parts->sparse_dim) dense[d - parts->sparse_dim + 1] = order[d] - parts->sparse_dim + 1;
    moved |= d < parts->sparse_dim && order[d] != d;
  }
  Status status = tensor_empty(DTYPE_INT64, 1, (const int64_t[]){parts->sparse_dim}, &lines);
  if (!status && parts->sparse_dim) memcpy(tensor_data(lines), order, (size_t)parts->sparse_dim * sizeof *order);
  if (!status)
    status = sparse_op(c->exec, &index_select, 3,
                       (IValue[]){ivalue_tensor(parts->indices), ivalue_int(0), ivalue_tensor(lines)}, &indices);
  if (!status) status = tensor_permute(parts->values, dense, &values);
  if (!status) status = tensor_new_coo(self->ndim, sizes, indices, values, parts->coalesced && !moved, &out);
  tensor_release(lines);
  tensor_release(indices);
  tensor_release(values);
  return sparse_give(c, status, out);
}

static Status swap_compressed(Call *c, const Tensor *self) {
  assert(tensor_layout(self) != LAYOUT_SPARSE_COO);
  const SparseParts *parts = tensor_sparse_parts(self);
  Tensor *out = NULL;
  Layout layout = parts->layout == LAYOUT_SPARSE_CSR ? LAYOUT_SPARSE_CSC : LAYOUT_SPARSE_CSR;
  Status status = tensor_new_compressed(layout, 2, (const int64_t[]){self->sizes[1], self->sizes[0]}, parts->begins,
                                        parts->indices, parts->values, &out);
  return sparse_give(c, status, out);
}

static Status transpose(Call *c, int64_t dim0, int64_t dim1) {
  const Tensor *self = call_tensor(c, 0);
  int64_t order[TENSOR_MAX_DIMS];
  TRY(dim_wrap(dim0, self->ndim, &dim0));
  TRY(dim_wrap(dim1, self->ndim, &dim1));
  for (int d = 0; d < self->ndim; d++) order[d] = d == dim0 ? dim1 : d == dim1 ? dim0 : d;
  if (tensor_layout(self) != LAYOUT_SPARSE_COO && dim0 != dim1) return swap_compressed(c, self);
  return reorder(c, self, order);
}
static Status form_transpose(Call *c) {
  return transpose(c, call_int(c, 1), call_int(c, 2));
}
static Status form_t(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  if (self->ndim > 2)
    return status_new(ERROR_RUNTIME, "t() expects a tensor with <= 2 dimensions, but self is %dD", self->ndim);
  if (self->ndim < 2) return call_set_tensor(c, 0, tensor_retain(self)), OK;
  return transpose(c, 0, 1);
}
static Status form_permute(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  size_t count;
  const int64_t *dims = call_ints(c, 1, &count);
  int64_t order[TENSOR_MAX_DIMS];
  uint32_t seen = 0;
  if (count != self->ndim)
    return status_new(ERROR_RUNTIME,
                      "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
                      "desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %zu",
                      self->ndim, count);
  for (size_t d = 0; d < count; d++) {
    TRY(dim_wrap(dims[d], self->ndim, &order[d]));
    if (seen >> order[d] & 1) return status_new(ERROR_RUNTIME, "permute(sparse_coo): duplicate dims are not allowed.");
    seen |= 1u << order[d];
  }
  return reorder(c, self, order);
}

static Status form_unsqueeze(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  TRY(expect_coo(c, call_tensor(c, 0)));
  const SparseParts *parts = tensor_sparse_parts(self);
  int64_t dim, sizes[TENSOR_MAX_DIMS + 1], nnz = tensor_nnz(self);
  Tensor *indices = NULL, *values = NULL, *out = NULL;
  TRY(dim_wrap(call_int(c, 1), self->ndim + 1, &dim));
  if (self->ndim == TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  for (int d = 0; d <= self->ndim; d++) sizes[d] = d < dim ? self->sizes[d] : d == dim ? 1 : self->sizes[d - 1];
  bool sparse = dim <= parts->sparse_dim;
  Status status = tensor_empty(DTYPE_INT64, 2, (const int64_t[]){parts->sparse_dim + (sparse ? 1 : 0), nnz}, &indices);
  for (int d = 0, from = 0; !status && d < indices->sizes[0]; d++) {
    int64_t *row = (int64_t *)tensor_data(indices) + d * nnz;
    const int64_t *old = (const int64_t *)tensor_data(parts->indices) + from * parts->indices->strides[0];
    bool added = sparse && d == dim;
    for (int64_t i = 0; i < nnz; i++) row[i] = added ? 0 : old[i * parts->indices->strides[1]];
    if (!added) from++;
  }
  if (!status)
    status = sparse ? tensor_alias(parts->values, &values)
                    : tensor_unsqueeze(parts->values, dim - parts->sparse_dim + 1, &values);
  if (!status) status = tensor_new_coo(self->ndim + 1, sizes, indices, values, false, &out);
  tensor_release(indices);
  tensor_release(values);
  return sparse_give(c, status, out);
}

/* ---- joining and selecting ---- */

typedef struct Entry {
  int64_t index, at;
} Entry;
static int compare_entries(const void *a, const void *b) {
  const Entry *l = a, *r = b;
  if (l->index != r->index) return l->index < r->index ? -1 : 1;
  return (l->at > r->at) - (l->at < r->at);
}
/* The first of n entries in order whose index is not below. */
static int64_t first_entry(const Entry *entries, int64_t n, int64_t index) {
  int64_t low = 0;
  while (low < n) {
    int64_t middle = low + (n - low) / 2;
    if (entries[middle].index < index)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

/* Which elements are chosen, and for which of the wanted: 2 numbers each; counts them where `out` is NULL. */
static int64_t choose(const Entry *entries, int64_t n, const int64_t *wanted, int64_t count, int64_t *out,
                      int64_t total) {
  int64_t k = 0;
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = first_entry(entries, n, wanted[j]); i < n && entries[i].index == wanted[j]; i++, k++)
      if (out) {
        out[k] = entries[i].at;
        out[total + k] = j;
      }
  return k;
}

/* (2, chosen): elements of `self` whose index in a sparse dimension is wanted, with the place among the wanted. */
static Status chosen_elements(const Tensor *self, int64_t dim, const Tensor *wanted, Tensor **out) {
  assert(dim >= 0 && dim < tensor_sparse_parts(self)->sparse_dim);
  const SparseParts *parts = tensor_sparse_parts(self);
  int64_t nnz = tensor_nnz(self), count = wanted->numel;
  const int64_t *line = (const int64_t *)tensor_data(parts->indices) + dim * parts->indices->strides[0];
  const int64_t *at = tensor_data(wanted);
  for (int64_t j = 0; j < count; j++)
    if (at[j] < 0 || at[j] >= self->sizes[dim])
      return status_exception("IndexError", "index_select(): index out of range in self");
  Entry *entries = mem_alloc((size_t)(nnz ? nnz : 1) * sizeof *entries);
  if (!entries) return status_out_of_memory();
  for (int64_t i = 0; i < nnz; i++) entries[i] = (Entry){line[i * parts->indices->strides[1]], i};
  qsort(entries, (size_t)nnz, sizeof *entries, compare_entries);
  int64_t total = choose(entries, nnz, at, count, NULL, 0);
  Status status = tensor_empty(DTYPE_INT64, 2, (const int64_t[]){2, total}, out);
  if (!status) choose(entries, nnz, at, count, tensor_data(*out), total);
  mem_free(entries);
  return status;
}

static Status select_sparse(Call *c, const Tensor *self, int64_t dim, const Tensor *wanted) {
  static OpRef index_select = OP_REF("aten::index_select", "");
  const SparseParts *parts = tensor_sparse_parts(self);
  Tensor *chosen = NULL, *elements = NULL, *indices = NULL, *values = NULL, *out = NULL;
  int64_t sizes[TENSOR_MAX_DIMS];
  memcpy(sizes, self->sizes, self->ndim * sizeof *sizes);
  sizes[dim] = wanted->numel;
  Status status = chosen_elements(self, dim, wanted, &chosen);
  if (!status) status = tensor_select(chosen, 0, 0, &elements);
  if (!status)
    status = sparse_op(c->exec, &index_select, 3,
                       (IValue[]){ivalue_tensor(parts->indices), ivalue_int(1), ivalue_tensor(elements)}, &indices);
  if (!status)
    status = sparse_op(c->exec, &index_select, 3,
                       (IValue[]){ivalue_tensor(parts->values), ivalue_int(0), ivalue_tensor(elements)}, &values);
  if (!status) {
    int64_t total = chosen->sizes[1];
    for (int64_t k = 0; k < total; k++)
      ((int64_t *)tensor_data(indices))[dim * indices->strides[0] + k * indices->strides[1]] =
          ((const int64_t *)tensor_data(chosen))[total + k];
    status = tensor_new_coo(self->ndim, sizes, indices, values, false, &out);
  }
  Tensor *used[] = {chosen, elements, indices, values};
  for (size_t i = 0; i < sizeof used / sizeof *used; i++) tensor_release(used[i]);
  return sparse_give(c, status, out);
}

static Status form_index_select(Call *c) { /* (self, dim, index) */
  static OpRef to = OP_REF("aten::to", "dtype"), contiguous = OP_REF("aten::contiguous", "");
  const Tensor *self = call_tensor(c, 0), *index = call_tensor(c, 2);
  int64_t dim;
  TRY(expect_coo(c, self));
  TRY(dim_wrap(call_int(c, 1), self->ndim, &dim));
  if (!self->ndim || dim >= tensor_sparse_parts(self)->sparse_dim)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": along a dense dimension", STR_ARG(c->op->name));
  if (index->ndim != 1 || (index->dtype != DTYPE_INT64 && index->dtype != DTYPE_INT32) || index->flags & TENSOR_UNUSUAL)
    return status_new(ERROR_RUNTIME, "index_select(): index must be 1-D of integers");
  Tensor *wide, *wanted = NULL;
  TRY(sparse_op(c->exec, &to, 2, (IValue[]){call_value(c, 2), ivalue_int(DTYPE_INT64)}, &wide));
  Status status = sparse_op(c->exec, &contiguous, 1, (IValue[]){ivalue_tensor(wide)}, &wanted);
  if (!status) status = select_sparse(c, self, dim, wanted);
  tensor_release(wide);
  tensor_release(wanted);
  return status;
}

/* Along a sparse dimension: indices follow each other, moved by what stands before. */
static Status form_cat(Call *c) {
  static OpRef cat = OP_REF("aten::cat", "");
  const List *list = call_list(c, 0);
  const Tensor *first = list->length ? list_tensor(list, 0) : NULL;
  int64_t dim, nnz = 0, at = 0, sizes[TENSOR_MAX_DIMS], moved = 0;
  if (!first) return status_new(ERROR_RUNTIME, "expected a non-empty list of Tensors");
  TRY(dim_wrap(call_int(c, 1), first->ndim, &dim));
  for (size_t i = 0; i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    TRY(expect_coo(c, t));
    bool fits = t->ndim == first->ndim && tensor_sparse_parts(t)->sparse_dim == tensor_sparse_parts(first)->sparse_dim;
    for (int d = 0; fits && d < t->ndim; d++) fits = d == dim || t->sizes[d] == first->sizes[d];
    if (!fits)
      return status_new(ERROR_RUNTIME,
                        "All tensors must have the same shape: %s (except in the concatenating "
                        "dimension), and sparse dimensions",
                        SIZES_TEXT(first->ndim, first->sizes));
    if (dim >= tensor_sparse_parts(t)->sparse_dim)
      return status_new(ERROR_UNSUPPORTED, "aten::cat: sparse tensors along a dense dimension");
    nnz += tensor_nnz(t);
    moved += t->sizes[dim];
  }
  memcpy(sizes, first->sizes, first->ndim * sizeof *sizes);
  sizes[dim] = moved;
  Tensor *indices = NULL, *values = NULL, *out = NULL;
  List *parts_list = NULL;
  Status status =
      tensor_empty(DTYPE_INT64, 2, (const int64_t[]){tensor_sparse_parts(first)->sparse_dim, nnz}, &indices);
  if (!status) status = list_new(TYPE(TENSOR), list->length, &parts_list);
  moved = 0;
  for (size_t i = 0; !status && i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    const SparseParts *parts = tensor_sparse_parts(t);
    for (int d = 0; d < parts->sparse_dim; d++)
      for (int64_t k = 0; k < tensor_nnz(t); k++)
        ((int64_t *)tensor_data(indices))[d * nnz + at + k] =
            ((const int64_t *)tensor_data(
                parts->indices))[d * parts->indices->strides[0] + k * parts->indices->strides[1]] +
            (d == dim ? moved : 0);
    at += tensor_nnz(t);
    moved += t->sizes[dim];
    parts_list->values[parts_list->length++] = ivalue_tensor(tensor_retain(parts->values));
  }
  if (!status) status = sparse_op(c->exec, &cat, 2, (IValue[]){ivalue_list(parts_list), ivalue_int(0)}, &values);
  if (!status) status = tensor_new_coo(first->ndim, sizes, indices, values, false, &out);
  if (parts_list) ivalue_release(ivalue_list(parts_list));
  tensor_release(indices);
  tensor_release(values);
  return sparse_give(c, status, out);
}

static Status form_stack(Call *c) {
  static OpRef unsqueeze = OP_REF("aten::unsqueeze", ""), cat = OP_REF("aten::cat", "");
  const List *list = call_list(c, 0);
  List *parts;
  Tensor *out = NULL;
  TRY(list_new(TYPE(TENSOR), list->length, &parts));
  Status status = OK;
  for (size_t i = 0; !status && i < list->length; i++) {
    Tensor *part;
    status = sparse_op(c->exec, &unsqueeze, 2, (IValue[]){list->values[i], call_value(c, 1)}, &part);
    if (!status) parts->values[parts->length++] = ivalue_tensor(part);
  }
  if (!status) status = sparse_op(c->exec, &cat, 2, (IValue[]){ivalue_list(parts), call_value(c, 1)}, &out);
  ivalue_release(ivalue_list(parts));
  return sparse_give(c, status, out);
}

static const KindForm forms[] = {
    {"aten::t", form_t, false},
    {"aten::transpose.int", form_transpose, false},
    {"aten::permute", form_permute, false},
    {"aten::unsqueeze", form_unsqueeze, false},
    {"aten::cat", form_cat, false},
    {"aten::stack", form_stack, true},
    {"aten::index_select", form_index_select, false},
};
KIND_FORMS(sparse_forms_shape, forms);
