/* What operators over batches of matrices share. LAPACK works in place on packed column-major matrices, so shape
 * functions ask for that look (linalg_spec), kernels copy the input into the output, and matrices_of shows the batch as
 * a run of matrices. */
#pragma once

#include "compute/lapack/lapack.h"
#include "tensor/tensor.h"

/* ---- arguments: errors in PyTorch's words; `name` is the function's ("linalg.inv"), `argument` the parameter's ("A")
 * ---- */
Status linalg_check_matrix(const Tensor *t, const char *name,
                           const char *argument) MUST_CHECK; /* 2 dimensions at least, of int32 sizes */
Status linalg_check_square(const Tensor *t, const char *name, const char *argument) MUST_CHECK;
Status linalg_check_dtype(const Tensor *t, const char *name,
                          bool low_precision_ok) MUST_CHECK; /* floating or complex */
Status linalg_check_same_dtype(const Tensor *a, const Tensor *b, const char *name, const char *a_name,
                               const char *b_name) MUST_CHECK;
static inline int64_t matrix_rows(const Tensor *t) {
  return t->sizes[t->ndim - 2];
}
static inline int64_t matrix_cols(const Tensor *t) {
  return t->sizes[t->ndim - 1];
}

/* ---- looks ---- */
/* Column-major matrices in the batch of `like` (its dimensions before the last two). */
void linalg_spec(TensorSpec *spec, const Tensor *like, DType dtype, int64_t rows, int64_t cols);
/* Row-major: the batch of `like`, then `extra` sizes. */
void linalg_spec_rows(TensorSpec *spec, const Tensor *like, DType dtype, int extra, const int64_t *sizes);
/* The batch dimensions of a and b broadcast; then column-major matrices. */
Status linalg_spec_broadcast(TensorSpec *spec, const Tensor *a, const Tensor *b, DType dtype, int64_t rows,
                             int64_t cols) MUST_CHECK;
void linalg_spec_empty(TensorSpec *spec, DType dtype); /* sizes [0] */

/* ---- batches ---- */
typedef struct Matrices {
  char *data;
  int64_t count, step; /* of bytes from one matrix to the next */
  LapackInt rows, cols, ld;
} Matrices;
Matrices matrices_of(const Tensor *t); /* packed and column-major, as linalg_spec says */
static inline void *matrix_at(const Matrices *m, int64_t i) {
  return m->data + i * m->step;
}
/* Row i of a row-major tensor whose last dimension has `length` elements: pivots, tau, singular values. */
static inline void *vector_at(const Tensor *t, int64_t i, int64_t length) {
  return (char *)tensor_data(t) + i * length * (int64_t)dtype_size((DType)t->dtype);
}
/* A packed column-major copy in sizes of its own; the batch of `from` broadcasts to `like`'s when that is not NULL. */
Status linalg_columns(const Tensor *from, const Tensor *like, Tensor **out) MUST_CHECK;
/* A row-major copy of `from` (or itself), its leading dimensions broadcast to the batch of `like`. */
Status linalg_vectors(const Tensor *from, const Tensor *like, Tensor **out) MUST_CHECK;
/* Zeroes what is not in the triangle. */
void linalg_keep_triangle(const Matrices *m, size_t item, bool upper);
/* Before LAPACK works on a matrix for so many flops (multiply-adds count 2), which nothing interrupts: an error where
 * the call's time is over, or could not be enough. */
static inline double cube(int64_t n) {
  return (double)n * (double)n * (double)n;
}
Status linalg_attend(DType dtype, double flops) MUST_CHECK;
/* Fills the other triangle with the adjoint of this one. */
void linalg_mirror(const Matrices *m, DType dtype, bool from_upper);

/* The error that `info` tells of, as _linalg_check_errors. `info` is int32. */
Status linalg_check_info(const Tensor *info, const char *name, bool is_matrix) MUST_CHECK;
