/* Sparse tensors: indices and values in place of memory with strides. A TensorExtension, immutable, shared by views;
 * what writes such a tensor gives it other parts. */
#pragma once

#include <assert.h>

#include "tensor/tensor.h"

/* Numbered as c10::Layout. */
typedef enum Layout {
  LAYOUT_STRIDED = 0,
  LAYOUT_SPARSE_COO = 1, /* indices of every element that is there */
  LAYOUT_SPARSE_CSR = 2, /* of a matrix: columns, and where each row begins */
  LAYOUT_SPARSE_CSC = 4  /* of a matrix: rows, and where each column begins */
} Layout;

typedef struct SparseParts {
  TensorExtension base;
  uint8_t layout;
  bool coalesced;  /* COO: the indices are distinct and in order */
  int sparse_dim;  /* COO: the first dimensions, which have indices; 2 of CSR and CSC */
  Tensor *indices; /* COO: int64 (sparse_dim, nnz); CSR: columns, CSC: rows (nnz) */
  Tensor *begins;  /* CSR, CSC: of the dtype of indices (rows or columns + 1); COO: NULL */
  Tensor *values;  /* (nnz, sizes of the dimensions that are not sparse) */
} SparseParts;

static inline bool tensor_is_sparse(const Tensor *t) {
  return t->flags & TENSOR_SPARSE;
}
/* Of a sparse tensor. */
static inline const SparseParts *tensor_sparse_parts(const Tensor *t) {
  assert(t->extension && t->extension->kind == EXTENSION_SPARSE);
  return (const SparseParts *)t->extension;
}
static inline Layout tensor_layout(const Tensor *t) {
  return tensor_is_sparse(t) ? (Layout)tensor_sparse_parts(t)->layout : LAYOUT_STRIDED;
}
static inline int64_t tensor_nnz(const Tensor *t) {
  return tensor_sparse_parts(t)->values->sizes[0];
}
/* "Sparse", "SparseCsr", as PyTorch's errors call them. */
const char *layout_name(Layout layout);

/* Checks the parts with PyTorch's errors, indices against sizes among them, and retains them. */
Status tensor_new_coo(int ndim, const int64_t *sizes, Tensor *indices, Tensor *values, bool coalesced,
                      Tensor **out) MUST_CHECK;
Status tensor_new_compressed(Layout layout, int ndim, const int64_t *sizes, Tensor *begins, Tensor *indices,
                             Tensor *values, Tensor **out) MUST_CHECK;
/* A tensor like t of other values, as many as t has. */
Status tensor_with_values(const Tensor *t, Tensor *values, Tensor **out) MUST_CHECK;
/* `to` gets the parts of `from`, a sparse tensor of its sizes and dtype. */
void tensor_set_sparse_parts(Tensor *to, const Tensor *from);
/* A COO tensor of the same elements: itself, retained, or made from a compressed one. */
Status tensor_as_coo(const Tensor *t, Tensor **out) MUST_CHECK;
/* For each element of a COO tensor its place among all there could be, row-major over the sparse dimensions: int64
 * (nnz), new. */
Status tensor_coo_places(const Tensor *t, Tensor **out) MUST_CHECK;
/* The sizes of the sparse dimensions multiplied. */
int64_t tensor_coo_extent(const Tensor *t);
