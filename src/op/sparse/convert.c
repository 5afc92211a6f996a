/* Sparse tensors made from and into others: coalesced, dense, of other layouts. */
#include <assert.h>
#include <stdlib.h>

#include "call/row.h"
#include "op/sparse/sparse.h"
#include "tensor/sparse.h"

/* ---- shared ---- */

Status sparse_op(Exec *exec, OpRef *ref, uint32_t count, const IValue *inputs, Tensor **out) {
  IValue result = IVALUE_NONE;
  TRY(op_call(exec, ref, count, inputs, 1, &result));
  *out = result.tensor;
  return OK;
}

Status expect_coo(const Call *call, const Tensor *t) {
  if (tensor_layout(t) == LAYOUT_SPARSE_COO) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT ": expected a sparse COO tensor, got layout %s", STR_ARG(call->op->name),
                    layout_name(tensor_layout(t)));
}

Status sparse_dense_rows(const Tensor *t, DType dtype, int64_t rows, Tensor **out) {
  assert(tensor_layout(t) == LAYOUT_SPARSE_COO);
  const SparseParts *parts = tensor_sparse_parts(t);
  int64_t sizes[TENSOR_MAX_DIMS + 1] = {rows};
  int ndim = parts->values->ndim;
  for (int d = 1; d < ndim; d++) sizes[d] = parts->values->sizes[d];
  TRY(tensor_empty(dtype, ndim, sizes, out));
  tensor_fill_zero(*out);
  return OK;
}

Status sparse_add_rows(Exec *exec, Tensor *to, Tensor *places, Tensor *rows, Tensor **out) {
  static OpRef index_add = OP_REF("aten::index_add", "");
  return sparse_op(exec, &index_add, 4,
                   (IValue[]){ivalue_tensor(to), ivalue_int(0), ivalue_tensor(places), ivalue_tensor(rows)}, out);
}

/* ---- coalescing ---- */

typedef struct Entry {
  int64_t place, at;
} Entry;
static int compare_entries(const void *a, const void *b) {
  const Entry *l = a, *r = b;
  if (l->place != r->place) return l->place < r->place ? -1 : 1;
  return (l->at > r->at) - (l->at < r->at);
}

/* places become the row of each element in the coalesced tensor; out_indices its indices. */
static Status number_rows(const Tensor *t, Tensor *places, Tensor **out_indices) {
  assert(tensor_layout(t) == LAYOUT_SPARSE_COO);
  const SparseParts *parts = tensor_sparse_parts(t);
  int64_t nnz = tensor_nnz(t), rows = 0, *place = tensor_data(places);
  Entry *entries = mem_alloc((size_t)(nnz ? nnz : 1) * sizeof *entries);
  if (!entries) return status_out_of_memory();
  for (int64_t i = 0; i < nnz; i++) entries[i] = (Entry){place[i], i};
  qsort(entries, (size_t)nnz, sizeof *entries, compare_entries);
  for (int64_t i = 0; i < nnz; i++) {
    if (i && entries[i].place != entries[i - 1].place) rows++;
    place[entries[i].at] = rows;
  }
  if (nnz) rows++;
  Status status = tensor_empty(DTYPE_INT64, 2, (const int64_t[]){parts->sparse_dim, rows}, out_indices);
  for (int d = 0; !status && d < parts->sparse_dim; d++) {
    const int64_t *from = (const int64_t *)tensor_data(parts->indices) + d * parts->indices->strides[0];
    int64_t *to = (int64_t *)tensor_data(*out_indices) + d * rows;
    for (int64_t i = 0; i < nnz; i++) to[place[i]] = from[i * parts->indices->strides[1]];
  }
  mem_free(entries);
  return status;
}

Status sparse_coalesce(Exec *exec, const Tensor *t, Tensor **out) {
  const SparseParts *parts = tensor_sparse_parts(t);
  if (parts->coalesced) return *out = tensor_retain(t), OK;
  Tensor *places = NULL, *indices = NULL, *zeros = NULL, *values = NULL;
  Status status = tensor_coo_places(t, &places);
  if (!status) status = number_rows(t, places, &indices);
  if (!status) status = sparse_dense_rows(t, (DType)t->dtype, indices->sizes[1], &zeros);
  if (!status) status = sparse_add_rows(exec, zeros, places, parts->values, &values);
  if (!status) status = tensor_new_coo(t->ndim, t->sizes, indices, values, true, out);
  tensor_release(places);
  tensor_release(indices);
  tensor_release(zeros);
  tensor_release(values);
  return status;
}

static Status kernel_coalesce(Call *c) {
  Tensor *out;
  TRY(expect_coo(c, call_tensor(c, 0)));
  TRY(sparse_coalesce(c->exec, call_tensor(c, 0), &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* The same parts, said to be coalesced or not. */
static Status kernel_coalesced(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  TRY(expect_coo(c, self));
  const SparseParts *parts = tensor_sparse_parts(self);
  Tensor *out;
  TRY(tensor_new_coo(self->ndim, self->sizes, parts->indices, parts->values, call_bool(c, 1), &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* ---- dense ---- */

Status sparse_to_dense(Exec *exec, const Tensor *t, Tensor **out) {
  Tensor *coo = NULL, *places = NULL, *zeros = NULL, *rows = NULL;
  Status status = tensor_as_coo(t, &coo);
  if (!status) status = tensor_coo_places(coo, &places);
  if (!status) status = sparse_dense_rows(coo, (DType)t->dtype, tensor_coo_extent(coo), &zeros);
  if (!status) status = sparse_add_rows(exec, zeros, places, tensor_sparse_parts(coo)->values, &rows);
  if (!status) status = tensor_view_sizes(rows, t->ndim, t->sizes, out);
  if (!status && !*out) status = status_internal("a dense tensor has gaps");
  tensor_release(coo);
  tensor_release(places);
  tensor_release(zeros);
  tensor_release(rows);
  return status;
}

static Status kernel_to_dense(Call *c) { /* (self, dtype, masked_grad) */
  static OpRef to = OP_REF("aten::to", "dtype");
  const Tensor *self = call_tensor(c, 0);
  Tensor *dense, *out;
  if (tensor_is_sparse(self))
    TRY(sparse_to_dense(c->exec, self, &dense));
  else
    TRY(tensor_alias(self, &dense));
  int64_t dtype = call_int_or(c, 1, self->dtype);
  Status status = sparse_op(c->exec, &to, 2, (IValue[]){ivalue_tensor(dense), ivalue_int(dtype)}, &out);
  tensor_release(dense);
  TRY(status);
  call_set_tensor(c, 0, out);
  return OK;
}

/* ---- layouts ---- */

/* A COO tensor by the first `sparse_dim` dimensions of a dense one: places where something is not zero. */
static Status dense_to_coo(Call *c, Tensor *self, int64_t sparse_dim) {
  static OpRef convert = OP_REF("aten::_dense_to_coo", "");
  Tensor *out;
  TRY(sparse_op(c->exec, &convert, 2, (IValue[]){ivalue_tensor(self), ivalue_int(sparse_dim)}, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* Compressed by rows, a COO tensor's elements are in order. */
static Status give_as_coo(Call *c, const Tensor *self) {
  Tensor *coo, *ordered;
  TRY(tensor_as_coo(self, &coo));
  Status status = OK;
  if (tensor_layout(self) != LAYOUT_SPARSE_COO) {
    status = sparse_coalesce(c->exec, coo, &ordered);
    tensor_release(coo);
    coo = ordered;
  }
  if (!status) call_set_tensor(c, 0, coo);
  return status;
}

static Status kernel_to_sparse(Call *c) { /* (self, layout, blocksize, dense_dim) */
  Tensor *self = call_tensor(c, 0);
  if (call_int_or(c, 1, LAYOUT_SPARSE_COO) != LAYOUT_SPARSE_COO || !call_is_none(c, 2))
    return status_new(ERROR_UNSUPPORTED, "aten::to_sparse: layouts other than sparse_coo; to_sparse_csr has one");
  if (tensor_is_sparse(self)) return give_as_coo(c, self);
  int64_t dense_dim = call_int_or(c, 3, 0);
  if (dense_dim < 0 || dense_dim > self->ndim)
    return status_new(ERROR_RUNTIME, "to_sparse: dense_dim %lld does not fit a tensor of %d dimensions",
                      (long long)dense_dim, (int)self->ndim);
  return dense_to_coo(c, self, self->ndim - dense_dim);
}

static Status kernel_to_sparse_dim(Call *c) {
  Tensor *self = call_tensor(c, 0);
  if (tensor_is_sparse(self)) {
    if (call_int(c, 1) != tensor_sparse_parts(self)->sparse_dim)
      return status_new(ERROR_RUNTIME, "to_sparse: conversion from %s to Sparse with another sparse_dim",
                        layout_name(tensor_layout(self)));
    return give_as_coo(c, self);
  }
  return dense_to_coo(c, self, call_int(c, 1));
}

/* The elements of a coalesced matrix, with where each row (or, of its transpose, each column) begins. */
static Status compress(Call *c, const Tensor *coo, Layout layout, int ndim, const int64_t *sizes) {
  assert(tensor_sparse_parts(coo)->coalesced);
  const SparseParts *parts = tensor_sparse_parts(coo);
  int64_t nnz = tensor_nnz(coo), lines = coo->sizes[0];
  Tensor *begins = NULL, *across = NULL, *out;
  Status status = tensor_empty(DTYPE_INT64, 1, (const int64_t[]){lines + 1}, &begins);
  if (!status) status = tensor_select(parts->indices, 0, 1, &across);
  if (!status) {
    int64_t *begin = tensor_data(begins), at = 0;
    const int64_t *line = tensor_data(parts->indices);
    for (int64_t i = 0; i <= lines; i++) {
      while (at < nnz && line[at * parts->indices->strides[1]] < i) at++;
      begin[i] = at;
    }
    status = tensor_new_compressed(layout, ndim, sizes, begins, across, parts->values, &out);
  }
  tensor_release(begins);
  tensor_release(across);
  if (!status) call_set_tensor(c, 0, out);
  return status;
}

static Status kernel_to_compressed(Call *c) {
  Layout layout = (Layout)call_param(c);
  static OpRef to_sparse = OP_REF("aten::to_sparse", ""), transpose = OP_REF("aten::t", "");
  Tensor *self = call_tensor(c, 0), *coo = NULL, *turned = NULL, *ordered = NULL;
  if (self->ndim != 2)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": tensors that are no matrices", STR_ARG(c->op->name));
  if (tensor_layout(self) == layout) return call_set_tensor(c, 0, tensor_retain(self)), OK;
  Status status = sparse_op(c->exec, &to_sparse, 1, (IValue[]){ivalue_tensor(self)}, &coo);
  if (!status && layout == LAYOUT_SPARSE_CSC)
    status = sparse_op(c->exec, &transpose, 1, (IValue[]){ivalue_tensor(coo)}, &turned);
  if (!status && tensor_sparse_parts(coo)->sparse_dim != 2)
    status = status_new(ERROR_UNSUPPORTED, STR_FMT ": hybrid tensors", STR_ARG(c->op->name));
  if (!status) status = sparse_coalesce(c->exec, turned ? turned : coo, &ordered);
  if (!status) status = compress(c, ordered, layout, self->ndim, self->sizes);
  tensor_release(coo);
  tensor_release(turned);
  tensor_release(ordered);
  return status;
}

#define TO_SPARSE(text, ...)                                                                                         \
  {                                                                                                                  \
    .schema = text, .grad = "self: to_sparse_backward(grad, self)", .flags = OP_ACCEPT_SPARSE | OP_RETURNS_ARGUMENT, \
    .kernel = __VA_ARGS__                                                                                            \
  }
static const OpRow rows[] = {
    {.schema = "aten::coalesce(Tensor(a) self) -> Tensor(a)",
     .body = "return self if self.is_coalesced() else torch._coalesce(self)"},
    {.schema = "aten::_coalesce(Tensor self) -> Tensor",
     .kernel = kernel_coalesce,
     .grad = "self: grad",
     .flags = OP_ACCEPT_SPARSE | OP_RETURNS_ARGUMENT},
    {.schema = "aten::_coalesced(Tensor self, bool coalesced) -> Tensor",
     .kernel = kernel_coalesced,
     .grad = "self: grad",
     .flags = OP_ACCEPT_SPARSE | OP_INPLACE},
    {.schema = "aten::to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor",
     .kernel = kernel_to_dense,
     .grad = "self: to_dense_backward(grad, self)",
     .flags = OP_ACCEPT_SPARSE | OP_RETURNS_ARGUMENT},
    {.schema = "aten::_to_dense(Tensor self, ScalarType? dtype=None, bool? masked_grad=None) -> Tensor",
     .body = "return torch.to_dense(self, dtype)",
     .flags = OP_RETURNS_ARGUMENT},
    /* oneDNN's own order of memory, which programs cannot see but for is_mkldnn: here it is a strided copy. */
    {.schema = "aten::to_mkldnn(Tensor self, ScalarType? dtype=None) -> Tensor",
     .body = "return self.clone() if dtype is None else self.to(dtype, copy=True)"},
    {.schema = "aten::_dense_to_coo(Tensor self, int sparse_dim) -> Tensor",
     .body = "return dense_to_coo(self, sparse_dim)"},
    TO_SPARSE("aten::to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None) -> "
              "Tensor",
              kernel_to_sparse),
    TO_SPARSE("aten::to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor", kernel_to_sparse_dim),
    TO_SPARSE("aten::to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor", kernel_to_compressed,
              .param = LAYOUT_SPARSE_CSR),
    TO_SPARSE("aten::to_sparse_csc(Tensor self, int? dense_dim=None) -> Tensor", kernel_to_compressed,
              .param = LAYOUT_SPARSE_CSC),
};
OP_TABLE(op_table_sparse_convert, rows);
